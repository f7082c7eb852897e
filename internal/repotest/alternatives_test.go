package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

// claims are what docs/alternatives.md says of mcpgraph, with what proves each: a test
// ("pkg/x TestName"), a file, or a text in a file ("path: text").
var claims = []struct {
	says   string
	proofs []string
}{
	{"you know the steps of a task before it runs, the steps are calls of MCP tools", []string{"examples/count_files.yaml", "internal/repotest TestExamplesRun"}},
	{"one tool that does ten calls, the same way each time | mcpgraph", []string{"examples/file_sizes.yaml", "internal/repotest TestExamplesRun"}},
	{"check them in CI | mcpgraph", []string{"internal/repotest TestJobOfREADMEChecksTheQuickstart", "internal/repotest TestActionValidatesAndTests"}},

	// Compared
	{"you, in a file", []string{". TestToolsAreThoseOfTheFile"}},
	{"YAML, JSONata, JSON Logic", []string{"examples/switch.yaml", "pkg/jsonata TestEveryOperatorAndFunction"}},
	{"same steps each time | yes", []string{"pkg/durable TestFixturesHaveTheSameHistoryAsLocally"}},
	{"no, except JSONata that your file gives to [`$eval`]", []string{"pkg/jsonata/call.go: $eval"}},
	{"one program; no database, unless runs must outlive it", []string{"internal/repotest TestReleaseBuildsTheProgram", "cmd/mcpgraph TestDurableRunsOutliveTheServer"}},
	{"what it reaches | MCP servers", []string{"pkg/upstream TestRealServersOverEveryTransport"}},
	{"an MCP client, the command line, a page, or a Go program", []string{"cmd/mcpgraph TestForeignClients", "internal/cli/testdata/script/run.txtar", "e2e TestPage", ". ExampleLoad"}},
	{"licence | MIT", []string{"LICENSE: MIT License"}},

	// When not to use it
	{"runs live in the memory of one process, and end with it", []string{"internal/cli TestServeAnswersRunningCallsAndEndsAtSignals"}},
	{"they survive restarts", []string{"cmd/mcpgraph TestDurableRunsOutliveTheServer", "cmd/mcpgraph TestKilledWorkersLoseNothing"}},
	{"a run can [ask a person]", []string{"cmd/mcpgraph TestDurableCallsThatWait", "internal/cli/testdata/script/durable.txtar"}},
	{"a run ends after 5 minutes by default", []string{"internal/repotest TestDefaultsInDocsAreThoseOfTheSettings", "docs/settings.md: | `maxExecutionTimeMs` | milliseconds | `300000` |"}},
	{"a question after 10", []string{"docs/language.md: | `timeoutMs` | 600000 |"}},
	{"mcpgraph runs only when called", []string{"pkg/server/watch.go: subscri"}},
	{"A scheduler such as cron can call `mcpgraph run`", []string{"internal/cli/testdata/script/run.txtar"}},
	{"of `mcpgraph ui` draws graphs, adds, connects, renames and removes nodes, and fills in arguments", []string{"e2e TestPage", "e2e/checks/graph.mjs: every example draws", "e2e/checks/edit.mjs: every type of node can be added", "e2e/checks/edit.mjs: edits of the picture are undone one by one", "web/src/graph/menu.tsx: Connect to", "e2e/checks/input.mjs: exact JSON of each widget"}},
	{"An agent can write tools with [the toolkit]", []string{"cmd/mcpgraph TestAgentBuildsFiveTools"}},

	// Gateways
	{"[edges](language.md#build-the-graph), loops", []string{"examples/loop.yaml", "examples/map.yaml", "examples/parallel.yaml", "internal/repotest TestExamplesPassTheirTests"}},
	{"JSONata, checked before anything runs", []string{"internal/cli/testdata/script/validate.txtar", "internal/repotest TestExamplesOfDiagnosticsRenderAsThePageSays"}},
	{"`switch` with JSON Logic", []string{"examples/switch.yaml"}},
	{"`map` with any nodes for each item", []string{"examples/map.yaml"}},
	{"`ask`, tested with clients of the Go and TypeScript SDKs", []string{"cmd/mcpgraph TestUsersOfTheGoSDKAreAsked", "cmd/mcpgraph TestUsersOfTheTypeScriptSDKAreAsked"}},
	{"`retry`, and `catch` by kind of failure", []string{"examples/failures.yaml", ". TestFailuresHaveTheirNames"}},
	{"one program, with or without a container", []string{"internal/repotest TestDockerfileFitsTheProgram", "internal/repotest TestReleaseBuildsTheProgram"}},
	{"loops, computing with results, rules, retries and failures, checks before anything runs", []string{"examples/loop.yaml", "examples/switch.yaml", "examples/failures.yaml"}},
	{"an `mcpServers` entry can be the address of a gateway, and a gateway can list an mcpgraph server", []string{"pkg/upstream TestEveryTransportCarriesArgumentsAndResultsAsTheyAre", "cmd/mcpgraph TestForeignClients"}},
	{"of its servers through, if the file lists them, but no tools", []string{". TestUpstreamPromptsAndResourcesPass", "internal/repotest TestToolsDoNotPassThrough"}},

	// Others
	{"Which step follows is not decided by a model, as with mcpgraph", []string{"examples/switch.yaml"}},
	{"and the caller waits for the result", []string{". TestCallGivesValueAndHistory"}},
	{"mcpgraph itself asks a model only in [`sample`]", []string{"cmd/mcpgraph TestModelsOfTheGoSDKAreAsked", ". TestModelsAreAsked"}},
	{"with progress, questions to the user and checks of arguments against the servers' schemas", []string{". TestTheClientHearsOfNodesAsTheyFinish", "cmd/mcpgraph TestUsersOfTheGoSDKAreAsked", "internal/cli/testdata/script/live.txtar"}},
	{"must start at once beside a client, and are reviewed as text", []string{"internal/cli/testdata/script/serve.txtar", "internal/repotest TestExportedEntriesWorkInAnyFolder"}},
	{"intermediate results do not enter the context", []string{"cmd/mcpgraph TestClientOfMCPGoGetsEveryAnswer"}},
	{"somebody writes a tool first", []string{". TestToolsAreThoseOfTheFile"}},
	{"written and checked again each time | the same each time", []string{"pkg/durable TestFixturesHaveTheSameHistoryAsLocally"}},
	{"the calls in the file", []string{". TestUnknownToolsAreNamed"}},
	{"a sandbox for foreign code | one program", []string{"internal/repotest TestReleaseBuildsTheProgram"}},
	{"mcpgraph to keep the ones that are needed again", []string{"cmd/mcpgraph TestAgentBuildsFiveTools"}},
}

