package repotest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// documents returns the paths of the pages for people: those in docs and beside
// the README.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(files, others...)
}

// blocks returns the fenced blocks of a language in all documents, by place.
func blocks(t *testing.T, language string) map[string]string {
	t.Helper()
	files := documents(t)
	found := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllSubmatchIndex(text, -1) {
			if string(text[m[2]:m[3]]) == language {
				line := 1 + strings.Count(string(text[:m[0]]), "\n")
				found[file+":"+strconv.Itoa(line)] = string(text[m[4]:m[5]])
			}
		}
	}
	return found
}

// TestCommandsInDocsPrintWhatTheyShow runs every line that begins with "$ " in
// a console block, from the repository's root, and compares what it prints on
// stdout with the lines that follow it. Where none follow, only success counts.
func TestCommandsInDocsPrintWhatTheyShow(t *testing.T) {
	t.Parallel()
	ran := 0
	for place, block := range blocks(t, "console") {
		if inSession(t, place) {
			continue // see TestSessionsInDocs
		}
		for _, step := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			ran++
			t.Run(place, func(t *testing.T) {
				cmd := exec.Command("sh", "-c", command)
				cmd.Env = examplesEnv(t)
				if lines := typed.FindAllStringSubmatch(want, -1); lines != nil {
					compareTranscript(t, cmd, lines, want)
					return
				}
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s: %v\n%s%s", command, err, out, stderr.String())
				}
				want = strings.TrimRight(want, "\n")
				if got := strings.TrimRight(string(out), "\n"); want != "" && got != want {
					t.Errorf("%s\nprints\n%s\nbut the document shows\n%s", command, got, want)
				}
			})
		}
	}
	if ran < 3 {
		t.Errorf("only %d commands found: has the form of the blocks changed?", ran)
	}
}

// typed is a command at the prompt of the debugger.
var typed = regexp.MustCompile(`(?m)^\(debug\) (.*)$`)

// compareTranscript runs a command that reads commands, those that the document shows
// at its prompt. What it prints on both streams has to begin as the document shows; the
// end of the input ends it.
func compareTranscript(t *testing.T, cmd *exec.Cmd, lines [][]string, want string) {
	t.Helper()
	var input strings.Builder
	for _, m := range lines {
		input.WriteString(m[1] + "\n")
	}
	cmd.Stdin = strings.NewReader(input.String())
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if want = strings.TrimRight(want, "\n"); !strings.HasPrefix(string(out), want+"\n") {
		t.Errorf("%s\nprints\n%s\nbut the document shows\n%s", cmd.Args[2], out, want)
	}
}

// TestEveryCommandInDocsIsRun holds that commands with their prompt stand in console
// blocks, which the tests run.
func TestEveryCommandInDocsIsRun(t *testing.T) {
	t.Parallel()
	anyBlock := regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	for _, file := range documents(t) {
		for _, m := range anyBlock.FindAllStringSubmatch(readFile(t, file), -1) {
			if m[1] != "console" && strings.Contains("\n"+m[2], "\n$ ") {
				t.Errorf("%s has a block with commands that no test runs:\n%s", file, m[2])
			}
		}
	}
}

