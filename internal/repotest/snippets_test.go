package repotest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// snippetImports are the packages that the snippets of documents name.
var snippetImports = map[string]string{
	"mcpgraph": module, "mcp": "github.com/modelcontextprotocol/go-sdk/mcp",
	"debug": module + "/pkg/debug", "executor": module + "/pkg/executor", "graph": module + "/pkg/graph",
	"server": module + "/pkg/server", "upstream": module + "/pkg/upstream", "value": module + "/pkg/value",
	"jsonata": module + "/pkg/jsonata",
	"context": "context", "embed": "embed", "errors": "errors", "fmt": "fmt", "http": "net/http", "io": "io", "json": "encoding/json",
	"log": "log", "os": "os", "slog": "log/slog", "testing": "testing", "time": "time",
}

var packageName = regexp.MustCompile(`(^|[^\w."])([a-z]+)\.[A-Z]`)

// TestSnippetsInDocsCompile builds every Go snippet of the README and of docs/go.md, each
// as a package of this module that is not on the disk.
func TestSnippetsInDocsCompile(t *testing.T) {
	t.Parallel()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	places := map[string]string{} // by package
	for place, block := range blocks(t, "go") {
		if !strings.HasPrefix(place, "README.md") && !strings.HasPrefix(place, "docs/go.md") {
			continue
		}
		name := fmt.Sprintf("snippet%d", len(places))
		dir := filepath.Join(root, "internal", "repotest", "snippets", name)
		places[name] = place
		file := filepath.Join(work, name+".go")
		if err := os.WriteFile(file, []byte(snippetFile(block)), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][filepath.Join(dir, "snippet.go")] = file
		if strings.Contains(block, "//go:embed ") {
			overlay["Replace"][filepath.Join(dir, "tools", "notes.yaml")] = file
		}
	}
	if len(places) < 8 {
		t.Fatalf("only %d snippets found: has their form changed?", len(places))
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-overlay", list}
	for name := range places {
		args = append(args, "./internal/repotest/snippets/"+name)
	}
	slices.Sort(args[3:])
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		message := string(out)
		for name, place := range places {
			message = strings.ReplaceAll(message, name+".go", name+".go ("+place+")")
		}
		t.Errorf("%v\n%s", err, message)
	}
}

// snippetFile returns a whole Go file of a snippet: declarations, with the imports that
// they need.
func snippetFile(block string) string {
	if strings.HasPrefix(block, "package ") {
		return block
	}
	var imports []string
	for _, m := range packageName.FindAllStringSubmatch(block, -1) {
		if path, ok := snippetImports[m[2]]; ok && !slices.Contains(imports, path) {
			imports = append(imports, path)
		}
	}
	slices.Sort(imports)
	var b strings.Builder
	b.WriteString("package snippet\n\nimport (\n")
	for _, path := range imports {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	return b.String() + ")\n\n" + block
}