// TestClaimsOfTheComparisonAreProved holds docs/alternatives.md to the program: each
// sentence and each cell of a table about mcpgraph has a claim, and what proves it is
// there.
func TestClaimsOfTheComparisonAreProved(t *testing.T) {
	t.Parallel()
	const path = "docs/alternatives.md"
	page := readFile(t, path)
	for _, c := range claims {
		if !strings.Contains(page, c.says) {
			t.Errorf("%s does not say %q any more: remove the claim, or correct it", path, c.says)
		}
		for _, p := range c.proofs {
			if problem := missingProof(t, p); problem != "" {
				t.Errorf("%q: %s", c.says, problem)
			}
		}
	}
	for _, text := range aboutMcpgraph(page) {
		claimed := false
		for _, c := range claims {
			claimed = claimed || strings.Contains(text, c.says)
		}
		if !claimed {
			t.Errorf("%s says without a claim that is proved: %s", path, text)
		}
	}
}

// aboutMcpgraph returns the lines of a page that speak of mcpgraph, each sentence for
// itself, and the rows of tables with a column for it.
func aboutMcpgraph(page string) (texts []string) {
	inTable, column := false, false
	for _, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "|"):
			if !inTable {
				column = strings.Contains(line, "mcpgraph")
			} else if (column || strings.Contains(line, "mcpgraph")) && !strings.HasPrefix(line, "|---") {
				texts = append(texts, line)
			}
		default:
			for _, s := range regexp.MustCompile(`\. +`).Split(line, -1) {
				if strings.Contains(s, "mcpgraph") {
					texts = append(texts, s)
				}
			}
		}
		inTable = strings.HasPrefix(line, "|")
	}
	return texts
}

// missingProof returns what is missing of a proof, or "".
func missingProof(t *testing.T, proof string) string {
	if folder, name, ok := strings.Cut(proof, " "); ok && regexp.MustCompile(`^(Test|Example)\w*$`).MatchString(name) {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.Contains(readFile(t, f), "\nfunc "+name+"(") {
				return ""
			}
		}
		return "no test " + name + " in " + folder
	}
	file, text, _ := strings.Cut(proof, ": ")
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	if !strings.Contains(string(content), text) {
		return file + " has no text " + text
	}
	return ""
}

// TestToolsDoNotPassThrough tries to offer the tools of a server with passthrough.
func TestToolsDoNotPassThrough(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tools.yaml")
	text := "version: \"1.0\"\nserver: {name: t, version: \"1\"}\nmcpServers: {docs: {command: docs-server}}\n" +
		"passthrough: [{server: docs, prompts: [\"*\"], resources: [\"*\"], tools: [\"*\"]}]\ntools: []\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("mcpgraph", "validate", "--strict", file).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `unknown field "tools" in passthrough 1`) || strings.Contains(string(out), "2 warnings") {
		t.Errorf("%v\n%s", err, out)
	}
}

// deprecated are the parts of pages about what revision 2026-07-28 of MCP deprecates.
var deprecated = map[string][]string{
	"docs/language.md":  {"### Ask the model of the client: sample", "### Get the folders of the client: roots"},
	"docs/serving.md":   {"## Show progress and logs to clients", "## Ask the user of a client"},
	"docs/upstreams.md": {"## Choose a transport", "## How a connection lives and ends"},
	"docs/recipes.md":   {"## Let the model of the client decide"},
}

// TestWhatMCPDeprecatesIsSaidWhereItIsUsed wants a link to the table of what is
// deprecated in each section about a part of it.
func TestWhatMCPDeprecatesIsSaidWhereItIsUsed(t *testing.T) {
	t.Parallel()
	for path, sections := range deprecated {
		page := readFile(t, path)
		for _, title := range sections {
			_, section, ok := strings.Cut(page, "\n"+title+"\n")
			if end := regexp.MustCompile(`\n##+ `).FindStringIndex(section); end != nil {
				section = section[:end[0]]
			}
			if !ok || !strings.Contains(section, "#what-mcp-deprecates)") {
				t.Errorf("%s, %s: no link to what MCP deprecates", path, title)
			}
		}
	}
	for _, k := range []*graph.Kind{nodes.Sample, nodes.Roots} {
		if !strings.Contains(k.Doc, "MCP deprecates "+strings.Replace(k.Name, "sample", "sampling", 1)+" since 2026-07-28") {
			t.Errorf("%s: its text does not say that MCP deprecates it: %s", k.Name, k.Doc)
		}
	}
}
