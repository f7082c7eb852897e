package mcptest

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// ScenarioResult is what the conformance suite of MCP found in one scenario.
type ScenarioResult struct {
	Name   string
	Passed bool     // as the suite counts it
	Failed []string // ids of the checks that failed or gave a warning
}

// Conformance runs one half of the public conformance suite of MCP, "client" or
// "server", over every scenario that a protocol revision requires and those that
// it does not score. The test is skipped where the suite is not installed (see
// [RealServers]), and fails where it does not come to its end; what the suite
// printed is shown if the test fails.
func Conformance(t testing.TB, half, revision string, args ...string) []ScenarioResult {
	t.Helper()
	bin := RealServers(t)
	suite, err := filepath.EvalSymlinks(filepath.Join(bin, "conformance"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	args = append([]string{suite, half, "--requirements", revision, "--output-dir", dir}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "node"), args...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	lines := summaryLine.FindAllStringSubmatch(string(out), -1)
	if ctx.Err() != nil || len(lines) == 0 {
		t.Fatalf("the suite did not end well: %v\n%s", err, out)
	}
	failed := failedChecks(t, dir, half)
	results := make([]ScenarioResult, len(lines))
	for i, m := range lines {
		results[i] = ScenarioResult{Name: m[2], Passed: m[1] == "✓", Failed: failed[m[2]]}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", out)
		}
	})
	return results
}

// summaryLine is what the suite prints of each scenario in the end.
var summaryLine = regexp.MustCompile(`(?m)^([✓✗]) (\S+): \d+ passed, \d+ failed`)

// timestamp ends the name of the folder of a scenario.
var timestamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[-\d]+Z$`)

// failedChecks reads what the suite wrote, by scenario.
func failedChecks(t testing.TB, dir, half string) map[string][]string {
	t.Helper()
	failed := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "checks.json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var checks []struct{ ID, Status string }
		if err := json.Unmarshal(text, &checks); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		name = timestamp.ReplaceAllString(strings.TrimPrefix(filepath.ToSlash(name), half+"-"), "")
		for _, c := range checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				failed[name] = append(failed[name], c.ID)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return failed
}
