package cli

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Listeners are named by the command and the flag that says where it listens.
const (
	serveHTTP   = "serve --http"
	toolkitHTTP = "toolkit --http"
	servePage   = "serve --ui"
	uiPage      = "ui --addr"
)

// listeners are the command lines of all commands that listen.
var listeners = map[string][]string{
	serveHTTP:   {"serve", "tools.yaml", "--http", ":0"},
	toolkitHTTP: {"toolkit", "-g", "tools.yaml", "--log-level", "info", "--http", ":0"},
	servePage:   {"serve", "tools.yaml", "--ui", ":0"},
	uiPage:      {"ui", "tools.yaml", "--addr", ":0"},
}

// TestListenersAreKnown finds every flag that opens a port.
func TestListenersAreKnown(t *testing.T) {
	var found []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if is, _ := pflag.UnquoteUsage(f); (is == "ADDR" || is == "HOST:PORT") && f.Name != "temporal" {
				found = append(found, cmd.Name()+" --"+f.Name)
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(rootCommand(&app{}))
	if slices.Sort(found); !slices.Equal(found, slices.Sorted(maps.Keys(listeners))) {
		t.Errorf("the commands listen by %q; the tests of access know %q", found, slices.Sorted(maps.Keys(listeners)))
	}
}

// TestPortsAreOpenedInOnePlace finds what listens beside listen.
func TestPortsAreOpenedInOnePlace(t *testing.T) {
	listens := regexp.MustCompile(`\b(net\.(Listen\w*|FileListener)|ListenConfig|ListenAndServe\w*|tls\.Listen)\b[({]`)
	allowed := map[string]string{
		"internal/cli/listen.go":                    "listen",
		"internal/runsock/server.go":                "a Unix socket in a folder of this user",
		"pkg/upstream/internal/credential/login.go": "the address to which a browser returns from a login, on this machine",
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if slices.Contains([]string{"node_modules", "testdata", ".git", "e2e", "internal/mcptest"}, d.Name()) || name == "internal/mcptest" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && listens.Match(text) != (allowed[name] != "") {
			t.Errorf("%s: listens: %v; commands listen with the function listen alone, which refuses addresses that other machines reach", name, listens.Match(text))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// portal is a command that listens.
type portal struct {
	*testing.T
	name  string
	dir   string // of its file
	base  string // http://HOST:PORT
	token string // of a page
	flags []string
	cmd   *exec.Cmd
	log   chan string // lines of its output after the one that says where it listens
}

var listensAt = regexp.MustCompile(`(http://127\.0\.0\.1:[0-9]+)(?:/mcp|/#token=(\S+))`)

// start starts the command with a file of these settings of the server.
func (p *portal) start(settings string) {
	p.Helper()
	p.dir = p.TempDir()
	for name, text := range map[string]string{
		"tools.yaml": "version: \"1.0\"\nserver:\n  name: t\n  version: \"1\"\n" + settings + `tools:
  - name: look
    description: For everybody
    inputSchema: {type: object}
    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
  - name: wait
    description: Takes an hour
    inputSchema: {type: object}
    nodes: [{id: entry, type: entry, next: long}, {id: long, type: wait, ms: 3600000, next: exit}, {id: exit, type: exit}]
` + p.scoped(settings),
		"callers": "cat cat-cat-cat-cat-cat-cat write\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			p.Fatal(err)
		}
	}
	cmd := exec.Command("mcpgraph", slices.Concat(listeners[p.name], p.flags)...)
	p.cmd = cmd
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "ANN=ann-ann-ann-ann-ann", "BOB=bob-bob-bob-bob-bob", "SECRET=resource-server-secret")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		p.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		p.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	w.Close()
	p.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out.Close()
		stdin.Close()
	})
	p.log = make(chan string, 1000)
	var said strings.Builder
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if at := listensAt.FindStringSubmatch(line); at != nil {
			p.base, p.token = at[1], at[2]
			go func() {
				defer close(p.log)
				for more := bufio.NewScanner(lines); more.Scan(); {
					select {
					case p.log <- more.Text():
					default: // nobody reads them
					}
				}
			}()
			return
		}
		if err != nil {
			p.Fatalf("%s does not listen:\n%s", p.name, said.String())
		}
	}
}

// scoped is a tool for some callers, where the settings say who they are.
func (p *portal) scoped(settings string) string {
	if !strings.Contains(settings, "hideUnscopedTools") {
		return ""
	}
	return `  - name: change
    description: For some
    requiredScopes: [write]
    inputSchema: {type: object}
    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
`
}

func (p *portal) isPage() bool { return p.name == servePage || p.name == uiPage }

