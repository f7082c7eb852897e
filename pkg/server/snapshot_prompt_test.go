package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// offering has a prompt, resources and a template. Their functions tell what they got,
// or fail as their argument says.
func offering(t testing.TB) server.Options {
	act := func(name string) (value.Value, error) {
		switch name {
		case "fail":
			return value.Undef, &server.CallError{Failure: parse(t, `{"name":"toolError","node":"n"}`), Err: errors.New(`node "n": it <failed>`)}
		case "arguments":
			return value.Undef, &server.CallError{Failure: parse(t, `{"name":"arguments"}`), Err: errors.New("invalid arguments")}
		case "missing":
			return value.Undef, fmt.Errorf("upstream: %w", server.ErrNotFound)
		case "panic":
			panic("boom")
		case "ask":
			return value.Undef, &server.InputRequiredError{Requests: parse(t, `{"q":{"method":"roots/list","params":{}}}`), State: "s"}
		case "huge":
			return value.FromString(strings.Repeat("x", memory.MinLimit)), nil
		}
		return value.FromString(name), nil
	}
	complete := func(ctx context.Context, r *server.Request, argument, typed string, known value.Value) (server.Completion, error) {
		switch typed {
		case "slow":
			<-ctx.Done()
			return server.Completion{Values: []string{"too late"}}, context.Cause(ctx)
		case "many":
			var c server.Completion
			for i := range 150 {
				c.Values = append(c.Values, fmt.Sprint(i))
			}
			return c, nil
		case "fail":
			return server.Completion{}, errors.New("it failed")
		}
		return server.Completion{Values: []string{r.Tool, argument, typed, known.JSON()}, Total: 7}, nil
	}
	read := func(_ context.Context, r *server.Request) (value.Value, error) {
		text, err := act(r.Args.Get("day").Str())
		if err != nil {
			return text, err
		}
		b := value.NewBuilder(2)
		b.Set("uri", value.FromString(r.URI))
		b.Set("text", value.FromString(text.Str()+r.Tool))
		return value.FromArray([]value.Value{b.Value()}), nil
	}
	return server.Options{
		Tools: []server.Tool{tool(t, "echo")}, Call: echo,
		Prompts: []server.Prompt{{
			Name: "review", Title: "Review", Description: "Asks for <it>", Icons: parse(t, `[{"src":"https://x/i.png"}]`),
			Arguments: []server.PromptArgument{{Name: "what", Title: "What", Description: "It", Required: true}, {Name: "how"}},
			Get: func(_ context.Context, r *server.Request) (value.Value, error) {
				text, err := act(r.Args.Get("what").Str())
				if err != nil {
					return text, err
				}
				content := value.NewBuilder(2)
				content.Set("type", value.FromString("text"))
				content.Set("text", value.FromString(text.Str()+" "+r.Tool))
				message := value.NewBuilder(2)
				message.Set("role", value.FromString("user"))
				message.Set("content", content.Value())
				b := value.NewBuilder(2)
				b.Set("description", value.FromString("d"))
				b.Set("messages", value.FromArray([]value.Value{message.Value()}))
				return b.Value(), nil
			},
			Complete: complete,
		}},
		Resources: []server.Resource{
			{
				URI: "report://today", Name: "today", Title: "Today", MIMEType: "text/plain", Size: 7, Read: read,
				Annotations: parse(t, `{"audience":["user"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z"}`),
			},
			{URI: "report://{day}", Template: true, Name: "by-day", Read: read, Complete: complete},
		},
	}
}

