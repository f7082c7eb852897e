package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// realServers is where npm has put the servers that some examples call.
const realServers = "testdata/realservers"

func TestExamplesRun(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		file, tool string
		args       []string
		node       bool // calls servers from the npm registry
		want       string
	}{
		{"count_files.yaml", "count_files", []string{"directory=examples/data"}, false, `{"count":3}`},
		{"count_files_flat.yaml", "count_files", []string{"directory=examples/data"}, true, `{"count":4}`},
		{"file_sizes.yaml", "total_size", []string{"directory=examples/data"}, false, `{"files":3,"bytes":2201.16,"largest":"notes.md"}`},
		{"file_sizes_flat.yaml", "total_size", []string{"directory=examples/data"}, true, `{"totalSize":2201.16}`},
		{"switch.yaml", "preview", []string{"file=examples/data/notes.md", "lines=1"}, false, `{"text":"# Notes","cut":true}`},
		{"switch.yaml", "preview", []string{"file=examples/data/shopping.txt"}, false, `{"text":"Apples, bread, coffee, dish soap, eggs.\n","cut":false}`},
		{"loop.yaml", "count_tree", []string{"directory=examples/data"}, false, `{"files":4,"directories":2}`},
		{"failures.yaml", "read_note", []string{"name=examples/data/today.md", "otherwise=examples/data/shopping.txt"}, false, `{"note":"examples/data/shopping.txt","text":"Apples, bread, coffee, dish soap, eggs.\n"}`},
		{"map.yaml", "count_words", []string{"folder=examples/data"}, false,
			`{"notes":[{"place":1,"name":"notes.md","words":361},{"place":2,"name":"numbers.csv","words":82},{"place":3,"name":"shopping.txt","words":6}],"words":449,"failed":"words[0].read"}`},
		{"parallel.yaml", "describe", []string{"file=examples/data/notes.md"}, false, `{"about":"file","start":"# Notes"}`},
		{"parallel.yaml", "describe", []string{"file=examples/data/drafts"}, false, `{"about":"folder","start":null}`},
		{"call.yaml", "count_tree", []string{"folder=examples/data"}, false, `{"files":4}`},
		{"offers.yaml", "prompts/summarize", []string{"file=shopping.txt"}, false,
			`{"messages":[{"role":"user","content":{"type":"text","text":"Summarize this file:\n\nApples, bread, coffee, dish soap, eggs.\n"}},` +
				`{"role":"assistant","content":{"type":"text","text":"How long may the summary be?"}},{"role":"user","content":{"type":"text","text":"Three sentences."}}]}`},
		{"offers.yaml", "resources/files", nil, false, `[{"uri":"notes://files","mimeType":"application/json","text":"[\"notes.md\",\"numbers.csv\",\"shopping.txt\"]"}]`},
		{"wait.yaml", "wait_for_file", []string{"file=examples/data/notes.md"}, false, `{"file":"examples/data/notes.md","looks":1}`},
		{"ask.yaml", "show", []string{"file=examples/data/notes.md", `--answer which={"lines":1}`}, false, `{"text":"# Notes"}`},
		{"ask.yaml", "show", []string{"file=examples/data/notes.md"}, false, `{"text":null,"why":"the user did not agree"}`},
		{"sample.yaml", "describe_note", []string{"file=examples/data/notes.md", `--answer describe={"title":"Mine","tags":["a"]}`}, false, `{"title":"Mine","tags":["a"]}`},
		{"sample.yaml", "describe_note", []string{"file=examples/data/notes.md"}, false, `{"title":"Notes","tags":[]}`},
		{"company.yaml", "list_notes", nil, false, `{"notes":["notes.md","numbers.csv","shopping.txt"]}`},
		{"company.yaml", "read_note", []string{"name=shopping.txt"}, false, `{"content":"Apples, bread, coffee, dish soap, eggs.\n"}`},
		{"two_servers.yaml", "remember_directory", []string{"directory=examples/data"}, true, `{"noted":["notes.md","numbers.csv","shopping.txt"],"known":3}`},
	} {
		t.Run(e.file+" "+strings.Join(e.args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("mcpgraph", "run", filepath.Join(root, "examples", e.file), e.tool)
			for _, a := range e.args {
				if answer, ok := strings.CutPrefix(a, "--answer "); ok {
					cmd.Args = append(cmd.Args, "--answer", answer)
					continue
				}
				if e.node {
					a = strings.Replace(a, "=examples", "="+root+"/examples", 1)
				}
				cmd.Args = append(cmd.Args, "--arg", a)
			}
			if e.node {
				needRealServers(t)
				testscale.OnlyFull(t) // a quick run has TestBothLayoutsCountARealDirectory in cmd/mcpgraph
				cmd.Dir = realServers // where npx finds the packages
			}
			cmd.Env = append(examplesEnv(t), "FILES_ROOT="+root, "MEMORY_FILE="+filepath.Join(t.TempDir(), "memory.jsonl"))
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, stderr.String())
			}
			if got := strings.TrimSpace(string(out)); got != e.want {
				t.Errorf("gives %s, want %s", got, e.want)
			}
		})
	}
}

// needRealServers skips a test where npm ci has not been run in
// testdata/realservers, and fails it in CI.
func needRealServers(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(realServers, "node_modules")); err != nil {
		missingRealServers(t, "the real servers are missing")
	}
}

// missingRealServers skips a test, or fails it in CI.
func missingRealServers(t *testing.T, what string) {
	t.Helper()
	what += ": npm ci in " + realServers
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}
