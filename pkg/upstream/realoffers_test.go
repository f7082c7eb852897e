package upstream

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// everythingOffered tries what server-everything has beside tools.
func everythingOffered(t *testing.T, p *Pool) {
	t.Helper()
	ctx := context.Background()
	prompts, err := p.Prompts(ctx, nil, "fake")
	if err != nil || len(prompts) < 4 {
		t.Errorf("%d prompts, %v", len(prompts), err)
	}
	resources, err := p.Resources(ctx, nil, "fake")
	if err != nil || len(resources) < 5 {
		t.Errorf("%d resources, %v", len(resources), err)
	}
	templates, err := p.ResourceTemplates(ctx, nil, "fake")
	if err != nil || len(templates) != 2 {
		t.Errorf("%d templates, %v", len(templates), err)
	}
	if s, err := p.Status(ctx, nil, "fake"); err != nil || s.Prompts != len(prompts) || s.Resources != len(resources) || s.Templates != 2 {
		t.Errorf("%d prompts, %d resources, %d templates, %v", s.Prompts, s.Resources, s.Templates, err)
	}
	prompt, err := p.GetPrompt(ctx, nil, "fake", "args-prompt", parsed(t, `{"city":"Berlin","state":"BE"}`))
	if err != nil || !strings.Contains(prompt.Get("messages").JSON(), "Berlin") {
		t.Error(prompt.JSON(), err)
	}
	contents, err := p.ReadResource(ctx, nil, "fake", "demo://resource/dynamic/text/7")
	if err != nil || !strings.Contains(contents.Get("contents").Elems()[0].Get("text").Str(), "Resource 7") {
		t.Error(contents.JSON(), err)
	}
	found, err := p.Complete(ctx, nil, "fake", parsed(t, `{"ref":{"type":"ref/prompt","name":"completable-prompt"},
		"argument":{"name":"name","value":"A"},"context":{"arguments":{"department":"Engineering"}}}`))
	if got := found.Get("completion").Get("values").JSON(); err != nil || got != `["Alice"]` {
		t.Error(found.JSON(), err)
	}
	for _, err := range []error{
		second(p.GetPrompt(ctx, nil, "fake", "no-such-prompt", value.Undef)),
		second(p.ReadResource(ctx, nil, "fake", "demo://no/such/resource")),
	} {
		if err == nil || !strings.Contains(err.Error(), "it answered an error") {
			t.Error(err)
		}
	}
}

func second(_ value.Value, err error) error { return err }

// everythingSubscribed subscribes to a resource of server-everything, which tells of
// changes once it is told to.
func everythingSubscribed(t *testing.T, p *Pool) {
	t.Helper()
	var u updates
	stop := subscribe(t, p, "demo://resource/dynamic/text/1", &u)
	mustCall(t, p, "toggle-subscriber-updates", `{}`)
	u.await(t, 1)
	mustCall(t, p, "toggle-subscriber-updates", `{}`)
	stop()
}

// A real server is killed between two subscriptions.
func TestRealServerIsSubscribedToAgain(t *testing.T) {
	t.Parallel()
	testscale.OnlyFull(t)
	file := filepath.Join(t.TempDir(), "pid")
	program := filepath.Join(mcptest.RealServers(t), "mcp-server-everything")
	p := start(t, Options{}, &config.Upstream{
		Name: "fake", Transport: config.Stdio, Command: "sh", Args: []string{"-c", `echo $$ > "$0"; exec "$1"`, file, program},
		InheritEnv: config.Inherit{All: true}, ConnectTimeout: testTimeout,
	})
	var u updates
	subscribe(t, p, "demo://resource/dynamic/text/1", &u)
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		t.Fatal(err)
	}
	server, err := os.FindProcess(number)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	u.await(t, 1) // because changes may have been missed
	before := u.Load()
	mustCall(t, p, "toggle-subscriber-updates", `{}`)
	u.await(t, before+1)
}

func TestResourcesOfTheOfficialGoSDK(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*official.StreamableHTTPOptions{"with sessions": nil, "stateless": {Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := official.NewServer(&official.Implementation{Name: "foreign", Version: "3"}, &official.ServerOptions{
				SubscribeHandler:   func(context.Context, *official.SubscribeRequest) error { return nil },
				UnsubscribeHandler: func(context.Context, *official.UnsubscribeRequest) error { return nil },
			})
			s.AddResource(&official.Resource{URI: "doc://1", Name: "one"}, func(_ context.Context, r *official.ReadResourceRequest) (*official.ReadResourceResult, error) {
				return &official.ReadResourceResult{Contents: []*official.ResourceContents{{URI: r.Params.URI, Text: "one"}}}, nil
			})
			prompt := func(context.Context, *official.GetPromptRequest) (*official.GetPromptResult, error) {
				return &official.GetPromptResult{Messages: []*official.PromptMessage{{Role: "user", Content: &official.TextContent{Text: "why?"}}}}, nil
			}
			s.AddPrompt(&official.Prompt{Name: "one"}, prompt)
			p := start(t, Options{}, web(t, config.HTTP, official.NewStreamableHTTPHandler(func(*http.Request) *official.Server { return s }, o)))
			var u updates
			subscribe(t, p, "doc://1", &u)
			eventually(t, "an update", func() bool {
				_ = s.ResourceUpdated(t.Context(), &official.ResourceUpdatedNotificationParams{URI: "doc://1"})
				return u.Load() > 0
			})
			changed := make(chan bool, 100)
			p.WatchLists(func(c ListChange) { changed <- c.Prompts })
			eventually(t, "a change", func() bool {
				s.AddPrompt(&official.Prompt{Name: "ask"}, prompt) // again, until the server lets us listen
				select {
				case prompts := <-changed:
					return prompts
				default:
					return false
				}
			})
			prompts, err := p.Prompts(t.Context(), nil, "fake")
			if err != nil || !slices.ContainsFunc(prompts, func(v value.Value) bool { return v.Get("name").Str() == "ask" }) {
				t.Error(prompts, err)
			}
			if prompt, err := p.GetPrompt(t.Context(), nil, "fake", "ask", value.Undef); err != nil || !strings.Contains(prompt.JSON(), "why?") {
				t.Error(prompt.JSON(), err)
			}
			t.Logf("%s speaks %s", name, p.Stats()[0].Protocol)
		})
	}
}
