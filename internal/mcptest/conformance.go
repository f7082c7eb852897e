package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Conformance runs one half of the public conformance suite of MCP, "client" or
// "server", over every scenario that a protocol revision requires and those that
// it does not score, and writes a line about each kind to the output of the test:
//
//	server 2026-07-28: 37/37
//	server 2026-07-28, not scored: 3/13; fail: tasks-lifecycle, …
//
// A scenario passes if no check of it fails or gives a warning. Exceptions has the
// reasons of scenarios, or checks ("scenario/check"), that cannot pass; scored ones
// cannot be exceptions. Any other failure fails the test, and so does an exception
// that passes. The test is
// skipped where the suite is not installed (see [RealServers]), and fails where it
// does not come to its end.
func Conformance(t testing.TB, half, revision string, exceptions map[string]string, args ...string) {
	t.Helper()
	bin := RealServers(t)
	suite, err := filepath.EvalSymlinks(filepath.Join(bin, "conformance"))
	if err != nil {
		t.Fatal(err)
	}
	scored := requirements(t, filepath.Join(filepath.Dir(suite), "..", "requirements", revision+".yaml"))[half]
	found := runSuite(t, filepath.Join(bin, "node"), suite, half, revision, args)
	left := maps.Clone(exceptions)
	var passed, others, failing []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		for _, check := range found[name] {
			one := name + "/" + check.ID
			switch {
			case exceptions[name] != "":
				delete(left, name)
			case exceptions[one] != "":
				delete(left, one)
			default:
				t.Errorf("%s fails: %s", one, check.ErrorMessage)
			}
		}
		switch {
		case slices.Contains(scored, name):
			if len(found[name]) == 0 {
				passed = append(passed, name)
			}
		case len(found[name]) == 0:
			others = append(others, name)
		default:
			failing = append(failing, name)
		}
	}
	for name := range exceptions {
		if scenario, _, _ := strings.Cut(name, "/"); slices.Contains(scored, scenario) || slices.Contains(scored, name) {
			t.Errorf("%s is scored: it cannot be an exception", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s passes, though %q: take it out of the exceptions", name, left[name])
	}
	for _, name := range scored {
		if _, ok := found[name]; !ok {
			t.Errorf("%s did not run", name)
		}
	}
	fmt.Fprintf(t.Output(), "%s %s: %d/%d\n", half, revision, len(passed), len(scored))
	unscored := fmt.Sprintf("%s %s, not scored: %d/%d", half, revision, len(others), len(others)+len(failing))
	if len(failing) > 0 {
		unscored += "; fail: " + strings.Join(failing, ", ")
	}
	fmt.Fprintln(t.Output(), unscored)
}

// requirements reads which scenarios a revision scores, by half.
func requirements(t testing.TB, path string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	scored, section := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimRight(line, "\r\n"); {
		case strings.HasPrefix(line, "  - ") && !strings.Contains(line, ": "):
			scored[section] = append(scored[section], strings.TrimPrefix(line, "  - "))
		case strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " "):
			section = strings.TrimSuffix(line, ":")
		}
	}
	if len(scored["client"]) < 10 || len(scored["server"]) < 10 {
		t.Fatalf("%s: %d scored scenarios of clients and %d of servers", path, len(scored["client"]), len(scored["server"]))
	}
	return scored
}

// runSuite returns the checks that failed or gave a warning, by scenario.
func runSuite(t testing.TB, node, suite, half, revision string, args []string) map[string][]failedCheck {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	args = append([]string{suite, half, "--requirements", revision, "--output-dir", dir}, args...)
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	lines := summaryLine.FindAllStringSubmatch(string(out), -1)
	if ctx.Err() != nil || len(lines) == 0 {
		t.Fatalf("the suite did not end well: %v\n%s", err, out)
	}
	failed, found := failedChecks(t, dir, half), map[string][]failedCheck{}
	for _, m := range lines {
		passed, name := m[1] == "✓", m[2]
		found[name] = failed[name]
		if !passed && len(failed[name]) == 0 {
			found[name] = []failedCheck{{ID: "scenario", ErrorMessage: "no check says why"}}
		}
	}
	return found
}

// summaryLine is what the suite prints of each scenario in the end.
var summaryLine = regexp.MustCompile(`(?m)^([✓✗]) (\S+): \d+ passed, \d+ failed`)

// timestamp ends the name of the folder of a scenario.
var timestamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[-\d]+Z$`)

// failedCheck is a check of a scenario that failed or gave a warning.
type failedCheck struct{ ID, Status, ErrorMessage string }

// failedChecks reads what the suite wrote, by scenario.
func failedChecks(t testing.TB, dir, half string) map[string][]failedCheck {
	t.Helper()
	failed := map[string][]failedCheck{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "checks.json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var checks []failedCheck
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
				failed[name] = append(failed[name], c)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return failed
}
