package repotest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// readFile returns the text of a file of the repository.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readYAML decodes a file of the repository into what.
func readYAML(t *testing.T, path string, what any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, path)), what); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// goVersion returns the major and minor version of Go in go.mod.
func goVersion(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "go.mod"))
	if m == nil {
		t.Fatal("go.mod names no version of Go")
	}
	return m[1]
}

var (
	quotedCode = regexp.MustCompile("`([^`\n]+)`")
	makeTarget = regexp.MustCompile(`\bmake ([a-z0-9-]+)`)
	testNames  = regexp.MustCompile(`go test \./(\S+) -run (\w+)`)
	goName     = regexp.MustCompile(`^([a-z]+)\.([A-Z]\w+)$`)
)

// TestContributingSaysWhatIsThere holds that the commands, files and names that
// CONTRIBUTING.md shows exist.
func TestContributingSaysWhatIsThere(t *testing.T) {
	text := readFile(t, "CONTRIBUTING.md")
	if !strings.Contains(text, "Go "+goVersion(t)+" ") {
		t.Errorf("CONTRIBUTING.md does not name Go %s", goVersion(t))
	}
	makefile := readFile(t, "Makefile")
	checked := 0
	for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
		checked++
		if !strings.Contains(makefile, "\n"+m[1]+": ## ") {
			t.Errorf("the Makefile has no %s", m[1])
		}
	}
	for _, m := range testNames.FindAllStringSubmatch(text, -1) {
		checked++
		if !declares(t, m[1], "_test.go", `func Test\w*`+m[2]) {
			t.Errorf("%s runs no test", m[0])
		}
	}
	for _, m := range quotedCode.FindAllStringSubmatch(text, -1) {
		code := m[1]
		switch name := goName.FindStringSubmatch(code); {
		case strings.Contains(code, " ") || strings.Contains(code, "NAME") || strings.HasPrefix(code, "bin/"):
			continue
		case name != nil:
			folder := "pkg/" + name[1]
			if name[1] == "mcpgraph" {
				folder = "."
			}
			if !declares(t, folder, ".go", `(?m)^(func|type|var) `+name[2]+`\b`) {
				t.Errorf("there is no %s", code)
			}
		case strings.ContainsAny(code, "/."):
			if _, err := os.Stat(code); err != nil {
				t.Error(err)
			}
		default:
			continue
		}
		checked++
	}
	for name, folder := range map[string]string{"historyFunctions": "pkg/expr", "takesNode": "pkg/expr"} {
		if !strings.Contains(text, "`"+name+"`") || !declares(t, folder, ".go", name) {
			t.Errorf("CONTRIBUTING.md or %s lacks %s", folder, name)
		}
	}
	if checked < 30 {
		t.Errorf("only %d names found: has the form of CONTRIBUTING.md changed?", checked)
	}
}

// declares reports whether a Go file of a folder, itself with this ending,
// matches a pattern.
func declares(t *testing.T, folder, ending, pattern string) bool {
	t.Helper()
	matcher := regexp.MustCompile(pattern)
	files, err := filepath.Glob(filepath.Join(folder, "*"+ending))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool { return matcher.MatchString(readFile(t, file)) })
}
