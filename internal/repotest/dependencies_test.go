package repotest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	requirement   = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
	dependencyRow = regexp.MustCompile("(?m)^\\| (`[^|]*) \\| (?:MIT|Apache|BSD|ISC)[^|]* \\| ([^|]*) \\|")
)

// TestDependenciesDocHasTheModules checks that docs/dependencies.md lists the
// modules that go.mod requires for packages of the module, each row with the
// packages that import them.
func TestDependenciesDocHasTheModules(t *testing.T) {
	const page = "docs/dependencies.md"
	var modules []string
	for _, m := range requirement.FindAllStringSubmatch(readFile(t, "go.mod"), -1) {
		modules = append(modules, m[1])
	}
	if len(modules) < 20 {
		t.Fatalf("only %d requirements found in go.mod: has its form changed?", len(modules))
	}
	importers := map[string][]string{}
	for folder, imports := range importsOfModule(t) {
		if strings.HasPrefix(folder, "examples/") || strings.HasPrefix(folder, "internal/mcptest") {
			continue
		}
		for _, path := range imports {
			module := ""
			for _, m := range modules {
				if (path == m || strings.HasPrefix(path, m+"/")) && len(m) > len(module) {
					module = m
				}
			}
			if module != "" && !slices.Contains(importers[module], folder) {
				importers[module] = append(importers[module], folder)
			}
		}
	}
	listed := map[string]bool{}
	for _, row := range dependencyRow.FindAllStringSubmatch(readFile(t, page), -1) {
		var want []string
		for _, m := range quotedCode.FindAllStringSubmatch(row[1], -1) {
			module := m[1]
			if !slices.Contains(modules, module) {
				t.Errorf("%s has %s, which go.mod does not require", page, module)
			}
			listed[module] = true
			for _, folder := range importers[module] {
				if !slices.Contains(want, folder) {
					want = append(want, folder)
				}
			}
		}
		var got []string
		if !strings.HasPrefix(row[2], "tests") {
			for _, m := range quotedCode.FindAllStringSubmatch(row[2], -1) {
				got = append(got, m[1])
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %q as users of %s; they are %q", page, got, row[1], want)
		}
	}
	for _, m := range modules {
		if !listed[m] {
			t.Errorf("%s lacks %s", page, m)
		}
	}
}

// permissive are the licences that npm packages may have.
var permissive = []string{"MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}

// TestPackagesOfThePageArePermissive checks the licences of the npm packages that
// the page is built from and tested with. The lock files name no registry.
func TestPackagesOfThePageArePermissive(t *testing.T) {
	// What tests use, with a row in docs/dependencies.md that says why.
	exceptions := map[string]string{"e2e/node_modules/axe-core": "MPL-2.0"}
	docs := readFile(t, "docs/dependencies.md")
	for _, folder := range []string{"web", "e2e"} {
		var lock struct {
			Packages map[string]struct{ License, Resolved string }
		}
		if err := json.Unmarshal([]byte(readFile(t, folder+"/package-lock.json")), &lock); err != nil {
			t.Fatal(err)
		}
		if len(lock.Packages) < 2 {
			t.Errorf("%s/package-lock.json has no packages: has its form changed?", folder)
		}
		for path, p := range lock.Packages {
			name := strings.TrimPrefix(path, "node_modules/")
			switch {
			case path == "":
				continue
			case exceptions[folder+"/"+path] == p.License && strings.Contains(docs, "| "+name+" | "+p.License+" |"):
			case !slices.Contains(permissive, p.License):
				t.Errorf("%s of %s has the licence %q", name, folder, p.License)
			}
			if p.Resolved != "" {
				t.Errorf("%s/package-lock.json has an address to download %s from", folder, name)
			}
		}
	}
}