func TestPromptsAndResourcesInBothEras(t *testing.T) {
	t.Parallel()
	c := start(t, offering(t))
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
	if line, want := c.line(), `"capabilities":{"logging":{},"completions":{},"prompts":{"listChanged":true},"resources":{"listChanged":true},"tools":{"listChanged":true}}`; !strings.Contains(line, want) {
		t.Errorf("got %s\nwant %s", line, want)
	}
	const (
		prompt   = `{"name":"review","title":"Review","description":"Asks for <it>","arguments":[{"name":"what","title":"What","description":"It","required":true},{"name":"how"}],"icons":[{"src":"https://x/i.png"}]}`
		today    = `{"uri":"report://today","name":"today","title":"Today","mimeType":"text/plain","annotations":{"audience":["user"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z"},"size":7}`
		template = `{"uriTemplate":"report://{day}","name":"by-day"}`
		message  = `"description":"d","messages":[{"role":"user","content":{"type":"text","text":"it prompts/review"}}]`
		failure  = `"error":{"code":-32603,"message":"node \"n\": it <failed>","data":{"mcpgraph/error":{"name":"toolError","node":"n"}}}`
	)
	for _, test := range []struct{ method, params, want, cached string }{
		{"prompts/list", ``, `"prompts":[` + prompt + `]`, "yes"},
		{"resources/list", ``, `"resources":[` + today + `]`, "yes"},
		{"resources/templates/list", ``, `"resourceTemplates":[` + template + `]`, "yes"},
		{"prompts/list", `"cursor":"AAAA"`, `{"code":-32602,"message":"prompts/list: unknown cursor, or the list has changed; list again without it"}`, ""},
		{"prompts/list", `"cursor":7`, `"code":-32602`, ""},
		{"prompts/get", `"name":"review","arguments":{"what":"it"}`, message, "no"},
		{"prompts/get", `"name":"review","arguments":{"what":"fail"}`, failure, ""},
		{"prompts/get", `"name":"review","arguments":{"what":"arguments"}`, `"error":{"code":-32602,"message":"invalid arguments","data":{"mcpgraph/error":{"name":"arguments"}}}`, ""},
		{"prompts/get", `"name":"review","arguments":{"what":"panic"}`, `"error":{"code":-32603,"message":"prompt \"review\": internal error: boom"}`, ""},
		{"prompts/get", `"name":"review"`, `"error":{"code":-32602,"message":"prompts/get: prompt \"review\": missing required argument \"what\""}`, ""},
		{"prompts/get", `"name":"review","arguments":{"what":7}`, `"code":-32602,"message":"prompts/get: arguments.what must be a string"`, ""},
		{"prompts/get", `"name":"review","arguments":{"what":"it","who":"me"}`, `"code":-32602,"message":"prompts/get: prompt \"review\" has no argument \"who\""`, ""},
		{"prompts/get", `"name":"reviews"`, `"code":-32602,"message":"unknown prompt \"reviews\"; did you mean \"review\"?"`, ""},
		{"prompts/get", `"arguments":{}`, `"code":-32602,"message":"prompts/get: name must be a string, found nothing"`, ""},
		{"prompts/get", `"name":"prompts/review"`, `"code":-32602`, ""},
		{"tools/call", `"name":"prompts/review"`, `"code":-32602,"message":"unknown tool`, ""},
		{"resources/read", `"uri":"report://today"`, `"contents":[{"uri":"report://today","text":"resources/today"}]`, "yes"},
		{"resources/read", `"uri":"report://a%2Fb"`, `"contents":[{"uri":"report://a%2Fb","text":"a/bresources/by-day"}]`, "yes"},
		{"resources/read", `"uri":"report://fail"`, failure, ""},
		{"resources/read", `"uri":"report://missing"`, `"message":"unknown resource \"report://missing\"","data":{"uri":"report://missing"}`, ""},
		{"resources/read", `"uri":"report://a/b"`, `"message":"unknown resource \"report://a/b\"`, ""},
		{"resources/read", `"uri":{}`, `"code":-32602`, ""},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"what","value":"a"},"context":{"arguments":{"how":"b"}}`,
			`"completion":{"values":["prompts/review","what","a","{\"how\":\"b\"}"],"total":7,"hasMore":true}`, "no"},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"report://{day}"},"argument":{"name":"day","value":""}`,
			`"completion":{"values":["resources/by-day","day","","{}"],"total":7,"hasMore":true}`, "no"},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"report://today"},"argument":{"name":"day","value":""}`, `"completion":{"values":[],"total":0,"hasMore":false}`, "no"},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"what","value":"slow"}`, `"completion":{"values":[],"total":0,"hasMore":false}`, "no"},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"what","value":"many"}`, `"98","99"],"total":150,"hasMore":true}`, "no"},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"what","value":"fail"}`, `"completion":{"values":[],"total":0,"hasMore":false}`, "no"},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"who","value":""}`, `"code":-32602`, ""},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"who","value":""}`, `"code":-32602`, ""},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"none://"},"argument":{"name":"who","value":""}`, `"code":-32602`, ""},
		{"completion/complete", `"ref":{"type":"ref/tool","name":"echo"},"argument":{"name":"who","value":""}`, `"code":-32602`, ""},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"what"}`, `"code":-32602`, ""},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"what","value":""},"context":{"arguments":{"how":7}}`, `"code":-32602`, ""},
		{"completion/complete", ``, `"code":-32602`, ""},
		{"resources/subscribe", `"uri":"report://today"`, `"code":-32601`, ""},
	} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, test.method, test.params)
		line := c.line()
		if !strings.Contains(line, test.want) || strings.Contains(line, "ttlMs") {
			t.Errorf("%s %s\n got %s\nwant %s", test.method, test.params, line, test.want)
		}
		params := modernMeta
		if test.params != "" {
			params += "," + test.params
		}
		c.send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, test.method, params)
		line = c.line()
		if !strings.Contains(line, test.want) || test.cached != "" && strings.Contains(line, `"resultType":"complete","ttlMs":0,"cacheScope":"private"`) != (test.cached == "yes") {
			t.Errorf("2026-07-28 %s %s\n got %s\nwant %s", test.method, test.params, line, test.want)
		}
	}
	for _, ask := range []string{`"method":"prompts/get","params":{"name":"review","arguments":{"what":"ask"},`, `"method":"resources/read","params":{"uri":"report://ask",`} {
		c.send(`{"jsonrpc":"2.0","id":1,%s%s}}`, ask, modernMeta)
		if line := c.line(); !strings.Contains(line, `"result":{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list","params":{}}},"requestState":"s","_meta":{`) {
			t.Errorf("got %s", line)
		}
	}
	c.closed()
}

