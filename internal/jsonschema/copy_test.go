package jsonschema

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	upstream = "github.com/santhosh-tekuri/jsonschema/v6"
	notice   = "// Changed by mcpgraph: see metaschemas.patch.\n\n"
)

// TestCopyIsTheModuleWithThePatch checks that nothing else was changed.
func TestCopyIsTheModuleWithThePatch(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", upstream).Output()
	if err != nil {
		t.Fatal(err)
	}
	patched := t.TempDir()
	module := os.DirFS(strings.TrimSpace(string(out)))
	if err := os.CopyFS(patched, module); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(patched, "draft.go"), 0o600); err != nil {
		t.Fatal(err)
	}
	patch, err := filepath.Abs("metaschemas.patch")
	if err != nil {
		t.Fatal(err)
	}
	apply := exec.Command("git", "apply", patch)
	apply.Dir = patched
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(patched))
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, got := files(t, patched), files(t, ".")
	for name, text := range want {
		if name == "draft.go" {
			text = append([]byte(notice), text...)
		}
		if !bytes.Equal(got[name], text) {
			t.Errorf("%s is not that of the module with the patch", name)
		}
		delete(got, name)
	}
	if len(want) < 30 || len(got) > 0 {
		t.Errorf("the module has %d files; the copy has more: %d", len(want), len(got))
	}
}

// files returns the files that a program is built of, and the licence.
func files(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	list := []string{"LICENSE"}
	sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range sources {
		if name := filepath.Base(path); name != "doc.go" && !strings.HasSuffix(name, "_test.go") {
			list = append(list, name)
		}
	}
	err = filepath.WalkDir(filepath.Join(folder, "metaschemas"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(folder, path)
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		if all[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestMetaschemasAreCompiledWhenUsed compiles schemas of each draft at the same time. It
// runs before the tests that are parallel.
func TestMetaschemasAreCompiledWhenUsed(t *testing.T) {
	drafts := []*Draft{Draft4, Draft6, Draft7, Draft2019, Draft2020}
	for _, d := range drafts {
		if d.sch != nil {
			t.Errorf("the metaschemas of %s are compiled at the start", d)
		}
	}
	for i, d := range drafts {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for name, doc := range map[string]map[string]any{
					"right": {"$schema": d.url, "type": "object"}, "wrong": {"$schema": d.url, "type": 1.0},
				} {
					c := NewCompiler()
					if err := c.AddResource("urn:"+name, doc); err != nil {
						t.Error(err)
					}
					if _, err := c.Compile("urn:" + name); (err == nil) != (name == "right") {
						t.Errorf("%s, %s: %v", d, name, err)
					}
				}
			})
		}
		all.Wait()
		if d.sch == nil {
			t.Errorf("schemas of %s are checked by nothing", d)
		}
		for _, other := range drafts[i+1:] {
			if other.sch != nil {
				t.Errorf("a schema of %s compiles the metaschemas of %s", d, other)
			}
		}
	}
}
