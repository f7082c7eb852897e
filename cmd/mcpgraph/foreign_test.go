package main

//lint:file-ignore SA1019 log messages are deprecated, and clients ask for them still

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

const legacyRevision, modernRevision = "2025-11-25", "2026-07-28"

// foreignToken is what callers over HTTP show.
const foreignToken = "0123456789abcdef-foreign"

// heard is what a client was told beside answers.
type heard struct {
	mu       sync.Mutex
	progress []float64
	logs     []string
}

func (h *heard) add(progress float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = append(h.progress, progress)
}

func (h *heard) log(data any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logs = append(h.logs, fmt.Sprint(data))
}

// foreign is a client of another maker.
type foreign interface {
	tools(ctx context.Context) ([]string, error)
	// call gives the text of the result, and whether it is an error; token may be
	// empty.
	call(ctx context.Context, name string, args map[string]any, token string) (string, bool, error)
	setLevel(ctx context.Context, level string) error
	read(ctx context.Context, uri string) (string, error)
	close() error
}

// bearing shows the token.
type bearing struct{}

func (bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+foreignToken)
	return http.DefaultTransport.RoundTrip(r)
}

// goSDK is the client of the official Go SDK.
type goSDK struct {
	*official.ClientSession
	level string // of log messages, that each request of revision 2026-07-28 asks for
}

// connectGoSDK connects over HTTP, or where url is empty to a program of its own.
func connectGoSDK(t *testing.T, url, revision string, env []string, args []string, h *heard) foreign {
	t.Helper()
	c := official.NewClient(&official.Implementation{Name: "test", Version: "1"}, &official.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *official.ProgressNotificationClientRequest) { h.add(r.Params.Progress) },
		LoggingMessageHandler:       func(_ context.Context, r *official.LoggingMessageRequest) { h.log(r.Params.Data) },
	})
	var over official.Transport = &official.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearing{}}}
	if url == "" {
		cmd := exec.Command(binary, args...)
		cmd.Env = append(os.Environ(), env...)
		over = &official.CommandTransport{Command: cmd}
	}
	s, err := c.Connect(t.Context(), over, &official.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.InitializeResult().ProtocolVersion; got != revision {
		t.Errorf("the revision is %s", got)
	}
	return &goSDK{ClientSession: s}
}

func (s *goSDK) tools(ctx context.Context) (names []string, _ error) {
	for tool, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (s *goSDK) call(ctx context.Context, name string, args map[string]any, token string) (string, bool, error) {
	params := &official.CallToolParams{Name: name, Arguments: args}
	if s.level != "" {
		params.SetMeta(map[string]any{"io.modelcontextprotocol/logLevel": s.level})
	}
	if token != "" {
		params.SetProgressToken(token)
	}
	r, err := s.CallTool(ctx, params)
	if err != nil {
		return "", false, err
	}
	text, _ := r.Content[0].(*official.TextContent)
	return text.Text, r.IsError, nil
}

func (s *goSDK) setLevel(ctx context.Context, level string) error {
	if s.InitializeResult().ProtocolVersion == modernRevision {
		s.level = level // the SDK has no other way
		return nil
	}
	return s.SetLoggingLevel(ctx, &official.SetLoggingLevelParams{Level: official.LoggingLevel(level)})
}

func (s *goSDK) read(ctx context.Context, uri string) (string, error) {
	r, err := s.ReadResource(ctx, &official.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	return r.Contents[0].Text, nil
}

func (s *goSDK) close() error { return s.Close() }

// mcpGo is the client of mcp-go.
type mcpGo struct{ *client.Client }

func connectMCPGo(t *testing.T, url, revision string, env []string, args []string, h *heard) foreign {
	t.Helper()
	var over transport.Interface = transport.NewStdioWithOptions(binary, env, args)
	if url != "" {
		web, err := transport.NewStreamableHTTP(url, transport.WithHTTPBasicClient(&http.Client{Transport: bearing{}}))
		if err != nil {
			t.Fatal(err)
		}
		over = web
	}
	c := client.NewClient(over, client.WithProtocolVersion(revision))
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		switch fields := n.Params.AdditionalFields; n.Method {
		case string(mcp.MethodNotificationProgress):
			at, _ := fields["progress"].(float64)
			h.add(at)
		case string(mcp.MethodNotificationMessage):
			h.log(fields["data"])
		}
	})
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = revision
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	r, err := c.Initialize(t.Context(), hello)
	if err != nil {
		t.Fatal(err)
	}
	if r.ProtocolVersion != revision {
		t.Errorf("the revision is %s", r.ProtocolVersion)
	}
	return mcpGo{c}
}