// A server without prompts, resources and completions has not these methods.
func TestMethodsNeedSomethingToOffer(t *testing.T) {
	t.Parallel()
	c := start(t, echoOptions(t))
	c.initialize("2025-11-25")
	for _, method := range []string{"prompts/list", "prompts/get", "resources/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete"} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":"x","uri":"x://y","ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"x","value":"x"}}}`, method)
		if line := c.line(); !strings.Contains(line, `"code":-32601`) {
			t.Errorf("%s: %s", method, line)
		}
	}
	c.closed()
}

func TestScopesOfPromptsAndResources(t *testing.T) {
	t.Parallel()
	_, guard := scopedOptions(t)
	opts := offering(t)
	opts.Prompts[0].RequiredScopes = []string{"write"}
	for i := range opts.Resources {
		opts.Resources[i].RequiredScopes = []string{"write"}
		opts.Resources[i].SubscribeEvery = time.Hour
	}
	if _, err := server.New(opts); err != nil {
		t.Fatal(err)
	}
	requests := []struct{ method, name, params string }{
		{"prompts/get", "review", `"name":"review","arguments":{"what":"it"}`},
		{"resources/read", "report://today", `"uri":"report://today"`},
		{"resources/read", "report://x", `"uri":"report://x"`},
		{"completion/complete", "", `"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"what","value":""}`},
		{"completion/complete", "", `"ref":{"type":"ref/resource","uri":"report://{day}"},"argument":{"name":"day","value":""}`},
		{"resources/subscribe", "", `"uri":"report://today"`},
	}
	for _, hides := range []bool{false, true} {
		opts.Info.Name, opts.Info.HideUnscopedTools = "test", hides
		x := serveAs(t, opts, server.HTTPOptions{Guard: guard})
		for caller, may := range map[string]bool{"ann": true, "bob": false} {
			session := x.session("2025-11-25", authorizedAs(caller)...)
			for _, r := range requests {
				for _, era := range []string{"legacy", "modern"} {
					if r.method == "resources/subscribe" && era == "modern" {
						continue
					}
					headers, meta := session, ""
					if era == "modern" {
						headers, meta = append(authorizedAs(caller), modern(r.method, r.name)...), `,"_meta":{`+eraMeta+`}`
					}
					g := x.post(`{"jsonrpc":"2.0","id":1,"method":"`+r.method+`","params":{`+r.params+meta+`}}`, headers...)
					switch {
					case may:
						if g.status != http.StatusOK || strings.Contains(g.body, `"error"`) {
							t.Errorf("%s %s: %d %s", caller, r.params, g.status, g.body)
						}
					case hides:
						if strings.Contains(g.body, "write") || !strings.Contains(g.body, "unknown") {
							t.Errorf("hidden from %s: %s: %d %s", caller, r.params, g.status, g.body)
						}
					case g.status != http.StatusForbidden || !strings.Contains(g.body, `"requiredScopes":["write"]`) || !strings.Contains(g.header.Get("WWW-Authenticate"), "write"):
						t.Errorf("%s %s: %d %v %s", caller, r.params, g.status, g.header, g.body)
					}
				}
			}
			for list, name := range map[string]string{"prompts/list": "review", "resources/list": "today", "resources/templates/list": "by-day"} {
				g := x.post(`{"jsonrpc":"2.0","id":1,"method":"`+list+`"}`, session...)
				if shown := strings.Contains(g.body, name); shown != (may || !hides) {
					t.Errorf("%s %s: %s", caller, list, g.body)
				}
			}
		}
	}
	// Without authentication nobody has a scope.
	x := serve(t, offering(t), server.HTTPOptions{})
	x.session("2025-11-25") // it is served by now
	for _, change := range []func(o *server.Options){
		func(o *server.Options) { o.Prompts[0].RequiredScopes = []string{"write"} },
		func(o *server.Options) { o.Resources[1].RequiredScopes = []string{"write"} },
	} {
		next := named(offering(t))
		change(&next)
		if err := x.server.Replace(next); err == nil || !strings.Contains(err.Error(), "requires scopes") {
			t.Errorf("Replace: %v", err)
		}
	}
}

