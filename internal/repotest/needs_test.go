package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Targets of the Makefile that need more than Go say at once what is missing.
func TestTargetsSayWhatTheyNeed(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	script, err := os.ReadFile(filepath.Join(".ci", "needs"))
	if err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir() // a copy of the repository in which nothing is installed
	if err := os.MkdirAll(filepath.Join(empty, ".ci"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(empty, ".ci", "needs")
	if err := os.WriteFile(path, script, 0o700); err != nil {
		t.Fatal(err)
	}
	for target, says := range map[string][]string{
		"conformance": {"npm", "(cd testdata/realservers && npm ci)"},
		"interop":     {"npm", "testdata/realservers", "npm ci)"},
		"chaos":       {"testdata/temporalserver", "MCPGRAPH_TEMPORAL=HOST:PORT"},
	} {
		cmd := exec.Command(shell, path, target)
		cmd.Env = append(os.Environ(), "MCPGRAPH_TEMPORAL=")
		out, err := cmd.CombinedOutput()
		for _, want := range says {
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: got %v, want an error that says %q\n%s", target, err, want, out)
			}
		}
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"conformance", "interop", "stress", "chaos"} {
		if !strings.Contains(string(makefile), "\n"+target+":") || !strings.Contains(string(makefile), ".ci/needs "+target+"\n") {
			t.Errorf("%s does not say what it needs", target)
		}
	}
}