// request is what a caller sends. Page is with the token of the page, if it is one.
type request struct {
	token, host, origin string
	tool                string // of serve
	call, args          string // a tool of the toolkit, and its arguments
}

// send returns the status and the body.
func (p *portal) send(r request) (int, string) {
	p.Helper()
	method, path, body := http.MethodGet, "/api/state", ""
	tool, args := r.tool, "{}"
	if tool == "" {
		tool = "look"
	}
	switch {
	case p.isPage():
		if r.token == "" || r.token == goodToken {
			r.token = p.token
		}
		if r.tool != "" {
			method, path, body = http.MethodPost, "/api/sessions", `{"tool":"`+tool+`"}`
		}
	case p.name == toolkitHTTP:
		args, tool = `{"toolName":"`+tool+`","arguments":{}}`, "runGraphTool"
	}
	if r.call != "" {
		tool, args = r.call, r.args
	}
	if !p.isPage() {
		method, path = http.MethodPost, "/mcp"
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, args)
	}
	h, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	for name, text := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool, "Origin": r.origin,
	} {
		if text != "" {
			h.Header.Set(name, text)
		}
	}
	if r.token != "" && r.token != none {
		h.Header.Set("Authorization", "Bearer "+r.token)
	}
	h.Host = r.host
	answer, err := http.DefaultClient.Do(h)
	if err != nil {
		return 0, err.Error() // at the end of the test
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}

// Tokens of requests.
const (
	none      = "-"
	goodToken = "ann-ann-ann-ann-ann"
)

// serverCase tries settings of the server at all listeners: each request gets the same
// status everywhere, but for those of the page, which has a token of its own.
type serverCase struct {
	settings []string // that the case tries, by their paths
	yaml     string
	requests []struct {
		request
		mcp, page int
	}
	toolkit map[int]int   // statuses of the toolkit where they differ, by the number of the request
	custom  func(*portal) // what else is tried
}

