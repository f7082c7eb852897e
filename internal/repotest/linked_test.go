package repotest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// TestLinkerDropsMethods checks that nothing in mcpgraph calls methods by names that the
// linker cannot know, which makes it keep all exported methods of all types.
func TestLinkerDropsMethods(t *testing.T) {
	t.Parallel()
	if !testscale.Full() {
		t.Skip("linking takes half a minute")
	}
	link := exec.Command("go", "build", "-tags", goTags(t), "-ldflags=-dumpdep", "-o", filepath.Join(t.TempDir(), "mcpgraph"), "./cmd/mcpgraph")
	link.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	out, err := link.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Start(); err != nil {
		t.Fatal(err)
	}
	edges := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		from, _, ok := strings.Cut(lines.Text(), " -> ")
		if !ok {
			continue
		}
		if edges++; strings.HasSuffix(from, " <ReflectMethod>") {
			t.Errorf("%s calls methods by names", strings.TrimSuffix(from, " <ReflectMethod>"))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err := link.Wait(); err != nil {
		t.Fatal(err)
	}
	if edges < 10_000 {
		t.Fatalf("the linker told of %d references", edges)
	}
}
