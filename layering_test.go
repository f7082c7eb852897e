package mcpgraph_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mcpgraph/mcpgraph"

// layers says what the packages of the module may import beside the standard
// library: our own packages by their folder, others by the module. Tests may
// import what they like.
var layers = map[string]struct{ ours, others []string }{
	"pkg/diag":                     {},
	"pkg/memory":                   {others: []string{"github.com/KimMachineGun/automemlimit"}},
	"pkg/value":                    {},
	"pkg/scheduler":                {},
	"pkg/jsonata/internal/picture": {},
	"pkg/jsonata/internal/regex":   {others: []string{"github.com/dlclark/regexp2/v2"}},

	"pkg/jsonata": {
		ours:   []string{"pkg/value", "pkg/jsonata/internal/picture", "pkg/jsonata/internal/regex"},
		others: []string{"golang.org/x/text"},
	},
	"pkg/jsonata/internal/bench": {ours: []string{"pkg/jsonata", "pkg/value"}},
	"pkg/jsonata/internal/bench/compare": {
		ours: []string{"pkg/jsonata", "pkg/jsonata/internal/bench", "pkg/value"},
	},

	"pkg/config": {
		ours:   []string{"pkg/diag", "pkg/value"},
		others: []string{"go.yaml.in/yaml/v4"},
	},

	"pkg/expr":         {ours: []string{"pkg/diag", "pkg/jsonata", "pkg/memory", "pkg/value"}},
	"internal/jsonrpc": {ours: []string{"pkg/value"}},
	"pkg/upstream": {
		ours: []string{"internal/jsonrpc", "pkg/config", "pkg/diag", "pkg/memory", "pkg/value"},
		others: []string{
			"github.com/coder/websocket", "github.com/failsafe-go/failsafe-go", "github.com/mark3labs/mcp-go",
			"github.com/maypok86/otter/v2", "github.com/modelcontextprotocol/go-sdk", "github.com/rogpeppe/go-internal",
			"golang.org/x/oauth2", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/time",
		},
	},

	"pkg/graph": {
		ours: []string{"pkg/config", "pkg/diag", "pkg/expr", "pkg/jsonata", "pkg/memory", "pkg/value"},
		others: []string{
			"github.com/santhosh-tekuri/jsonschema/v6", "github.com/dlclark/regexp2/v2", "golang.org/x/text",
		},
	},

	"pkg/nodes":    {ours: []string{"pkg/config", "pkg/diag", "pkg/expr", "pkg/graph", "pkg/value"}},
	"pkg/executor": {ours: []string{"pkg/diag", "pkg/expr", "pkg/graph", "pkg/memory", "pkg/value"}},

	"pkg/auth": {
		ours: []string{"pkg/config", "pkg/value"},
		others: []string{
			"github.com/coreos/go-oidc/v3", "github.com/go-jose/go-jose/v4", "github.com/maypok86/otter/v2",
			"github.com/modelcontextprotocol/go-sdk", "golang.org/x/sync",
		},
	},

	"pkg/server": {
		ours: []string{
			"internal/jsonrpc", "pkg/auth", "pkg/config", "pkg/diag", "pkg/executor", "pkg/graph", "pkg/memory", "pkg/value",
		},
		others: []string{"github.com/mark3labs/mcp-go"},
	},

	"pkg/audit": {ours: []string{"pkg/server"}},
	"pkg/runs":  {ours: []string{"pkg/executor", "pkg/graph", "pkg/memory", "pkg/value"}},
	"pkg/telemetry": {
		ours: []string{
			"pkg/executor", "pkg/expr", "pkg/graph", "pkg/nodes", "pkg/server", "pkg/upstream", "pkg/value",
		},
		// The API alone: a program that embeds the engine brings its own SDK.
		others: []string{
			"go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/metric",
			"go.opentelemetry.io/otel/propagation", "go.opentelemetry.io/otel/trace",
		},
	},
	"pkg/telemetry/exporters": {
		others: []string{"go.opentelemetry.io", "github.com/prometheus/client_golang"},
	},

	".": {ours: []string{
		"pkg/audit", "pkg/auth", "pkg/config", "pkg/diag", "pkg/executor", "pkg/expr", "pkg/graph", "pkg/jsonata", "pkg/memory", "pkg/nodes", "pkg/runs", "pkg/scheduler", "pkg/server",
		"pkg/telemetry", "pkg/upstream", "pkg/value",
	}},

	"internal/cli": {
		ours: []string{
			".", "pkg/audit", "pkg/auth", "pkg/config", "pkg/diag", "pkg/executor", "pkg/expr", "pkg/graph", "pkg/jsonata", "pkg/memory", "pkg/nodes",
			"pkg/runs", "pkg/server", "pkg/telemetry", "pkg/telemetry/exporters", "pkg/upstream", "pkg/value",
		},
		others: []string{"github.com/fsnotify/fsnotify", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"},
	},
	"cmd/mcpgraph": {ours: []string{"internal/cli"}},

	"internal/mcptest":       {ours: []string{"pkg/value"}, others: []string{"github.com/mark3labs/mcp-go"}},
	"examples/embed":         {ours: []string{".", "pkg/executor", "pkg/value"}},
	"examples/servers/files": {others: []string{"github.com/mark3labs/mcp-go"}},
}

func TestImportsPointDownwards(t *testing.T) {
	seen := map[string]bool{}
	for folder, imports := range importsOfModule(t) {
		allowed, ok := layers[folder]
		if !ok {
			t.Errorf("package %s has no place in the layers", folder)
			continue
		}
		seen[folder] = true
		for _, path := range imports {
			if ours, ok := inModule(path); ok {
				if !slices.Contains(allowed.ours, ours) {
					t.Errorf("%s must not import our %s", folder, ours)
				}
				continue
			}
			if !slices.ContainsFunc(allowed.others, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }) {
				t.Errorf("%s must not import %s", folder, path)
			}
		}
	}
	for folder := range layers {
		if !seen[folder] {
			t.Errorf("the layers have a package %s that does not exist", folder)
		}
	}
}

// TestLayersHaveNoCycle holds that the table itself points downwards.
func TestLayersHaveNoCycle(t *testing.T) {
	const open, closed = 1, 2
	state := map[string]int{}
	var visit func(folder string)
	visit = func(folder string) {
		if state[folder] == open {
			t.Fatalf("the layers lead from %s back to it", folder)
		}
		if state[folder] == closed {
			return
		}
		state[folder] = open
		for _, below := range layers[folder].ours {
			visit(below)
		}
		state[folder] = closed
	}
	for folder := range layers {
		visit(folder)
	}
}

// importsOfModule gives what each folder with Go files imports from outside the
// standard library, tests aside.
func importsOfModule(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		found[folder] = append(found[folder], nil...)
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") {
				found[folder] = append(found[folder], name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// inModule gives the folder of one of our packages.
func inModule(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}
