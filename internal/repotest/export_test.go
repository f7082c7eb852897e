package repotest

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.yaml.in/yaml/v4"
)

// startedBy are the programs that start servers, each with the way to its entry: the
// map of servers, and the keys of program, arguments and environment. How each puts a
// variable of its own environment into that of the server is in expanded.
var startedBy = map[string]struct{ servers, command, args, env string }{
	"claude":         {"mcpServers", "command", "args", "env"},
	"claude-desktop": {"mcpServers", "command", "args", "env"},
	"codex":          {"mcp_servers", "command", "args", "env"},
	"continue":       {"mcpServers", "command", "args", "env"},
	"copilot":        {"mcpServers", "command", "args", "env"},
	"cursor":         {"mcpServers", "command", "args", "env"},
	"gemini":         {"mcpServers", "command", "args", "env"},
	"goose":          {"extensions", "cmd", "args", "envs"},
	"lmstudio":       {"mcpServers", "command", "args", "env"},
	"opencode":       {"mcp", "command", "", "environment"},
	"vscode":         {"servers", "command", "args", "env"},
	"windsurf":       {"mcpServers", "command", "args", "env"},
	"zed":            {"context_servers", "command", "args", "env"},
}

// TestExportedEntriesWorkInAnyFolder starts each entry that export writes as a desktop
// client does, in / with a short PATH and few variables, and calls a tool; that of the
// toolkit, too. The file is
// the one that init writes in the quickstart, with a variable added.
func TestExportedEntriesWorkInAnyFolder(t *testing.T) {
	t.Parallel()
	needRealServers(t)
	home := t.TempDir()
	path := sessionPath(t)
	run := func(name string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command("mcpgraph", args...)
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "PATH="+path, "EXPORTED_NAME=shopping.txt")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, stderr.String())
		}
		return out
	}
	if err := os.WriteFile(filepath.Join(home, "shopping.txt"), []byte("Apples, bread\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("init", "init", "--server", "files=npx -y @modelcontextprotocol/server-filesystem .", "--tool", "read_text_file", "--arg", "path=shopping.txt")
	file := filepath.Join(home, "tools.yaml")
	text := strings.Replace(readFile(t, file), "    command: npx\n", "    command: npx\n    env: {NOTED: \"${EXPORTED_NAME}\"}\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	help := string(run("help", "export", "--help"))
	for _, name := range slices.Sorted(maps.Keys(startedBy)) {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(help) {
			t.Errorf("export has no --for %s", name)
		}
		t.Run(name, func(t *testing.T) {
			entry := parsedEntry(t, name, "files-tools", run(name, "export", "tools.yaml", "--for", name))
			out := entry.call(t, home, &mcp.CallToolParams{Name: "read_text_file", Arguments: map[string]any{"path": "shopping.txt"}})
			if out != `{"content":"Apples, bread\n"}` {
				t.Errorf("got %s", out)
			}
		})
		t.Run(name+" toolkit", func(t *testing.T) {
			entry := parsedEntry(t, name, "files-tools-toolkit", run(name, "export", "tools.yaml", "--for", name, "--toolkit"))
			out := entry.call(t, home, &mcp.CallToolParams{Name: "testMcpTool", Arguments: map[string]any{
				"server": "files", "tool": "read_text_file", "args": map[string]any{"path": "shopping.txt"},
			}})
			if !strings.Contains(out, `"Apples, bread\n"`) {
				t.Errorf("got %s", out)
			}
		})
	}
}

type startedEntry struct{ args, env []string }

// call starts the entry as a desktop client does, calls a tool and returns its structured
// content.
func (entry startedEntry) call(t *testing.T, home string, call *mcp.CallToolParams) string {
	t.Helper()
	cmd := exec.Command(entry.args[0], entry.args[1:]...)
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + home, "USER=somebody"}, entry.env...)
	client := mcp.NewClient(&mcp.Implementation{Name: "desktop", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%q does not start in / with %q: %v", entry.args, entry.env, err)
	}
	defer session.Close()
	result, err := session.CallTool(context.Background(), call)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(result.StructuredContent)
	if err != nil || result.IsError {
		t.Fatalf("%v %v", result, err)
	}
	return string(out)
}

// parsedEntry returns what a program starts for an entry.
func parsedEntry(t *testing.T, program, name string, text []byte) startedEntry {
	t.Helper()
	var document map[string]any
	if program == "codex" {
		document = fromTOML(t, string(text))
	} else if err := yaml.Unmarshal(text, &document); err != nil { // JSON is YAML
		t.Fatalf("%v in\n%s", err, text)
	}
	form := startedBy[program]
	entry, _ := document[form.servers].(map[string]any)
	if list, ok := document[form.servers].([]any); ok {
		entry, _ = list[0].(map[string]any)
	} else {
		entry, _ = entry[name].(map[string]any)
	}
	words := func(v any) (out []string) {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, e := range list {
			out = append(out, e.(string))
		}
		return out
	}
	started := startedEntry{args: words(entry[form.command])}
	if form.args != "" {
		started.args = append(started.args, words(entry[form.args])...)
	}
	env, _ := entry[form.env].(map[string]any)
	for name, v := range env {
		started.env = append(started.env, name+"="+expanded(program, v.(string)))
	}
	for _, key := range []string{"env_vars", "env_keys"} {
		if names, ok := entry[key]; ok {
			for _, name := range words(names) {
				started.env = append(started.env, name+"="+fromClient(name))
			}
		}
	}
	return started
}

// expanded does with a variable what the program, or the person who fills in the entry,
// does.
func expanded(program, text string) string {
	form := map[string]string{
		"claude": `^\$\{(\w+)\}$`, "copilot": `^\$\{(\w+)\}$`, "gemini": `^\$\{(\w+)\}$`,
		"cursor": `^\$\{env:(\w+)\}$`, "vscode": `^\$\{env:(\w+)\}$`, "windsurf": `^\$\{env:(\w+)\}$`,
		"opencode": `^\{env:(\w+)\}$`, "continue": `^\$\{\{ secrets\.(\w+) \}\}$`,
	}[program]
	if form == "" {
		form = `^<the value of (\w+)>$`
	}
	if m := regexp.MustCompile(form).FindStringSubmatch(text); m != nil {
		return fromClient(m[1])
	}
	return text
}

// fromClient is the value of a variable in the client's environment.
func fromClient(name string) string { return "value of " + name }

// fromTOML reads the part of TOML that export writes.
func fromTOML(t *testing.T, text string) map[string]any {
	t.Helper()
	header, rest, _ := strings.Cut(text, "]\n")
	table, name, _ := strings.Cut(strings.TrimPrefix(header, "["), ".")
	server := map[string]any{}
	for line := range strings.Lines(rest) {
		key, literal, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if strings.HasPrefix(literal, "{") {
			literal = regexp.MustCompile(`([{,]) ([\w-]+) = `).ReplaceAllString(literal, `$1 "$2": `)
		}
		var v any
		if err := json.Unmarshal([]byte(literal), &v); !ok || err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		server[key] = v
	}
	return map[string]any{table: map[string]any{name: server}}
}
