package repotest

import (
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
		if strings.HasPrefix(folder, "examples/") || folder == "internal/mcptest" {
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
