package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The differences that docs/lock.md shows are as lock --check writes them.
func TestDocsShowDifferencesOfLock(t *testing.T) {
	t.Parallel()
	server := func(version, other, kind string) *lock.File {
		schema, err := value.Parse(`{"type": "object", "properties": {"path": {"type": "` + kind + `"}}}`)
		if err != nil {
			t.Fatal(err)
		}
		return (&lock.File{}).With(&lock.Server{
			Name: "files", ServerName: "secure-filesystem-server", Version: version,
			ToolNames: []string{other, "list_directory"},
			Tools:     []*lock.Tool{{Name: "list_directory", InputSchema: schema}},
		})
	}
	before, now := server("0.2.0", "list_allowed_directories", "string"), server("0.3.0", "copy_file", "array")
	var out strings.Builder
	if !writeDifferences(&app{terminal: terminal{stdout: &out}}, before, now, before.Diff(now), false) {
		t.Error("nothing differs")
	}
	page, err := os.ReadFile("../../docs/lock.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```\n"+out.String()+"```\n") {
		t.Errorf("the page does not show:\n%s", out.String())
	}
}
