package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDistIsBuiltFromTheSources builds the page again and compares it with dist,
// which is committed, byte by byte. Another version of Go may compress otherwise, so
// what is compressed is compared as text.
func TestDistIsBuiltFromTheSources(t *testing.T) {
	needPackages(t)
	fresh := t.TempDir()
	cmd := exec.Command("go", "run", "-C", "build", ".", fresh)
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", ""))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, got := files(t, fresh), files(t, "dist")
	for name, text := range want {
		if !bytes.Equal(text, got[name]) {
			t.Errorf("web/dist/%s is not what the sources make: run go run -C web/build . and commit web/dist", name)
		}
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("web/dist/%s is not made from the sources: delete it", name)
		}
	}
}

// TestTypes lets TypeScript check the sources.
func TestTypes(t *testing.T) {
	needPackages(t)
	if out, err := exec.Command("npm", "run", "--silent", "check").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnits runs the tests of what needs no browser: values, schemas, checks.
func TestUnits(t *testing.T) {
	needPackages(t)
	out := t.TempDir()
	cmd := exec.Command("go", "run", "-C", "build", ".", "-units", out)
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", ""))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if text, err := exec.Command("node", filepath.Join(out, "units.mjs")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

var (
	importRE = regexp.MustCompile(`(?ms)^(?:import|export)\s(?:[^"';]*?\sfrom\s)?"(\.[^"]*)"`)
	typesRE  = regexp.MustCompile(`(?m)^import type [^;]*;`) // gone when it runs
)

// TestSourcesImportInOneDirection fails for modules that import each other: which of
// them runs first depends on who is imported first.
func TestSourcesImportInOneDirection(t *testing.T) {
	imports := map[string][]string{}
	err := filepath.WalkDir("src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range importRE.FindAllSubmatch(typesRE.ReplaceAll(text, nil), -1) {
			imports[path] = append(imports[path], source(filepath.Join(filepath.Dir(path), string(m[1]))))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) < 50 {
		t.Errorf("found imports in %d modules; expected those of the page", len(imports))
	}
	const under, done = 1, 2
	state := map[string]int{}
	var visit func(path string, way []string)
	visit = func(path string, way []string) {
		way = append(way, path)
		switch state[path] {
		case under:
			t.Errorf("modules import each other: %s", strings.Join(way[slices.Index(way, path):], " → "))
		case 0:
			state[path] = under
			for _, next := range imports[path] {
				visit(next, way)
			}
			state[path] = done
		}
	}
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		visit(path, nil)
	}
}

// source returns the file that an import without an ending names.
func source(path string) string {
	for _, end := range []string{".ts", ".tsx", "/index.ts", "/index.tsx"} {
		if _, err := os.Stat(path + end); err == nil {
			return path + end
		}
	}
	return path
}

// needPackages skips a test if the packages of the page are not installed; if CI is
// "true", it fails.
func needPackages(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("node_modules", "typescript")); err != nil {
		const missing = "the packages of the page are not installed: run npm ci --ignore-scripts in web"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip("THE PAGE IS NOT TESTED: " + missing)
	}
}

// files returns the files of a folder by their names, without compression.
func files(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(e.Name()) == ".gz" {
			unzipped, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if text, err = io.ReadAll(unzipped); err != nil {
				t.Fatal(err)
			}
		}
		texts[e.Name()] = text
	}
	return texts
}