// TestConfigsInDocsAreClean validates every yaml block that is a whole file.
func TestConfigsInDocsAreClean(t *testing.T) {
	t.Parallel()
	ran := 0
	for place, block := range blocks(t, "yaml") {
		// docs/diagnostics.md shows files with problems; their own test reads them.
		if !strings.HasPrefix(block, "version:") || strings.HasPrefix(place, "docs/diagnostics.md") {
			continue
		}
		ran++
		t.Run(place, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("mcpgraph", "validate", "--strict", file).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	if ran == 0 {
		t.Error("no configuration found: has the form of the blocks changed?")
	}
}

var variable = regexp.MustCompile(`\$\{([A-Z_]+)\}`)

// TestServersInDocsAreClean validates every yaml block that is a map of
// upstream servers, as part of a file whose nodes call none of them, or that is
// the server itself.
func TestServersInDocsAreClean(t *testing.T) {
	t.Parallel()
	ran := 0
	for place, block := range blocks(t, "yaml") {
		if !strings.HasPrefix(block, "mcpServers:") && !strings.HasPrefix(block, "server:") || strings.HasPrefix(place, "docs/diagnostics.md") {
			continue
		}
		ran++
		t.Run(place, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			text := "version: \"1.0\"\ntools: []\n" + block
			if !strings.HasPrefix(block, "server:") {
				text += "server: {name: docs, version: 1.0.0}\n"
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("mcpgraph", "validate", "--format", "json", file)
			cmd.Env = os.Environ()
			for _, m := range variable.FindAllStringSubmatch(block, -1) {
				cmd.Env = append(cmd.Env, m[1]+"=a-value-of-"+m[1])
			}
			out, err := cmd.CombinedOutput()
			var found struct {
				Diagnostics []struct{ Code, Message string }
			}
			if err := json.Unmarshal(out, &found); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			for _, d := range found.Diagnostics {
				if d.Code != diag.CodeUnusedServer {
					t.Error(d.Message)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	if ran < 15 {
		t.Errorf("only %d examples found: has the form of the blocks changed?", ran)
	}
}

// TestTestFilesInDocsPass runs every yaml block of a page that is a test file, with the
// configuration that stands first on the page.
func TestTestFilesInDocsPass(t *testing.T) {
	t.Parallel()
	for page, least := range map[string]int{"docs/testing.md": 4, "docs/prompts-and-resources.md": 1} {
		config, tests := testFilesOf(t, page)
		if config == "" || len(tests) < least {
			t.Fatalf("%s has %d test files: has the form of the blocks changed?", page, len(tests))
		}
		for _, text := range tests {
			if out, err := testCommand(t, config, text, "--strict").CombinedOutput(); err != nil {
				t.Errorf("%v\n%s\n%s", err, text, out)
			}
		}
	}
}

// testFilesOf returns the first configuration of a page, and its test files in their
// order.
func testFilesOf(t *testing.T, page string) (config string, tests []string) {
	t.Helper()
	for _, m := range fence.FindAllStringSubmatch(readFile(t, page), -1) {
		switch block := m[2]; {
		case m[1] != "yaml":
		case strings.HasPrefix(block, "version:") && config == "":
			config = block
		case strings.HasPrefix(block, "tests:"):
			tests = append(tests, block)
		}
	}
	return config, tests
}

// testCommand returns a command that tests a configuration in a folder of its own.
func testCommand(t *testing.T, config, tests string, flags ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"shop.yaml": config, "shop.test.yaml": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("mcpgraph", append([]string{"test", "shop.test.yaml"}, flags...)...)
	cmd.Dir = dir
	return cmd
}

var elapsed = regexp.MustCompile(`\(\d+ ms\)`)

// TestFailedTestOfDocsLooksLikeThat changes the first test of docs/testing.md so that it
// fails as the page shows.
func TestFailedTestOfDocsLooksLikeThat(t *testing.T) {
	t.Parallel()
	const page = "docs/testing.md"
	config, tests := testFilesOf(t, page)
	_, shown, _ := strings.Cut(readFile(t, page), "```text\n")
	shown, _, _ = strings.Cut(shown, "```")
	if len(tests) == 0 || shown == "" {
		t.Fatal("has the form of the page changed?")
	}
	out, err := testCommand(t, config, strings.Replace(tests[0], "result: {pieces: 7}", "result: {pieces: 8}", 1)).Output()
	if err == nil {
		t.Error("the test passed")
	}
	if got := elapsed.ReplaceAllString(string(out), "(1 ms)"); !strings.HasPrefix(got, shown) {
		t.Errorf("got:\n%s\nthe page shows:\n%s", got, shown)
	}
}