// Prompts and resources share the slots of tools, and say so where there is none.
func TestPromptsAndResourcesTakeSlots(t *testing.T) {
	t.Parallel()
	began, release := make(chan string, 10), make(chan struct{})
	hold := func(_ context.Context, r *server.Request) (value.Value, error) {
		began <- r.Tool
		<-release
		return value.FromEntries(nil), nil
	}
	c := start(t, server.Options{
		Tools: []server.Tool{tool(t, "t")}, Call: hold, Limits: server.Limits{Calls: 1, Wait: 20 * time.Millisecond},
		Prompts: []server.Prompt{{Name: "p", Get: hold}},
		Resources: []server.Resource{
			{URI: "a://b", Name: "b", Read: hold},
			{URI: "a://now", Name: "now", Instant: true, Read: server.ReadText("", func(context.Context, *server.Request) (string, bool) { return "now", true })},
		},
	})
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":"held","method":"prompts/get","params":{"name":"p"}}`)
	if got := <-began; got != "prompts/p" {
		t.Errorf("began %s", got)
	}
	for _, call := range []string{`"method":"prompts/get","params":{"name":"p"}`, `"method":"resources/read","params":{"uri":"a://b"}`} {
		c.send(`{"jsonrpc":"2.0","id":1,%s}`, call)
		if line := c.line(); !strings.Contains(line, `"error":{"code":-32603,"message":"the server is busy: 1 call is running; the call was not run`) {
			t.Errorf("got %s", line)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
	if line := c.line(); !strings.Contains(line, "the server is busy") || !strings.Contains(line, `"isError":true`) {
		t.Errorf("got %s", line)
	}
	c.want(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://now"}}`, `{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a://now","text":"now"}]}}`)
	close(release)
	if line := c.line(); !strings.Contains(line, `"id":"held"`) {
		t.Errorf("got %s", line)
	}
	c.closed()
}

// What is too long for the memory of the server fails, and nothing else does.
func TestPromptsAndResourcesCountAsMemory(t *testing.T) {
	t.Parallel()
	opts := offering(t)
	opts.Memory = memory.New(memory.MinLimit)
	c := start(t, opts)
	c.initialize("2025-11-25")
	for _, call := range []string{`"method":"prompts/get","params":{"name":"review","arguments":{"what":"huge"}}`, `"method":"resources/read","params":{"uri":"report://huge"}`} {
		c.send(`{"jsonrpc":"2.0","id":1,%s}`, call)
		if line := c.line(); !strings.Contains(line, `"code":-32603`) || len(line) > 1000 {
			t.Errorf("got %.300s", line)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"review","arguments":{"what":"it"}}}`)
	if line := c.line(); !strings.Contains(line, `"messages"`) {
		t.Errorf("got %.300s", line)
	}
	c.closed()
	if held := opts.Memory.Held(); held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
}