func (c mcpGo) tools(ctx context.Context) (names []string, _ error) {
	r, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c mcpGo) call(ctx context.Context, name string, args map[string]any, token string) (string, bool, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = name, args
	if token != "" {
		request.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	r, err := c.CallTool(ctx, request)
	if err != nil {
		return "", false, err
	}
	return text(r), r.IsError, nil
}

func (c mcpGo) setLevel(ctx context.Context, level string) error {
	request := mcp.SetLevelRequest{}
	request.Params.Level = mcp.LoggingLevel(level)
	return c.SetLevel(ctx, request)
}

func (c mcpGo) read(ctx context.Context, uri string) (string, error) {
	request := mcp.ReadResourceRequest{}
	request.Params.URI = uri
	r, err := c.ReadResource(ctx, request)
	if err != nil {
		return "", err
	}
	contents, _ := r.Contents[0].(mcp.TextResourceContents)
	return contents.Text, nil
}

func (c mcpGo) close() error { return c.Close() }

// TestForeignClients tries clients of two other makers in both eras of the
// protocol over both transports.
func TestForeignClients(t *testing.T) {
	t.Parallel()
	const file = "testdata/foreign.yaml"
	for maker, connect := range map[string]func(*testing.T, string, string, []string, []string, *heard) foreign{
		"Go SDK": connectGoSDK, "mcp-go": connectMCPGo,
	} {
		for _, revision := range []string{legacyRevision, modernRevision} {
			for _, over := range []string{"stdio", "http"} {
				t.Run(maker+" "+revision+" "+over, func(t *testing.T) {
					t.Parallel()
					fake := &mcptest.Web{Events: true, Modern: true}
					upstream := httptest.NewServer(fake)
					defer upstream.Close()
					env := []string{"UPSTREAM=" + upstream.URL, "MCPGRAPH_AUTH_TOKENS=foreign " + foreignToken}
					url := ""
					if over == "http" {
						w := serveWeb(t, env, file, "--expose-runs", "--auth", "bearer")
						defer w.stop()
						url = w.base + "/mcp"
					}
					h := &heard{}
					c := connect(t, url, revision, env, []string{"serve", file, "--expose-runs"}, h)
					defer func() {
						if err := c.close(); err != nil {
							t.Error(err)
						}
					}()
					tryForeign(t, c, h, fake)
				})
			}
		}
	}
}

func tryForeign(t *testing.T, c foreign, h *heard, fake *mcptest.Web) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	names, err := c.tools(ctx)
	if err != nil || !slices.Contains(names, "pair") || len(names) != 3 {
		t.Fatalf("tools: %v, %v", names, err)
	}
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			got, failed, err := c.call(ctx, "pair", map[string]any{"n": i}, "")
			if want := fmt.Sprintf(`{"n":%d}`, i); err != nil || failed || got != want {
				t.Errorf("call %d: %s, %v, %v", i, got, failed, err)
			}
		})
	}
	all.Wait()
	if got, failed, err := c.call(ctx, "pair", map[string]any{"n": "x"}, ""); err != nil || !failed || !strings.Contains(got, "n: expected an integer") {
		t.Errorf("wrong arguments: %s, %v, %v", got, failed, err)
	}
	if _, _, err := c.call(ctx, "pear", nil, ""); err == nil || !strings.Contains(err.Error(), `did you mean "pair"?`) {
		t.Errorf("an unknown tool: %v", err)
	}
	if got, failed, err := c.call(ctx, "work", map[string]any{}, ""); err != nil || failed {
		t.Errorf("work: %s, %v, %v", got, failed, err)
	}
	h.mu.Lock()
	if len(h.progress) > 0 || len(h.logs) > 0 {
		t.Errorf("unasked: %v, %v", h.progress, h.logs)
	}
	h.mu.Unlock()
	if err := c.setLevel(ctx, "info"); err != nil {
		t.Error(err)
	}
	if got, failed, err := c.call(ctx, "work", map[string]any{}, "mine"); err != nil || failed {
		t.Errorf("work: %s, %v, %v", got, failed, err)
	}
	eventually(t, "progress and log messages", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.progress) >= 3 && len(h.logs) == 2
	})
	h.mu.Lock()
	if !slices.IsSorted(h.progress) || h.logs[0] != "hello" {
		t.Errorf("%v, %v", h.progress, h.logs)
	}
	h.mu.Unlock()
	if got, err := c.read(ctx, "mcpgraph://runs"); err != nil || !strings.Contains(got, `"work"`) {
		t.Errorf("runs: %s, %v", got, err)
	}
	if _, err := c.read(ctx, "mcpgraph://runs/none"); err == nil || !strings.Contains(err.Error(), "unknown resource") {
		t.Errorf("a run that is not there: %v", err)
	}
	// What the client cancels ends, and is then among the runs.
	hanging, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, _, err := c.call(hanging, "hang", map[string]any{}, "")
		ended <- err
	}()
	eventually(t, "the call upstream", func() bool {
		return slices.ContainsFunc(fake.Arrivals("tools/call"), func(a mcptest.Arrival) bool { return strings.Contains(a.Body, `"hang"`) })
	})
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call ended with %v", err)
	}
	eventually(t, "the end of the run", func() bool {
		got, err := c.read(ctx, "mcpgraph://runs")
		return err == nil && strings.Contains(got, `"hang"`)
	})
}

