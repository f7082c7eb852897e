package edit_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

func FuzzFormat(f *testing.F) {
	for _, tt := range formats {
		f.Add([]byte(text(tt.in)))
		f.Add(bytes.ReplaceAll([]byte(text(tt.in)), []byte("\n"), []byte("\r\n")))
	}
	f.Add([]byte("\ufeffa: 1\r\n"))
	f.Add([]byte("a:\t1\t# b\n"))
	f.Add([]byte("nodes:\n- type: transform\n  transform: {expr: >\n    a\n    b}\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		out, err := edit.Format("f.yaml", source)
		var invalid *edit.InvalidError
		switch {
		case errors.As(err, &invalid):
			return
		case errors.Is(err, edit.ErrUnsafe):
			return
		case err != nil:
			t.Fatal(err)
		}
		again, err := edit.Format("f.yaml", out)
		if err != nil {
			t.Fatalf("%v, the second time: %q", err, out)
		}
		if !bytes.Equal(out, again) {
			t.Fatalf("formatting twice differs from once: %q and %q", out, again)
		}
		before, _ := config.ParseYAML("f.yaml", source)
		after, _ := config.ParseYAML("f.yaml", out)
		if before.Value().Len() != after.Value().Len() {
			t.Fatalf("%q became %q", source, out)
		}
	})
}