func TestSettingsOfTheServerHoldWhereverItListens(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t, "-jwt")
	opaque := mcptest.StartAuthServer(t)
	type requests = []struct {
		request
		mcp, page int
	}
	bearer := requests{
		{request{token: none}, 401, 401},
		{request{token: "wrong-wrong-wrong-wrong"}, 401, 401},
		{request{token: goodToken}, 200, 200},
	}
	oauth := func(url, more string) string {
		return "  auth:\n    type: oauth\n    issuer: " + url + "\n    audience: urn:tools\n    publicUrl: https://tools.example/mcp\n" + more
	}
	limits := func(more string) serverCase {
		return serverCase{yaml: "  maxCallWaitMs: 1\n" + more, custom: func(p *portal) {
			answers := make(chan string, 2)
			for range 2 {
				go func() {
					_, text := p.send(request{tool: "wait"})
					answers <- text
				}()
			}
			if p.isPage() {
				if both := <-answers + <-answers; strings.Count(both, `"too_many_sessions"`) != 1 || strings.Count(both, `"id"`) != 1 {
					p.Errorf("two runs: %s", both)
				}
			} else if got := <-answers; !strings.Contains(got, ": 1 call is running; the call was not run") {
				p.Errorf("beside another call: %s", got)
			}
		}}
	}
	limit := func(name string) serverCase {
		c := limits("  " + name + ": 1\n")
		c.settings = []string{name, "maxCallWaitMs"}
		return c
	}
	cases := map[string]serverCase{
		"tokens": {
			settings: []string{"auth", "auth.type", "auth.tokens", "auth.tokens.token", "auth.tokens.scopes"},
			yaml:     "  auth:\n    type: bearer\n    tokens:\n      ann: \"${ANN}\"\n      bob: {token: \"${BOB}\", scopes: [write]}\n",
			requests: append(bearer, requests{{request{token: "bob-bob-bob-bob-bob"}, 200, 401}}...),
		},
		"file of tokens": {
			settings: []string{"auth.tokensFile"},
			yaml:     "  auth: {type: bearer, tokensFile: callers}\n",
			requests: requests{
				{request{token: none}, 401, 401},
				{request{token: "wrong-wrong-wrong-wrong"}, 401, 401},
				{request{token: "cat-cat-cat-cat-cat-cat"}, 200, 401},
			},
		},
		"scopes": {
			settings: []string{"hideUnscopedTools"},
			yaml:     "  hideUnscopedTools: true\n  auth:\n    type: bearer\n    tokens:\n      ann: \"${ANN}\"\n      bob: {token: \"${BOB}\", scopes: [write]}\n",
			requests: requests{
				{request{token: goodToken}, 200, 200},
				{request{token: "bob-bob-bob-bob-bob"}, 200, 401},
			},
			toolkit: map[int]int{0: 403}, // who uses it can use every tool
		},
		"access tokens": {
			settings: []string{"auth.issuer", "auth.audience", "auth.publicUrl", "auth.requiredScopes"},
			yaml:     oauth(as.URL, "    requiredScopes: [read]\n"),
			requests: requests{
				{request{token: none}, 401, 401},
				{request{token: as.ClientToken(t, "read", "urn:tools")}, 200, 401},
				{request{token: as.ClientToken(t, "read", "urn:others")}, 401, 401},
				{request{token: as.ClientToken(t, "write", "urn:tools")}, 403, 401},
			},
			custom: func(p *portal) {
				answer, err := http.Get(p.base + "/.well-known/oauth-protected-resource/mcp")
				if err != nil {
					p.Fatal(err)
				}
				defer answer.Body.Close()
				text, _ := io.ReadAll(answer.Body)
				if want := `"resource":"https://tools.example/mcp"`; !p.isPage() && !strings.Contains(string(text), want) {
					p.Errorf("the metadata is %s, without %s", text, want)
				}
			},
		},
		"keys": {
			settings: []string{"auth.jwks"},
			yaml:     oauth(as.URL, "    jwks: "+as.URL+"/nowhere\n"),
			requests: requests{{request{token: as.ClientToken(t, "read", "urn:tools")}, 503, 401}},
		},
		"introspection": {
			settings: []string{"auth.introspection", "auth.introspection.url", "auth.introspection.clientId", "auth.introspection.clientSecret"},
			yaml:     oauth(opaque.URL, "    introspection: {url: "+opaque.URL+"/introspect, clientId: resource-server, clientSecret: \"${SECRET}\"}\n"),
			requests: requests{
				{request{token: opaque.ClientToken(t, "read", "urn:tools")}, 200, 401},
				{request{token: opaque.ClientToken(t, "read", "urn:others")}, 401, 401},
			},
		},
		"hosts": {
			settings: []string{"allowedHosts"},
			yaml:     "  allowedHosts: [tools.example]\n",
			requests: requests{
				{request{host: "tools.example"}, 200, 200},
				{request{host: "tools.example:8443"}, 200, 200},
				{request{host: "other.example"}, 403, 403},
				{request{host: "tools.example:8443.other.example"}, 403, 403},
				{request{host: "127.0.0.1:80.other.example"}, 403, 403},
			},
		},
		"origins": {
			settings: []string{"allowedOrigins"},
			yaml:     "  allowedOrigins: [https://good.example]\n",
			requests: requests{
				{request{origin: "https://good.example"}, 200, 200},
				{request{origin: "https://other.example"}, 403, 403},
			},
		},
		"calls":            limit("maxConcurrentCalls"),
		"calls of callers": limit("maxConcurrentCallsPerCaller"),
	}
	// These say who the server is. The toolkit and the page have names of their own.
	seen := map[string]bool{"name": true, "version": true, "title": true, "instructions": true, "description": true}
	for _, c := range cases {
		for _, path := range c.settings {
			seen[path] = true
		}
	}
	known := map[string]bool{}
	var walk func(prefix string, settings []config.Setting)
	walk = func(prefix string, settings []config.Setting) {
		for _, s := range settings {
			known[prefix+s.Name] = true
			if !seen[prefix+s.Name] {
				t.Errorf("server.%s%s is not tried at the commands that listen", prefix, s.Name)
			}
			walk(prefix+s.Name+".", s.Fields)
		}
	}
	at := slices.IndexFunc(config.Settings(), func(s config.Setting) bool { return s.Name == "server" })
	walk("", config.Settings()[at].Fields)
	for path := range seen {
		if !known[path] {
			t.Errorf("server.%s does not exist any more", path)
		}
	}
	for what, c := range cases {
		for listener := range listeners {
			t.Run(what+"/"+listener, func(t *testing.T) {
				t.Parallel()
				p := &portal{T: t, name: listener}
				p.start(c.yaml)
				for i, r := range c.requests {
					want := r.mcp
					if p.isPage() {
						want = r.page
					} else if status, ok := c.toolkit[i]; ok && listener == toolkitHTTP {
						want = status
					}
					if status, text := p.send(r.request); status != want || want == 200 && strings.Contains(text, `"isError":true`) {
						t.Errorf("%+v: HTTP %d, want %d: %s", r.request, status, want, text)
					}
				}
				if c.custom != nil {
					c.custom(p)
				}
			})
		}
	}
}