// TestForeignClientsOfTypeScript tries both generations of the official
// TypeScript SDK, in the eras of the protocol that each speaks.
func TestForeignClientsOfTypeScript(t *testing.T) {
	t.Parallel()
	bin := mcptest.RealServers(t)
	const file = "testdata/foreign.yaml"
	for _, of := range []struct{ generation, revision string }{
		{"sdk", legacyRevision}, {"client", legacyRevision}, {"client", modernRevision},
	} {
		for _, over := range []string{"stdio", "http"} {
			t.Run(of.generation+" "+of.revision+" "+over, func(t *testing.T) {
				t.Parallel()
				if over != "http" || of.revision != modernRevision {
					testscale.OnlyFull(t)
				}
				upstream := httptest.NewServer(&mcptest.Web{Events: true, Modern: true})
				defer upstream.Close()
				env := []string{"UPSTREAM=" + upstream.URL, "MCPGRAPH_AUTH_TOKENS=foreign " + foreignToken}
				place := map[string]any{"command": binary, "args": []string{"serve", file, "--expose-runs"}}
				if over == "http" {
					w := serveWeb(t, env, file, "--expose-runs", "--auth", "bearer")
					defer w.stop()
					place = map[string]any{"url": w.base + "/mcp", "token": foreignToken}
				}
				where, err := json.Marshal(place)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, filepath.Join(bin, "node"), "testdata/foreign.mjs", filepath.Dir(bin), of.generation, of.revision, string(where))
				cmd.Env = append(os.Environ(), env...)
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v\n%s", err, stderrOf(err))
				}
				var got struct {
					Tools                           []string
					Many                            int
					Wrong, Unknown, Work, Cancelled json.RawMessage
					Progress                        []float64
					Logs                            []any
					Runs                            string
				}
				if err := json.Unmarshal(out, &got); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Tools, []string{"pair", "work", "hang"}) || got.Many != 64 {
					t.Errorf("%v, %d calls", got.Tools, got.Many)
				}
				for text, want := range map[string]string{
					string(got.Wrong): `n: expected an integer`, string(got.Unknown): `"code":-32602`,
					string(got.Work): `done`, got.Runs: `"work"`,
				} {
					if !strings.Contains(text, want) {
						t.Errorf("%s, want %s", text, want)
					}
				}
				if strings.Contains(string(got.Cancelled), "content") {
					t.Errorf("cancelled: %s", got.Cancelled)
				}
				// The SDK drops progress that it reads together with the result.
				if len(got.Progress) == 0 || len(got.Logs) < 2 || !slices.IsSorted(got.Progress) || !slices.Equal(got.Logs[:2], []any{"hello", "hello"}) {
					t.Errorf("%v, %v", got.Progress, got.Logs)
				}
			})
		}
	}
}
