package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// hiddenToolOptions are the tools of scoped, of which callers see those that they may call.
func hiddenToolOptions(t *testing.T) (server.Options, server.HTTPOptions) {
	opts, guard := scopedOptions(t)
	opts.Info.Name, opts.Info.Version, opts.Info.HideUnscopedTools = "test", "1", true
	opts.Tools[0].Name = "echo"
	opts.Tools = append(opts.Tools, server.Tool{
		Name: "sealed", InputSchema: parse(t, `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}`), RequiredScopes: []string{"admin"},
	})
	return opts, server.HTTPOptions{Guard: guard}
}

func TestToolsAreHiddenFromCallersWithoutScopes(t *testing.T) {
	opts, over := hiddenToolOptions(t)
	x := serveAs(t, opts, over)
	for caller, want := range map[string][]string{
		"ann": {"echo", "note"}, "bob": {"echo"}, "cat": {"echo", "erase", "note", "sealed"},
	} {
		for _, in := range [][]string{x.session("2025-11-25", authorizedAs(caller)...), append(authorizedAs(caller), modern("tools/list", "")[:4]...)} {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
			if len(in) == 6 && in[2] == "Mcp-Protocol-Version" {
				body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + eraMeta + `}}}`
			}
			g := x.post(body, in...)
			var got []string
			for _, name := range []string{"echo", "erase", "note", "sealed"} {
				if strings.Contains(g.body, `"name":"`+name+`"`) {
					got = append(got, name)
				}
			}
			if g.status != http.StatusOK || !slices.Equal(got, want) {
				t.Errorf("%s is shown %v: %d %s", caller, got, g.status, g.body)
			}
		}
	}
}

func TestHiddenToolsLookUnknown(t *testing.T) {
	opts, over := hiddenToolOptions(t)
	x := serveAs(t, opts, over)
	type answered struct {
		status    int
		body      string
		challenge []string
	}
	session := x.session("2025-11-25", authorizedAs("bob")...)
	for _, hidden := range []string{"erase", "note", "sealed"} {
		nothing := strings.Repeat("q", len(hidden))
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			ask := func(tool string) answered {
				body, in := calling(tool, "1"), session
				if era == "2026-07-28" {
					body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"a":"b"},"_meta":{%s}}}`, tool, eraMeta)
					in = append(authorizedAs("bob"), modern("tools/call", tool)...)
				}
				g := x.post(body, in...)
				return answered{g.status, strings.ReplaceAll(g.body, tool, "TOOL"), g.header.Values("WWW-Authenticate")}
			}
			is, not := ask(hidden), ask(nothing)
			if is.status != not.status || is.body != not.body || is.challenge != nil || !strings.Contains(is.body, "unknown tool") {
				t.Errorf("%s, %s: %+v\nwant %+v", era, hidden, is, not)
			}
			for _, other := range []string{"erase", "note", "sealed"} {
				if strings.Contains(is.body, other) {
					t.Errorf("%s, %s: the answer names %s: %s", era, hidden, other, is.body)
				}
			}
		}
	}
	if g := x.post(calling("note", "2"), x.session("2025-11-25", authorizedAs("ann")...)...); g.status != http.StatusOK || strings.Contains(g.body, "error") {
		t.Errorf("%d %s", g.status, g.body)
	}
}

func TestToolsAreNotHiddenOverStandardInput(t *testing.T) {
	opts, _ := hiddenToolOptions(t)
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if got := c.line(); !strings.Contains(got, `"name":"erase"`) {
		t.Error(got)
	}
	c.closed()
}

// What is hidden from a caller is not served from elsewhere: neither by another template
// nor by an upstream server that also has the URI.
func TestHiddenResourcesHideWhatIsBehindThem(t *testing.T) {
	opts, over := hiddenToolOptions(t)
	read := func(text string) server.CallFunc {
		return server.ReadText("", func(context.Context, *server.Request) (string, bool) { return text, true })
	}
	anything := func(context.Context, *server.Request, string, string, value.Value) (server.Completion, error) {
		return server.Completion{Values: []string{"behind"}}, nil
	}
	opts.Resources = []server.Resource{
		{URI: "a://secret", Name: "secret", Read: read("sealed"), RequiredScopes: []string{"admin"}},
		{URI: "a://sealed/{x}", Template: true, Name: "sealed", Read: read("sealed"), RequiredScopes: []string{"admin"}},
		{URI: "a://sealed/{x}{?y}", Template: true, Name: "open", Read: read("behind"), SubscribeEvery: time.Hour},
	}
	opts.Dynamic = &server.Dynamic{
		Resources: func(context.Context, *server.Request) []value.Value { return nil }, Completes: true, Subscribes: true,
		Resource: func(_ *server.Request, uri string) *server.Resource {
			return &server.Resource{URI: uri, Name: "behind", Read: read("behind"), Complete: anything, SubscribeEvery: time.Hour}
		},
	}
	x := serveAs(t, opts, over)
	for caller, readable := range map[string]bool{"bob": false, "cat": true} {
		in := x.session("2025-11-25", authorizedAs(caller)...)
		for _, uri := range []string{"a://secret", "a://sealed/1"} {
			g := x.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri), in...)
			if strings.Contains(g.body, "behind") || strings.Contains(g.body, "sealed\"}]") != readable || strings.Contains(g.body, "unknown resource") == readable {
				t.Errorf("%s reads %s: %d %s", caller, uri, g.status, g.body)
			}
			if g := x.post(fmt.Sprintf(subscribeTo, uri), in...); g.body == emptyResult {
				t.Errorf("%s subscribes to %s: %s", caller, uri, g.body)
			}
		}
		for _, uri := range []string{"a://secret", "a://sealed/{x}"} {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":"x","value":""}}}`, uri)
			if g := x.post(body, in...); strings.Contains(g.body, "behind") {
				t.Errorf("%s completes %s: %s", caller, uri, g.body)
			}
		}
	}
}
