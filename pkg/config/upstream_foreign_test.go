package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// entriesOf parses a configuration whose nodes call the servers one, two and
// three of the file.
func entriesOf(t *testing.T, file string, o Options) (map[string]*Upstream, *File, []diag.Diagnostic) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return entriesIn(file, string(source), o)
}

func entriesIn(file, source string, o Options) (map[string]*Upstream, *File, []diag.Diagnostic) {
	config := complete(`
tools:
  - {name: t, description: d, inputSchema: {}, nodes: [{id: a, server: one}, {id: b, server: two}, {id: c, server: three}]}
`)
	o.MCPFiles = []MCPFile{{file, []byte(source)}}
	f, ds := Parse("f.yaml", []byte(config), o)
	found := map[string]*Upstream{}
	for _, u := range f.Upstreams {
		found[u.Name] = u
	}
	return found, f, ds
}

// What each program's file says, as the table of docs/upstreams.md has it. Each
// line is a server, by what it comes to.
func TestFilesOfOtherPrograms(t *testing.T) {
	root, err := filepath.Abs("../../testdata/entries")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TOKEN": "t0ken-value", "HOME": "/home/ada"}
	for _, tt := range []struct {
		file     string
		servers  []string
		disabled string
		warnings []string
	}{
		{"claude-desktop.json", []string{"one stdio npx [-y files-server /data] API_KEY=secret-of-one"}, "", nil},
		{"claude-code.json", []string{
			"one stdio /opt/server [] TOKEN=t0ken-value", "two http https://two.example/mcp Authorization=Bearer t0ken-value", "three sse https://three.example/sse 10m0s",
		}, "", []string{`"alwaysLoad" of server "one" has no effect`, `"oauth" of server "two" has no effect`}},
		{".cursor/mcp.json", []string{
			"one stdio python [ROOT/server.py /home/ada/data] FIRST=one SECOND=two words\nand lines THIRD=as $is API_KEY=overridden TOKEN=t0ken-value",
			"two http? https://two.example/sse Authorization=Bearer t0ken-value",
		}, "", []string{`"auth" of server "two"`}},
		{".vscode/mcp.json", []string{
			"one stdio node [ROOT/server.js --region eu] FIRST=one SECOND=two words\nand lines THIRD=as $is API_KEY=k3y-value",
			"two http https://two.example/mcp X-Key=k3y-value",
		}, "", []string{`"dev" of server "one" has no effect`, `"gallery", "version" of server "two" have no effect`}},
		{"windsurf.json", []string{
			"one stdio npx [-y server] TOKEN=t0ken-value -delete_all", "two http? https://two.example/mcp Authorization=Bearer t0ken-value",
		}, "three", nil},
		{"zed.json", []string{"one stdio npx [server]", "two stdio /usr/bin/server [--stdio] TOKEN=t0ken-value"}, "three",
			[]string{`"source" of server "one" has no effect`, `"source", "settings" of server "two" have no effect`}},
		{"gemini.json", []string{
			"one stdio python [server.py] TOKEN=t0ken-value 15s +read +list -list", "two http https://two.example/mcp Authorization=Bearer t0ken-value 5s", "three http? https://three.example/sse",
		}, "", []string{`"cwd" of server "one" has the relative path "./tools"`, `"trust" of server "one" has no effect`, `"description" of server "two" has no effect`}},
		{"cline.json", []string{"one stdio npx [server] 30m0s", "three sse https://three.example/sse 1m0s"}, "two",
			[]string{`"autoApprove" of server "one" has no effect`, `"autoApprove" of server "three" has no effect`}},
		{"codex.json", []string{"one stdio server [] TOKEN=t0ken-value", "two http? https://two.example/mcp"}, "",
			[]string{`"startup_timeout_sec" of server "one" has no effect`, `"bearer_token_env_var" of server "two" has no effect`}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			found, f, ds := entriesOf(t, filepath.Join(root, tt.file), Options{
				Getenv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }, Inputs: map[string]string{"api-key": "k3y-value"},
			})
			var got []string
			for _, name := range []string{"one", "two", "three"} {
				if u := found[name]; u != nil {
					got = append(got, strings.ReplaceAll(describe(u), root, "ROOT"))
				}
			}
			if !slices.Equal(got, tt.servers) {
				t.Errorf("got  %q\nwant %q", got, tt.servers)
			}
			var off []string
			for _, u := range f.Disabled {
				off = append(off, u.Name)
			}
			if strings.Join(off, " ") != tt.disabled {
				t.Errorf("disabled are %q", off)
			}
			for i, d := range ds {
				if d.Severity != diag.Warning || i >= len(tt.warnings) || !strings.HasPrefix(d.Message, tt.warnings[i]) {
					t.Errorf("%v", d)
				}
			}
			if len(ds) != len(tt.warnings) {
				t.Errorf("%d warnings, want %d", len(ds), len(tt.warnings))
			}
			for _, u := range found {
				text := describe(u)
				for _, secret := range []string{"t0ken-value", "k3y-value", "overridden"} {
					if strings.Contains(text, secret) && !slices.Contains(u.Secrets, secret) {
						t.Errorf("%q is not among the secrets of %s", secret, u.Name)
					}
				}
			}
		})
	}
}

