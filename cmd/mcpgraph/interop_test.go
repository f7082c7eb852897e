package main

//lint:file-ignore SA1019 servers ask clients of revisions with sessions on the stream of GET

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// interopColumns are the columns of the measured table of docs/clients.md behind the
// client and its version.
var interopColumns = []string{"schemas listed, called", "structured output", "progress", "elicitation", "tasks", "after a restart", "beyond its timeout"}

// interopClients are the clients that are measured, in the order of the table.
var interopClients = []interopClient{
	{name: "TypeScript SDK 1", in: "realservers", of: "@modelcontextprotocol/sdk", full: true},
	{name: "TypeScript SDK 1, old", in: "realservers", of: "sdk-old"},
	{name: "TypeScript SDK 2", in: "realservers", of: "@modelcontextprotocol/client", full: true},
	{name: "mcp-remote", in: "realservers", of: "mcp-remote", onlyHTTP: true, full: true},
	{name: "AI SDK", in: "realservers", of: "@ai-sdk/mcp"},
	{name: "LangChain", in: "interop", of: "@langchain/mcp-adapters", extra: true},
	{name: "mcp-use", in: "interop", of: "mcp-use", extra: true},
	{name: "Go SDK", of: "github.com/modelcontextprotocol/go-sdk", connect: interopGoSDK},
	{name: "mcp-go", of: "github.com/mark3labs/mcp-go", connect: interopMCPGo},
}

// interopClient is a client of another maker.
type interopClient struct {
	name     string
	in, of   string // folder of testdata with its package, and the package or module
	onlyHTTP bool   // it connects over HTTP alone
	full     bool   // it is measured if all cases are asked for
	extra    bool   // it is measured by make interop alone
	connect  func(t *testing.T, url string, args []string) (interopConn, error)
}

// interopConn is a client that has connected.
type interopConn interface {
	list() ([]string, error)
	call(c interopCall) interopResult
}

type interopCall struct {
	Do       string         `json:"do"`
	Tool     string         `json:"tool"`
	Args     map[string]any `json:"args"`
	Timeout  int            `json:"timeout,omitempty"` // milliseconds; 0: interopTimeout
	Progress bool           `json:"progress,omitempty"`
}

type interopResult struct {
	Tools      []string
	Text       string
	Structured any
	IsError    bool
	Progress   int
	Error      string
}

// version returns the version that is installed, empty if none is.
func (c interopClient) version(t *testing.T, root string) string {
	if c.in == "" {
		mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(regexp.QuoteMeta(c.of) + ` v(\S+)`).FindSubmatch(mod); m != nil {
			return string(m[1])
		}
		return ""
	}
	text, err := os.ReadFile(filepath.Join(root, "testdata", c.in, "node_modules", filepath.FromSlash(c.of), "package.json"))
	if err != nil {
		return ""
	}
	var p struct{ Version string }
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return p.Version
}

// open connects the client to a server at the address, or to one that it starts with
// the arguments.
func (c interopClient) open(t *testing.T, root, url string, args []string) (interopConn, error) {
	if c.connect != nil {
		return c.connect(t, url, args)
	}
	place := map[string]any{"command": binary, "args": args}
	if url != "" {
		place = map[string]any{"url": url}
	}
	where, err := json.Marshal(place)
	if err != nil {
		return nil, err
	}
	modules := func(folder string) string { return filepath.Join(root, "testdata", folder, "node_modules") }
	cmd := exec.CommandContext(t.Context(), filepath.Join(mcptest.RealServers(t), "node"), "testdata/interop.mjs", modules("realservers"), modules("interop"), c.of, string(where))
	cmd.Env = append(os.Environ(), "MCP_USE_ANONYMIZED_TELEMETRY=false", "MCP_REMOTE_CONFIG_DIR="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		in.Close()
		<-done
	})
	p := &interopProcess{in: in, lines: make(chan string, 16)}
	go func() {
		defer close(done)
		defer close(p.lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			if line, ok := strings.CutPrefix(scan.Text(), ">"); ok { // what libraries print stands beside
				p.lines <- line
			}
		}
		_ = cmd.Wait()
	}()
	if _, ok := <-p.lines; !ok {
		<-done
		return nil, errors.New("it does not connect: " + stderr.String())
	}
	return p, nil
}

// interopProcess is a client of TypeScript.
type interopProcess struct {
	in    io.Writer
	lines chan string
}

func (p *interopProcess) ask(c interopCall) (r interopResult) {
	line, err := json.Marshal(c)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		return interopResult{Error: err.Error()}
	}
	answer, ok := <-p.lines
	if !ok {
		return interopResult{Error: "the client ended"}
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		r.Error = err.Error()
	}
	return r
}

func (p *interopProcess) list() ([]string, error) {
	r := p.ask(interopCall{Do: "list"})
	if r.Error != "" {
		return nil, errors.New(r.Error)
	}
	return r.Tools, nil
}

