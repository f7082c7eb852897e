package edit_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

// longFile returns a configuration of at least so many lines, with comments.
func longFile(t testing.TB, lines int) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "examples", "failures.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	head, tool, _ := bytes.Cut(source, []byte("tools:\n"))
	b := bytes.NewBuffer(append(bytes.Clone(head), "tools:\n"...))
	for i := 0; bytes.Count(b.Bytes(), []byte("\n")) < lines; i++ {
		b.Write(bytes.Replace(tool, []byte("name: read_note"), fmt.Appendf(nil, "name: read_note_%d", i), 1))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func BenchmarkFormat(b *testing.B) {
	source := longFile(b, 10_000)
	formatted := mustFormat(b, "tools.yaml", source)
	messy := bytes.ReplaceAll(source, []byte("\n  "), []byte("\n      "))
	for _, bench := range []struct {
		name   string
		source []byte
	}{{"formatted", formatted}, {"messy", messy}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.source)))
			for b.Loop() {
				if _, err := edit.Format("tools.yaml", bench.source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
