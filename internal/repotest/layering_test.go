package repotest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/project"
)

const module = project.Module

// layers says what the packages of the module may import beside the standard
// library: our own packages by their folder, others by the module. Tests may
// import what they like.
var layers = map[string]struct{ ours, others []string }{
	"internal/project":             {},
	"internal/loopback":            {},
	"pkg/diag":                     {},
	"pkg/memory":                   {ours: []string{"internal/background"}, others: []string{"github.com/KimMachineGun/automemlimit"}},
	"pkg/value":                    {},
	"pkg/scheduler":                {},
	"internal/boundedfile":         {},
	"pkg/callinfo":                 {ours: []string{"pkg/value"}},
	"pkg/jsonata/internal/picture": {ours: []string{"internal/textline"}},
	"internal/background":          {},
	"internal/regexclock":          {ours: []string{"internal/background"}, others: []string{"github.com/dlclark/regexp2/v2"}},
	"pkg/jsonata/internal/regex":   {ours: []string{"internal/regexclock"}, others: []string{"github.com/dlclark/regexp2/v2"}},

	"pkg/jsonata": {
		ours:   []string{"internal/textline", "pkg/value", "pkg/jsonata/internal/picture", "pkg/jsonata/internal/regex"},
		others: []string{"golang.org/x/text"},
	},
	"pkg/jsonata/internal/bench": {ours: []string{"pkg/jsonata", "pkg/value"}},
	"pkg/jsonata/internal/bench/compare": {
		ours: []string{"pkg/jsonata", "pkg/jsonata/internal/bench", "pkg/value"},
	},

	"pkg/config": {
		ours:   []string{"internal/loopback", "internal/boundedfile", "pkg/diag", "pkg/memory", "pkg/value"},
		others: []string{"go.yaml.in/yaml/v4", "github.com/yosida95/uritemplate/v3"},
	},

	"pkg/lock":                     {ours: []string{"pkg/diag", "pkg/value"}},
	"pkg/expr":                     {ours: []string{"pkg/diag", "pkg/jsonata", "pkg/memory", "pkg/value"}},
	"internal/jsonrpc":             {ours: []string{"internal/textline", "pkg/value"}},
	"pkg/upstream/internal/redact": {ours: []string{"pkg/value"}},
	"pkg/upstream/internal/credential": {
		ours: []string{"internal/boundedfile", "pkg/callinfo", "pkg/config", "pkg/upstream/internal/redact"},
		others: []string{
			"github.com/modelcontextprotocol/go-sdk", "github.com/rogpeppe/go-internal", "golang.org/x/oauth2",
		},
	},
	"pkg/upstream/internal/wire": {
		ours:   []string{"internal/background", "internal/jsonrpc", "pkg/config", "pkg/memory", "pkg/upstream/internal/redact", "pkg/value"},
		others: []string{"github.com/coder/websocket", "github.com/mark3labs/mcp-go"},
	},
	"pkg/upstream/internal/policy": {
		ours:   []string{"pkg/callinfo", "pkg/config", "pkg/memory", "pkg/upstream/internal/credential", "pkg/value"},
		others: []string{"github.com/maypok86/otter/v2", "golang.org/x/time"},
	},
	"pkg/upstream": {
		ours: []string{
			"internal/textline",
			"internal/boundedfile", "internal/jsonrpc", "pkg/callinfo", "pkg/config", "pkg/diag", "pkg/lock", "pkg/memory", "pkg/value",
			"pkg/upstream/internal/credential", "pkg/upstream/internal/policy", "pkg/upstream/internal/redact",
			"pkg/upstream/internal/wire",
		},
		others: []string{"github.com/mark3labs/mcp-go"},
	},

	"internal/draft07": {ours: []string{"pkg/value"}},
	"pkg/graph": {
		ours: []string{
			"internal/textline",
			"internal/project",
			"internal/draft07", "internal/jsonschema", "internal/regexclock", "pkg/callinfo", "pkg/config", "pkg/diag", "pkg/expr", "pkg/jsonata", "pkg/lock", "pkg/memory",
			"pkg/value",
		},
		others: []string{
			"github.com/santhosh-tekuri/jsonschema/v6", "github.com/dlclark/regexp2/v2", "github.com/yosida95/uritemplate/v3",
			"golang.org/x/text",
		},
	},

	"pkg/nodes":    {ours: []string{"internal/textline", "pkg/config", "pkg/diag", "pkg/graph", "pkg/value"}},
	"pkg/executor": {ours: []string{"pkg/callinfo", "pkg/diag", "pkg/expr", "pkg/graph", "pkg/memory", "pkg/value"}},

	"pkg/edit": {
		ours: []string{
			"internal/atomicfile", "internal/boundedfile", "internal/suite", "pkg/config", "pkg/diag", "pkg/graph", "pkg/jsonata", "pkg/nodes",
			"pkg/value",
		},
		others: []string{"github.com/rogpeppe/go-internal"},
	},

	"pkg/auth": {
		ours: []string{"internal/boundedfile", "pkg/config", "pkg/value"},
		others: []string{
			"github.com/coreos/go-oidc/v3", "github.com/go-jose/go-jose/v4", "github.com/maypok86/otter/v2",
			"github.com/modelcontextprotocol/go-sdk", "golang.org/x/sync",
		},
	},

	"pkg/server": {
		ours: []string{
			"internal/loopback",
			"internal/jsonrpc", "pkg/auth", "pkg/callinfo", "pkg/config", "pkg/diag", "pkg/graph", "pkg/memory",
			"pkg/value",
		},
		others: []string{"github.com/mark3labs/mcp-go", "github.com/yosida95/uritemplate/v3"},
	},

	"pkg/audit": {ours: []string{"pkg/server"}},
	"pkg/runs":  {ours: []string{"pkg/callinfo", "pkg/executor", "pkg/graph", "pkg/memory", "pkg/value"}},
	"pkg/telemetry": {
		ours: []string{
			"internal/project",
			"pkg/callinfo", "pkg/executor", "pkg/expr", "pkg/graph", "pkg/nodes", "pkg/server", "pkg/upstream",
			"pkg/value",
		},
		// The API alone: a program that embeds the engine brings its own SDK.
		others: []string{
			"go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/metric",
			"go.opentelemetry.io/otel/propagation", "go.opentelemetry.io/otel/trace",
		},
	},
	"pkg/telemetry/exporters": {
		ours:   []string{"internal/project", "pkg/telemetry"},
		others: []string{"go.opentelemetry.io", "github.com/prometheus/client_golang"},
	},

	"internal/runsock":   {ours: []string{"pkg/executor", "pkg/graph", "pkg/runs", "pkg/value"}},
	"internal/placetest": {ours: []string{"pkg/callinfo", "pkg/executor", "pkg/graph", "pkg/runs", "pkg/value"}},

	"pkg/debug": {ours: []string{
		"internal/textline",
		"pkg/callinfo", "pkg/diag", "pkg/executor", "pkg/expr", "pkg/graph", "pkg/jsonata", "pkg/nodes", "pkg/value",
	}},
	// Only internal/temporal imports it, so that neither programs that embed the engine
	// nor mcpgraph link Temporal.
	"pkg/durable": {
		ours:   []string{"internal/textline", "pkg/callinfo", "pkg/executor", "pkg/graph", "pkg/memory", "pkg/runs", "pkg/value"},
		others: []string{"go.temporal.io/api", "go.temporal.io/sdk", "google.golang.org/protobuf"},
	},
	"internal/engine": {ours: []string{
		"internal/project",
		"internal/boundedfile", "pkg/auth", "pkg/callinfo", "pkg/config", "pkg/debug", "pkg/diag", "pkg/executor", "pkg/expr", "pkg/graph",
		"pkg/jsonata", "pkg/lock", "pkg/memory", "pkg/nodes", "pkg/runs", "pkg/scheduler", "pkg/server", "pkg/telemetry",
		"pkg/upstream", "pkg/value",
	}},
	"internal/suite":    {ours: []string{"internal/project", "internal/draft07", "pkg/config", "pkg/diag", "pkg/graph", "pkg/jsonata", "pkg/lock", "pkg/upstream", "pkg/value"}},
	"internal/cassette": {ours: []string{"internal/atomicfile", "internal/boundedfile", "pkg/callinfo", "pkg/diag", "pkg/graph", "pkg/jsonata", "pkg/upstream", "pkg/value"}},
	"internal/suite/runner": {ours: []string{
		"internal/boundedfile", "internal/cassette", "internal/engine", "internal/suite", "internal/textline", "internal/virtualtime", "pkg/callinfo", "pkg/diag", "pkg/edit", "pkg/executor",
		"pkg/expr", "pkg/graph", "pkg/lock", "pkg/memory", "pkg/runs", "pkg/upstream", "pkg/value",
	}},
	"internal/suite/report": {ours: []string{"internal/textline", "internal/diff", "internal/suite/runner", "pkg/diag", "pkg/graph"}},
	"internal/serving": {ours: []string{
		"internal/engine", "pkg/audit", "pkg/callinfo", "pkg/config", "pkg/diag", "pkg/executor", "pkg/graph",
		"pkg/lock", "pkg/memory", "pkg/runs", "pkg/server", "pkg/upstream", "pkg/value",
	}},
	".": {ours: []string{
		"internal/boundedfile", "internal/engine", "internal/serving", "pkg/audit", "pkg/auth", "pkg/callinfo", "pkg/config", "pkg/debug", "pkg/diag",
		"pkg/executor", "pkg/graph", "pkg/jsonata", "pkg/lock", "pkg/memory", "pkg/runs", "pkg/server", "pkg/telemetry",
		"pkg/upstream", "pkg/value",
	}},

	"internal/framing": {},
	"internal/dap": {
		ours: []string{
			".", "internal/framing", "pkg/debug", "pkg/diag", "pkg/executor", "pkg/expr", "pkg/graph", "pkg/memory", "pkg/value",
		},
		others: []string{"github.com/google/go-dap"},
	},
	"internal/console": {ours: []string{"pkg/debug", "pkg/diag", "pkg/executor", "pkg/expr", "pkg/graph", "pkg/runs", "pkg/value"}},

	"internal/schematext": {ours: []string{"pkg/value"}},
	"internal/scaffold": {ours: []string{
		"internal/textline",
		"internal/graphedit", "internal/schematext", "internal/suite", "pkg/config", "pkg/diag", "pkg/edit", "pkg/graph", "pkg/nodes", "pkg/value",
	}},
	"internal/cli": {
		ours: []string{
			"internal/loopback",
			".", "internal/atomicfile", "internal/boundedfile", "internal/cassette", "internal/console", "internal/dap", "internal/diff", "internal/drawing", "internal/lsp", "internal/project", "internal/runsock", "internal/scaffold", "internal/schematext", "internal/suite", "internal/textline", "internal/toolkit", "pkg/audit", "pkg/auth",
			"pkg/callinfo", "pkg/config", "pkg/debug", "pkg/diag", "pkg/edit", "pkg/executor", "pkg/expr",
			"pkg/graph", "pkg/jsonata", "pkg/lock", "pkg/memory", "pkg/nodes", "pkg/runs", "pkg/server", "pkg/telemetry",
			"pkg/telemetry/exporters", "pkg/ui", "pkg/upstream", "pkg/value",
			"internal/suite/report", "internal/suite/runner", "skills",
		},
		others: []string{"github.com/fsnotify/fsnotify", "github.com/rogpeppe/go-internal", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys", "golang.org/x/term"},
	},
	"pkg/ui": {ours: []string{
		"internal/textline",
		".", "internal/boundedfile", "internal/cassette", "internal/graphedit", "internal/language", "internal/suite/runner", "pkg/config", "pkg/debug", "pkg/diag", "pkg/edit",
		"pkg/executor", "pkg/expr", "pkg/graph", "pkg/lock", "pkg/memory", "pkg/runs", "pkg/upstream", "pkg/value", "web",
	}},
	"internal/language": {
		ours: []string{
			"internal/schematext", "internal/suite", "pkg/config", "pkg/diag", "pkg/edit", "pkg/expr", "pkg/graph", "pkg/lock", "pkg/memory",
			"pkg/nodes", "pkg/value",
		},
	},
	"internal/graphedit": {
		ours: []string{
			"internal/diff", "internal/language", "pkg/config", "pkg/diag", "pkg/edit", "pkg/expr", "pkg/graph", "pkg/memory", "pkg/nodes", "pkg/value",
		},
	},
	"internal/textline": {},
	"skills":            {},
	"internal/toolkit": {ours: []string{
		"internal/boundedfile", "internal/cassette", "internal/diff", "internal/drawing", "internal/engine", "internal/graphedit", "internal/language", "internal/schematext",
		"internal/serving", "internal/suite", "internal/suite/runner", "internal/textline", "pkg/auth", "pkg/callinfo", "pkg/config", "pkg/debug",
		"pkg/diag", "pkg/edit", "pkg/executor", "pkg/expr", "pkg/graph", "pkg/memory", "pkg/nodes", "pkg/runs", "pkg/server", "pkg/upstream", "pkg/value", "skills",
	}},
	"internal/drawing": {ours: []string{"internal/textline", "pkg/graph", "pkg/value"}},
	"internal/lsp": {
		ours:   []string{"internal/project", "internal/framing", "internal/jsonrpc", "internal/language", "internal/suite", "pkg/diag", "pkg/lock", "pkg/memory"},
		others: []string{"github.com/creachadair/jrpc2"},
	},
	"internal/temporal": {ours: []string{
		".", "internal/cli", "pkg/callinfo", "pkg/durable", "pkg/executor", "pkg/telemetry",
	}},
	"cmd/mcpgraph":          {ours: []string{"internal/cli"}},
	"cmd/mcpgraph-temporal": {ours: []string{"internal/cli", "internal/temporal"}},
	"web":                   {},

	"internal/atomicfile":  {},
	"internal/virtualtime": {},
	"internal/diff":        {others: []string{"github.com/rogpeppe/go-internal"}},
	"internal/footprint":   {},
	"internal/jsonschema": {
		others: []string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"},
	},
	"internal/mcptest":   {},
	"internal/testscale": {},

	"internal/mcptest/fakeserver": {ours: []string{"internal/mcptest"}},
	"internal/mcptest/protected": {
		ours: []string{"internal/mcptest"}, others: []string{"github.com/mark3labs/mcp-go"},
	},
	"examples/embed":         {ours: []string{".", "pkg/executor"}},
	"examples/servers/files": {others: []string{"github.com/mark3labs/mcp-go"}},
}

// TestLayersPointDownwards checks that each package imports what the layers
// allow it, and that the layers allow nothing that no file imports.
func TestLayersPointDownwards(t *testing.T) {
	packages := importsOfModule(t)
	for folder, imports := range packages {
		allowed, ok := layers[folder]
		if !ok {
			t.Errorf("package %s has no place in the layers", folder)
			continue
		}
		used := map[string]bool{}
		for _, path := range imports {
			if ours, ok := inModule(path); ok {
				used[ours] = true
				if !slices.Contains(allowed.ours, ours) {
					t.Errorf("%s must not import our %s", folder, ours)
				}
				continue
			}
			i := slices.IndexFunc(allowed.others, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
			if i < 0 {
				t.Errorf("%s must not import %s", folder, path)
				continue
			}
			used[allowed.others[i]] = true
		}
		for _, name := range slices.Concat(allowed.ours, allowed.others) {
			if !used[name] {
				t.Errorf("the layers allow %s to import %s, and no file of it does", folder, name)
			}
		}
	}
	for folder := range layers {
		if _, ok := packages[folder]; !ok {
			t.Errorf("the layers have a package %s that does not exist", folder)
		}
	}
}

// tableRow is a row of the table of packages in docs/architecture.md.
var tableRow = regexp.MustCompile("(?m)^\\| (\\d+|test) \\| `([^`]+)`")

// TestArchitecturePageHasTheLayers checks that docs/architecture.md lists the
// packages of the layers, each above all that it imports.
func TestArchitecturePageHasTheLayers(t *testing.T) {
	const page = "docs/architecture.md"
	level := map[string]int{}
	for _, m := range tableRow.FindAllStringSubmatch(readFile(t, page), -1) {
		folder := m[2]
		if folder == "mcpgraph" {
			folder = "."
		}
		if _, ok := layers[folder]; !ok {
			t.Errorf("%s has %s, which the layers do not have", page, m[2])
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			level[folder] = n
		} else {
			level[folder] = math.MaxInt
		}
	}
	for folder, allowed := range layers {
		if insideAnother(folder) {
			continue
		}
		if _, ok := level[folder]; !ok {
			t.Errorf("%s lacks %s", page, folder)
			continue
		}
		for _, below := range allowed.ours {
			if insideAnother(below) {
				continue
			}
			if level[below] >= level[folder] && level[folder] != math.MaxInt {
				t.Errorf("%s has %s in layer %d, not above %s, which it imports", page, folder, level[folder], below)
			}
		}
	}
}

// insideAnother reports whether a package is a part of another one, an example
// or the program itself, which the page need not list.
func insideAnother(folder string) bool {
	return strings.HasPrefix(folder, "pkg/jsonata/internal/") || strings.HasPrefix(folder, "examples/") || strings.HasPrefix(folder, "cmd/")
}

// TestLayersHaveNoCycle checks that the table itself points downwards.
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

// importsOfModule returns what each folder with Go files imports from outside the
// standard library, tests aside.
func importsOfModule(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || hasFile(path, "go.mod")) {
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

// hasFile reports whether a folder has a file of this name.
func hasFile(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// inModule returns the folder of one of our packages.
func inModule(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// TestOnlyOneProgramLinksTemporal checks that programs that import the API, and mcpgraph,
// get nothing of durable runs.
func TestOnlyOneProgramLinksTemporal(t *testing.T) {
	t.Parallel()
	for program, links := range map[string]bool{".": false, "./cmd/mcpgraph": false, "./cmd/mcpgraph-temporal": true} {
		for _, system := range []string{"linux", "windows"} {
			list := exec.Command("go", "list", "-deps", program)
			list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0", "GOFLAGS=") // -race needs C
			deps, err := list.Output()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(deps), module+"/pkg/executor\n") {
				t.Fatal("the list has no packages of ours")
			}
			i := slices.IndexFunc(strings.Fields(string(deps)), func(dep string) bool {
				return strings.HasPrefix(dep, "go.temporal.io/") || dep == module+"/pkg/durable"
			})
			if (i >= 0) != links {
				t.Errorf("%s on %s links Temporal: %t", program, system, !links)
			}
		}
	}
}