func (p *interopProcess) call(c interopCall) interopResult {
	c.Do = "call"
	if c.Timeout == 0 {
		c.Timeout = interopTimeout
	}
	return p.ask(c)
}

// interopGo is a client of Go: list and call, and how often progress came.
type interopGo struct {
	heard *heard
	tools func(context.Context) ([]string, error)
	do    func(ctx context.Context, c interopCall, token string) (interopResult, error)
}

func (g *interopGo) list() ([]string, error) { return g.tools(context.Background()) }

func (g *interopGo) call(c interopCall) interopResult {
	ctx, token := context.Background(), ""
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.Timeout)*time.Millisecond)
		defer cancel()
	}
	if c.Progress {
		token = "interop"
	}
	r, err := g.do(ctx, c, token)
	if err != nil {
		r.Error = err.Error()
	}
	g.heard.mu.Lock()
	r.Progress = len(g.heard.progress)
	g.heard.mu.Unlock()
	return r
}

func interopGoSDK(t *testing.T, url string, args []string) (interopConn, error) {
	h := &heard{}
	c := official.NewClient(&official.Implementation{Name: "interop", Version: "1"}, &official.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *official.ProgressNotificationClientRequest) { h.add(r.Params.Progress) },
		ElicitationHandler: func(context.Context, *official.ElicitRequest) (*official.ElicitResult, error) {
			return &official.ElicitResult{Action: "accept", Content: map[string]any{"yes": true}}, nil
		},
	})
	var over official.Transport = &official.StreamableClientTransport{Endpoint: url}
	if url == "" {
		over = &official.CommandTransport{Command: exec.Command(binary, args...)}
	}
	s, err := c.Connect(t.Context(), over, nil)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { s.Close() })
	return &interopGo{h, (&goSDK{ClientSession: s}).tools, func(ctx context.Context, c interopCall, token string) (interopResult, error) {
		params := &official.CallToolParams{Name: c.Tool, Arguments: c.Args}
		if token != "" {
			params.SetProgressToken(token)
		}
		r, err := s.CallTool(ctx, params)
		if err != nil {
			return interopResult{}, err
		}
		block, _ := r.Content[0].(*official.TextContent)
		return interopResult{Text: block.Text, Structured: r.StructuredContent, IsError: r.IsError}, nil
	}}, nil
}

// yes answers every question of a server.
type yes struct{}

func (yes) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"yes": true}}}, nil
}

func interopMCPGo(t *testing.T, url string, args []string) (interopConn, error) {
	h := &heard{}
	var over transport.Interface = transport.NewStdioWithOptions(binary, nil, args)
	if url != "" {
		web, err := transport.NewStreamableHTTP(url, transport.WithContinuousListening())
		if err != nil {
			return nil, err
		}
		over = web
	}
	c := client.NewClient(over, client.WithElicitationHandler(yes{}))
	if err := c.Start(context.Background()); err != nil {
		return nil, err
	}
	t.Cleanup(func() { c.Close() })
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == string(mcp.MethodNotificationProgress) {
			h.add(0)
		}
	})
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = legacyRevision
	hello.Params.ClientInfo = mcp.Implementation{Name: "interop", Version: "1"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		return nil, err
	}
	return &interopGo{h, mcpGo{c}.tools, func(ctx context.Context, ask interopCall, token string) (interopResult, error) {
		request := mcp.CallToolRequest{}
		request.Params.Name, request.Params.Arguments = ask.Tool, ask.Args
		if token != "" {
			request.Params.Meta = &mcp.Meta{ProgressToken: token}
		}
		r, err := c.CallTool(ctx, request)
		if err != nil {
			return interopResult{}, err
		}
		return interopResult{Text: text(r), Structured: r.StructuredContent, IsError: r.IsError}, nil
	}}, nil
}

// interopTimeout is the timeout of a client that a call is longer than. Signs of life come
// every 15 seconds.
const interopTimeout, interopPause = 20_000, 35_000