// describe writes what an entry comes to, what is as by default left out.
func describe(u *Upstream) string {
	out := []string{u.Name, u.Transport}
	if u.MayBeSSE {
		out[1] += "?"
	}
	if u.Transport == Stdio {
		out = append(out, u.Command, fmt.Sprint(u.Args))
	} else {
		out = append(out, u.URL)
	}
	for _, v := range u.Env {
		out = append(out, v.Name+"="+v.Value)
	}
	for _, h := range u.Headers {
		out = append(out, h.Name+"="+h.Value)
	}
	if u.Timeout != DefaultTimeout || u.Name == "three" && u.Transport == SSE {
		out = append(out, u.Timeout.String())
	}
	for _, name := range u.Tools.Allow {
		out = append(out, "+"+name)
	}
	for _, name := range u.Tools.Deny {
		out = append(out, "-"+name)
	}
	return strings.Join(out, " ")
}

func TestInputsAreAnswered(t *testing.T) {
	const source = `{"inputs": [{"id": "d", "default": "from-default"}], "servers": {"one": {"command": "x", "args": ["${input:a-b}", "${input:d}"]}}}`
	none := func(string) (string, bool) { return "", false }
	variable := func(n string) (string, bool) { return "from-variable", n == "MCPGRAPH_INPUT_A_B" }
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Getenv: variable}, "from-variable"},
		{Options{Getenv: variable, Inputs: map[string]string{"a-b": "given", "d": "given, too"}}, "given"},
	} {
		found, _, ds := entriesIn("m.json", source, tt.o)
		if u := found["one"]; len(ds) != 0 || u.Args[0] != tt.want || !slices.Contains(u.Secrets, tt.want) {
			t.Errorf("%v, %v", u, ds)
		}
	}
	_, _, ds := entriesIn("m.json", source, Options{Getenv: none})
	if len(ds) != 1 || ds[0].Message != "no value for ${input:a-b}" || ds[0].Hint != "pass --input a-b=VALUE, or set the environment variable MCPGRAPH_INPUT_A_B" {
		t.Errorf("%v", ds)
	}
}

func TestTimeoutOfOtherPrograms(t *testing.T) {
	for entry, want := range map[string]time.Duration{
		`"timeout": 60`:                      time.Minute,
		`"timeout": 999`:                     999 * time.Second,
		`"timeout": 1000`:                    time.Second,
		`"timeout": 600000`:                  10 * time.Minute,
		`"timeout": 3600, "alwaysAllow": []`: time.Hour,
		`"timeout": 60, "timeoutMs": 5`:      5 * time.Millisecond,
		`"type": "stdio"`:                    DefaultTimeout,
	} {
		found, _, _ := entriesIn("m.json", `{"mcpServers": {"one": {"command": "x", `+entry+`}}}`, Options{})
		if got := found["one"].Timeout; got != want {
			t.Errorf("%s: %v, want %v", entry, got, want)
		}
	}
}

func TestDisabledEntryOfTheConfigurationWinsOverAnotherFile(t *testing.T) {
	config := complete(`
mcpServers: {one: {command: "${UNSET_THAT_DOES_NOT_MATTER}", disabled: true}}
tools:
  - {name: t, description: d, inputSchema: {}, nodes: [{id: a, server: one}]}
`)
	f, ds := Parse("f.yaml", []byte(config), Options{MCPFiles: []MCPFile{{"m.json", []byte(`{"mcpServers": {"one": {"command": "x"}}}`)}}})
	if len(f.Upstreams) != 0 || len(f.Disabled) != 1 || len(ds) != 0 {
		t.Errorf("%v, %v, %v", f.Upstreams, f.Disabled, ds)
	}
}

func TestEnvFileThatCannotBeReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.env")
	if err := os.WriteFile(bad, []byte("A=1\nthis is s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"missing.env": "cannot read the file", "bad.env": "line 2 is not NAME=VALUE"} {
		_, _, ds := entriesIn(filepath.Join(dir, "m.json"), `{"mcpServers": {"one": {"command": "x", "envFile": "`+file+`"}}}`, Options{})
		if len(ds) != 1 || !strings.Contains(ds[0].Message, want) || strings.Contains(ds[0].Error(), "s3cret") {
			t.Errorf("%v", ds)
		}
	}
}

func TestVariablesAreEscapedInAddressesUnderAnyName(t *testing.T) {
	getenv := func(string) (string, bool) { return "a&b", true }
	for _, name := range addressNames {
		found, _, ds := entriesIn("m.json", `{"mcpServers": {"one": {"`+name+`": "https://one.example/mcp?key=${KEY}"}}}`, Options{Getenv: getenv})
		if u := found["one"]; len(ds) != 0 || u.URL != "https://one.example/mcp?key=a%26b" {
			t.Errorf("%s: %v, %v", name, u, ds)
		}
	}
}

func TestAuthOfCursorSaysWhatItNeeds(t *testing.T) {
	_, _, ds := entriesOf(t, "../../testdata/entries/.cursor/mcp.json", Options{
		Getenv: func(string) (string, bool) { return "x", true },
	})
	if len(ds) != 1 || !strings.HasPrefix(ds[0].Hint, `"auth": mcpgraph needs a "type" in it`) {
		t.Errorf("%+v", ds)
	}
}
