package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// spread lists the types whose methods are in more than three files, with the number of
// files. It may only get shorter: a type that needs more files is two types.
var spread = map[string]int{
	"internal/engine.Engine":     5,
	"internal/engine.Program":    14,
	"internal/mcptest.server":    4,
	"internal/serving.Servers":   10,
	"internal/suite.decoder":     5,
	"internal/suite/runner.play": 4,
	"mcpgraph.Engine":            7,
	"pkg/durable.Client":         16,
	"pkg/durable.driving":        10,
	"pkg/executor.Run":           13,
	"pkg/executor.frame":         13,
	"pkg/expr.state":             4,
	"pkg/graph.Fields":           14,
	"pkg/runs.Run":               5,
	"pkg/runs.Store":             5,
	"pkg/ui.remoteRun":           4,
	"pkg/ui.remotes":             4,
	"pkg/upstream.session":       15,
	"pkg/value.Value":            10,
}

// maxFileLines is how long a source file may be.
const maxFileLines = 500

// TestTypesAreInFewFiles compares the types that are in more than three files with the list
// above.
func TestTypesAreInFewFiles(t *testing.T) {
	t.Parallel()
	files := map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		path = filepath.ToSlash(path)
		lines := strings.Count(readFile(t, path), "\n")
		if lines > maxFileLines && !strings.HasPrefix(path, "internal/jsonschema/") { // a copied library
			t.Errorf("%s has %d lines; a file has %d at most", path, lines, maxFileLines)
		}
		folder, _ := filepath.Split(path)
		if folder == "" {
			folder = "mcpgraph/"
		}
		for name := range receivers(t, path) {
			files[strings.TrimSuffix(folder, "/")+"."+name]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range files {
		if n > 3 && n > spread[name] {
			t.Errorf("%s has methods in %d files; find the two types that it is", name, n)
		}
	}
	for name, n := range spread {
		switch got := files[name]; {
		case got <= 3:
			t.Errorf("%s has methods in %d files: take it off the list", name, got)
		case got < n:
			t.Errorf("%s has methods in %d files: the list says %d", name, got, n)
		}
	}
}

// receivers returns the names of the types that have methods in a file.
func receivers(t *testing.T, path string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		typ := f.Recv.List[0].Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		if generic, ok := typ.(*ast.IndexExpr); ok {
			typ = generic.X
		}
		if id, ok := typ.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
	return names
}