// measure measures a client: a cell for each column, and why those are not "yes". Without
// slow the last column is empty.
func (c interopClient) measure(t *testing.T, root, schemas string, slow bool) (cells []string, why []string) {
	cell := func(ok bool, problem string) {
		if ok {
			cells = append(cells, "yes")
			return
		}
		cells = append(cells, "no")
		why = append(why, fmt.Sprintf("%s: %s: %s", c.name, interopColumns[len(cells)-1], problem))
	}
	// Schemas: over stdio where it can.
	url, serve := "", []string{"serve", schemas, "--log-level", "error"}
	if c.onlyHTTP {
		w := serveWeb(t, nil, schemas)
		defer w.stop()
		url = w.base + "/mcp"
	}
	conn, err := c.open(t, root, url, serve)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	names, err := conn.list()
	if err != nil {
		why = append(why, fmt.Sprintf("%s: tools/list: %v", c.name, err))
	}
	called := 0
	for _, name := range names {
		if r := conn.call(interopCall{Tool: name, Args: map[string]any{}}); r.Error == "" && !r.IsError {
			called++
		} else {
			why = append(why, fmt.Sprintf("%s: %s: %s%s", c.name, name, r.Error, r.Text))
		}
	}
	cells = append(cells, fmt.Sprintf("%d, %d of %d", len(names), called, len(schemaKeywords)))

	env := []string{"XDG_STATE_HOME=" + t.TempDir()}
	w := serveWeb(t, env, "testdata/interop.yaml")
	front := newBalancer(t, w)
	if conn, err = c.open(t, root, front.URL+"/mcp", nil); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	r := conn.call(interopCall{Tool: "pair", Args: map[string]any{"n": 7}})
	structured, _ := json.Marshal(r.Structured)
	cell(strings.Contains(string(structured), `"n":7`), fmt.Sprintf("%s%s %s", r.Error, r.Text, structured))
	r = conn.call(interopCall{Tool: "pause", Args: map[string]any{"ms": 1000}, Progress: true})
	cell(r.Progress > 0, fmt.Sprintf("%s%s", r.Error, r.Text))
	r = conn.call(interopCall{Tool: "sure", Args: map[string]any{}})
	cell(strings.Contains(r.Text, "true"), r.Error+r.Text)
	r = conn.call(interopCall{Tool: "task", Args: map[string]any{}})
	cell(strings.Contains(r.Text, "done"), r.Error+r.Text)
	_ = w.cmd.Process.Kill()
	<-w.done
	again := serveWeb(t, env, "testdata/interop.yaml")
	defer again.stop()
	front.use(t, again)
	r = conn.call(interopCall{Tool: "pair", Args: map[string]any{"n": 8}})
	cell(strings.Contains(r.Text, "8"), r.Error+r.Text)
	if slow {
		r = conn.call(interopCall{Tool: "pause", Args: map[string]any{"ms": interopPause}, Timeout: interopTimeout, Progress: true})
		cell(strings.Contains(r.Text, "begun"), r.Error+r.Text)
	}
	return cells, why
}

var measuredTable = regexp.MustCompile(`(?s)(<!-- measured clients -->\n)(.*?)(<!-- end -->)`)

// TestInterop measures clients of other makers and compares them with docs/clients.md. With
// MCPGRAPH_INTEROP=1, as make interop does, it measures all of them, prints the table, and
// writes it there with UPDATE=1; otherwise the small ones that are installed, and the
// column that takes half a minute of one of them, if all cases are asked for.
func TestInterop(t *testing.T) {
	t.Parallel()
	all := os.Getenv("MCPGRAPH_INTEROP") != ""
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(root, "docs", "clients.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	documented := measuredTable.FindSubmatch(text)
	if documented == nil {
		t.Fatalf("%s has no measured table", page)
	}
	header := fmt.Sprintf("| client | version | %s |\n%s|\n", strings.Join(interopColumns, " | "), strings.Repeat("|---", 2+len(interopColumns)))
	rows, isTable := strings.CutPrefix(string(documented[2]), header)
	lines := strings.Split(strings.TrimSpace(rows), "\n")
	if !all && (!isTable || len(lines) != len(interopClients)) {
		t.Fatalf("the measured table of docs/clients.md has another form than `make interop` prints:\n%s", documented[2])
	}
	schemas := schemasFile(t)
	table := make([]string, len(interopClients))
	t.Run("clients", func(t *testing.T) {
		for i, c := range interopClients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				if !all {
					switch cells := strings.Split(lines[i], " | "); {
					case len(cells) != 2+len(interopColumns) || cells[0] != "| "+c.name:
						t.Fatalf("docs/clients.md has %s", lines[i])
					case c.extra:
						t.Skip("make interop measures it")
					case c.full:
						testscale.OnlyFull(t)
					}
				}
				if c.in == "realservers" {
					mcptest.RealPackage(t, c.of)
				}
				version := c.version(t, root)
				if version == "" {
					t.Fatalf("%s is not installed: run npm ci in testdata/%s", c.of, c.in)
				}
				slow := all || c.of == "sdk-old" && testscale.Full()
				cells, why := c.measure(t, root, schemas, slow)
				for _, line := range why {
					t.Log(line)
				}
				row := fmt.Sprintf("| %s | %s | %s", c.name, version, strings.Join(cells, " | "))
				if table[i] = row + " |"; !all && !strings.HasPrefix(lines[i], row+" |") {
					t.Errorf("measured %s, and docs/clients.md has %s: run make interop", row, lines[i])
				}
			})
		}
	})
	if !all || t.Failed() {
		return
	}
	got := header + strings.Join(table, "\n") + "\n"
	fmt.Print(got)
	switch {
	case os.Getenv("UPDATE") != "":
		text = measuredTable.ReplaceAll(text, slices.Concat([]byte("${1}"), []byte(got), []byte("${3}")))
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	case got != string(documented[2]):
		t.Errorf("docs/clients.md has another table: UPDATE=1 make interop writes it")
	}
}
