package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// offering is the script of a server that has prompts, resources and templates.
func offering(change ...func(*mcptest.Script)) mcptest.Script {
	s := mcptest.Script{PageSize: 2, Offers: mcptest.Offers{
		Prompts:   mcptest.Offered("name", "ask-", 5),
		Resources: mcptest.Offered("uri", "doc://", 5),
		Templates: mcptest.Offered("uriTemplate", "doc://{x}/", 1),
	}}
	for _, f := range change {
		f(&s)
	}
	return s
}

// dialScript returns what dials the script in this process.
func dialScript(s mcptest.Script) func(context.Context, *config.Upstream) (io.ReadWriteCloser, error) {
	return func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) { return s.Dial(ctx) }
}

// lists are the three lists of a pool by the names of their members.
func lists(p *Pool) map[string]func() ([]value.Value, error) {
	ctx := context.Background()
	return map[string]func() ([]value.Value, error){
		"prompts":           func() ([]value.Value, error) { return p.Prompts(ctx, nil, "fake") },
		"resources":         func() ([]value.Value, error) { return p.Resources(ctx, nil, "fake") },
		"resourceTemplates": func() ([]value.Value, error) { return p.ResourceTemplates(ctx, nil, "fake") },
	}
}

func parsed(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEveryTransportCarriesPromptsAndResources(t *testing.T) {
	t.Parallel()
	everyTransport(t, offering(), func(t *testing.T, u *config.Upstream) {
		p := start(t, Options{}, u)
		ctx := context.Background()
		for member, list := range lists(p) {
			all, err := list()
			want := map[string]int{"prompts": 5, "resources": 5, "resourceTemplates": 1}[member]
			if err != nil || len(all) != want {
				t.Errorf("%s: %d, %v", member, len(all), err)
			}
		}
		prompt, err := p.GetPrompt(ctx, nil, "fake", "ask-1", parsed(t, `{"b":"2","a":"ä"}`))
		if got := prompt.Get("messages").Elems(); err != nil || len(got) != 1 || got[0].Get("content").Get("text").Str() != `ask-1 {"b":"2","a":"ä"}` {
			t.Error(prompt.JSON(), err)
		}
		contents, err := p.ReadResource(ctx, nil, "fake", "doc://ä b")
		if got := contents.Get("contents").Elems(); err != nil || len(got) != 1 || got[0].Get("text").Str() != "doc://ä b read 1" {
			t.Error(contents.JSON(), err)
		}
		params := parsed(t, `{"_meta":{"x":1},"ref":{"type":"ref/prompt","name":"ask-1"},"argument":{"name":"b","value":"ty"}}`)
		found, err := p.Complete(ctx, nil, "fake", params)
		if got := found.Get("completion").Get("values").JSON(); err != nil || got != `["tya","tyb"]` {
			t.Error(found.JSON(), err)
		}
	})
}

func TestServerWithoutCapabilities(t *testing.T) {
	t.Parallel()
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		p := start(t, Options{}, u)
		ctx := context.Background()
		for member, list := range lists(p) {
			if all, err := list(); err != nil || len(all) != 0 {
				t.Errorf("%s: %d, %v", member, len(all), err)
			}
		}
		if found, err := p.Complete(ctx, nil, "fake", value.Undef); err != nil || found.Get("completion").Get("values").JSON() != "[]" {
			t.Error(found.JSON(), err)
		}
		_, noPrompt := p.GetPrompt(ctx, nil, "fake", "ask", value.Undef)
		_, noResource := p.ReadResource(ctx, nil, "fake", "doc://1")
		for err, want := range map[error]string{
			noPrompt:   `server "fake", prompt "ask": the server offers no prompts`,
			noResource: `server "fake", resource "doc://1": the server offers no resources`,
		} {
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Error(), want) || e.FailureName() != "protocol" {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

// A server that has resources need not know templates.
func TestListThatTheServerDoesNotKnowIsEmpty(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, child(offering(func(s *mcptest.Script) { s.Templates = nil })))
	if all, err := p.ResourceTemplates(t.Context(), nil, "fake"); err != nil || len(all) != 0 {
		t.Error(len(all), err)
	}
}

func TestHostileLists(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 900)
	var long []string
	for i := range 3000 {
		long = append(long, fmt.Sprintf(`{"name":"p%d","uri":"doc://%d","uriTemplate":"doc://%d","d":"%s"}`, i, i, i, huge))
	}
	for name, c := range map[string]struct{ result, want string }{
		"endless":  {`{"MEMBER":[{"KEY":"a"}],"nextCursor":"again"}`, "a list of MEMBER that does not end: 1000 pages were read"},
		"too long": {`{"MEMBER":[` + strings.Join(long, ",") + `]}`, "the answer is longer than 1048576 bytes"},
		"long": {`{"MEMBER":[` + strings.Join(long[:1000], ",") + `],"nextCursor":"2"}`,
			"the answer is longer than 1048576 bytes"},
		"many":       {`{"MEMBER":[` + strings.Repeat(`1,`, 100_000) + `2]}`, "a list of more than 100000 MEMBER"},
		"no list":    {`{"MEMBER":{"KEY":"a"}}`, `it answered a result without the list "MEMBER"`},
		"nothing":    {`{}`, `it answered a result without the list "MEMBER"`},
		"no object":  {`[]`, "a result that is not an object"},
		"odd things": {`{"MEMBER":[1,null,[],{"KEY":2},{"KEY":"good"},{}],"nextCursor":7}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, one := range []struct{ member, method, key string }{
				{"prompts", "prompts/list", "name"}, {"resources", "resources/list", "uri"},
				{"resourceTemplates", "resources/templates/list", "uriTemplate"},
			} {
				fill := strings.NewReplacer("MEMBER", one.member, "KEY", one.key)
				script := offering(func(s *mcptest.Script) {
					s.Results = map[string]json.RawMessage{one.method: json.RawMessage(fill.Replace(c.result))}
				})
				p := start(t, Options{Dial: dialScript(script)}, &config.Upstream{Name: "fake", MaxMessageBytes: 1 << 20})
				all, err := lists(p)[one.member]()
				if c.want == "" {
					if err != nil || len(all) != 1 || all[0].Get(one.key).Str() != "good" {
						t.Errorf("%s: %d, %v", one.member, len(all), err)
					}
				} else if want := fill.Replace(c.want); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %s", one.member, err, want)
				}
				mustCall(t, p, "echo", `{}`)
			}
		})
	}
}

func TestResultsOfTheWrongShape(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		`{"messages":"none","contents":1}`: "it answered a result without the list", `[]`: "a result that is not an object",
		`{"resultType":"input_required"}`: "it answered a result without the list",
	} {
		raw := json.RawMessage(result)
		script := offering(func(s *mcptest.Script) {
			s.Results = map[string]json.RawMessage{"prompts/get": raw, "resources/read": raw, "completion/complete": raw}
		})
		p := start(t, Options{Dial: dialScript(script)}, &config.Upstream{Name: "fake"})
		_, err1 := p.GetPrompt(t.Context(), nil, "fake", "ask-1", value.Undef)
		_, err2 := p.ReadResource(t.Context(), nil, "fake", "doc://1")
		_, err3 := p.Complete(t.Context(), nil, "fake", value.Undef)
		for _, err := range []error{err1, err2, err3} {
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.FailureName() != "malformed" {
				t.Errorf("%s: %v", result, err)
			}
		}
	}
}

// The error of a server's own comes back as such, and without secrets.
func TestErrorsOfPromptsAndResources(t *testing.T) {
	t.Parallel()
	script := offering(func(s *mcptest.Script) {
		s.Errors = map[string]json.RawMessage{"resources/read": json.RawMessage(`{"code":-32002,"message":"Resource not found: hunter2"}`)}
	})
	p := start(t, Options{Dial: dialScript(script)}, &config.Upstream{Name: "fake", Secrets: []string{"hunter2"}})
	_, err := p.ReadResource(t.Context(), nil, "fake", "doc://hunter2/"+strings.Repeat("x", 1000))
	var rpc *RPCError
	var e *Error
	if !errors.As(err, &rpc) || rpc.Code != -32002 || strings.Contains(fmt.Sprintf("%v %+v", err, rpc), "hunter2") ||
		!errors.As(err, &e) || e.Op != "read" || len(e.Resource) > 300 || e.Tool != "" {
		t.Errorf("%+v", err)
	}
	if _, err := p.Prompts(t.Context(), nil, "nobody"); err == nil || !strings.Contains(err.Error(), "no such server") {
		t.Error(err)
	}
}

// Reads go through the layers of the entry, under the names of their methods.
func TestReadsGoThroughTheLayers(t *testing.T) {
	t.Parallel()
	script := offering(func(s *mcptest.Script) {
		s.Errors = map[string]json.RawMessage{"resources/read": json.RawMessage(`{"code":-32603,"message":"broken"}`)}
	})
	p := start(t, Options{Dial: dialScript(script)}, &config.Upstream{
		Name: "fake", Retry: &config.Retry{MaxAttempts: 3, RetryOn: []string{"-32603"}, MaxDelay: 1, InitialDelay: 1},
		CircuitBreaker: &config.CircuitBreaker{FailureThreshold: 2, ResetTimeout: testTimeout},
		RateLimit:      &config.RateLimit{PerTool: []config.ToolRate{{Tool: "prompts/get", Limit: 1, Period: time.Hour}}},
	})
	read := func() string {
		_, err := p.ReadResource(t.Context(), nil, "fake", "doc://1")
		return fmt.Sprint(err)
	}
	if err := read(); !strings.Contains(err, "it was tried 3 times") {
		t.Error(err)
	}
	read()
	if err := read(); !strings.Contains(err, `resource "doc://1": its circuit breaker is open`) {
		t.Error(err)
	}
	if _, err := p.GetPrompt(t.Context(), nil, "fake", "ask-1", value.Undef); err != nil {
		t.Error(err)
	}
	_, err := p.GetPrompt(t.Context(), nil, "fake", "ask-1", value.Undef)
	var e *Error
	if !errors.As(err, &e) || e.FailureName() != "busy" || e.Prompt != "ask-1" || e.Op != "get" {
		t.Errorf("%+v", err)
	}
	if s := p.Stats()[0]; s.Calls != 5 || s.Errors != 4 || s.Retries != 4 {
		t.Errorf("%+v", s.Traffic)
	}
}

// A request that the server asks back for is made again with the answer.
func TestInputForPromptsAndResources(t *testing.T) {
	t.Parallel()
	var asked int
	h := rpcHandler(func(method string, params value.Value, _ *http.Request) string {
		switch method {
		case "server/discover":
			return `{"supportedVersions":["2026-07-28"],"capabilities":{"prompts":{},"resources":{}}}`
		case "prompts/get", "resources/read":
			if params.Get("inputResponses").Get("who").Get("action").Str() != "accept" {
				asked++
				return `{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?"}}}}`
			}
			return `{"messages":[],"contents":[]}`
		}
		return ""
	})
	answer := func(context.Context, string, value.Value) (value.Value, error) {
		return value.Parse(`{"action":"accept"}`)
	}
	p := start(t, Options{Answers: map[string]Answer{"elicitation/create": answer}}, web(t, config.HTTP, h))
	_, err1 := p.GetPrompt(t.Context(), nil, "fake", "ask", value.Undef)
	_, err2 := p.ReadResource(t.Context(), nil, "fake", "doc://1")
	if err1 != nil || err2 != nil || asked != 2 {
		t.Error(err1, err2, asked)
	}
}

func TestHeadersAndMetaOfReads(t *testing.T) {
	t.Parallel()
	w := &mcptest.Web{Modern: true, Script: offering()}
	var sent []callinfo.Sent
	var done []error
	p := start(t, Options{Request: func(ctx context.Context, info *callinfo.Info, r Request) (context.Context, *callinfo.Info, func(error)) {
		own := *info.OrNone()
		own.Trace = []value.Entry{{Key: "traceparent", Value: value.FromString("00-1-2-01")}}
		own.Sent = func(s callinfo.Sent) { sent = append(sent, s) }
		return ctx, &own, func(err error) { done = append(done, err) }
	}}, web(t, config.HTTP, w))
	if _, err := p.ReadResource(t.Context(), nil, "fake", "doc://ä"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.GetPrompt(t.Context(), nil, "fake", "ask-1", value.Undef); err != nil {
		t.Fatal(err)
	}
	for method, name := range map[string]string{"resources/read": "=?base64?ZG9jOi8vw6Q=?=", "prompts/get": "ask-1"} {
		a := w.Arrivals(method)[0]
		meta := parsed(t, a.Body).Get("params").Get("_meta")
		if a.Header.Get("Mcp-Name") != name || a.Header.Get("Traceparent") != "00-1-2-01" ||
			meta.Get("traceparent").Str() != "00-1-2-01" || meta.Get("progressToken").Str() == "" {
			t.Errorf("%s: %v %s", method, a.Header, a.Body)
		}
	}
	if len(sent) != 2 || len(done) != 2 || done[0] != nil {
		t.Errorf("%v, %v", sent, done)
	}
}

// What is read counts on the account of the call, as the result of a tool does.
func TestReadsDrawOnTheMemoryOfTheirCall(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	script := offering(func(s *mcptest.Script) {
		text := `[{"uri":"doc://1","text":"` + strings.Repeat("x", size) + `"}]`
		s.Results = map[string]json.RawMessage{
			"resources/read": json.RawMessage(`{"contents":` + text + `}`), "resources/list": json.RawMessage(`{"resources":` + text + `}`),
		}
	})
	budget := memory.New(4 << 30) // other tests of the process must not use it up
	p := start(t, Options{Dial: dialScript(script), Memory: budget}, &config.Upstream{Name: "fake"})
	for name, read := range map[string]func(context.Context) error{
		"read": func(ctx context.Context) error { return second(p.ReadResource(ctx, nil, "fake", "doc://1")) },
		"list": func(ctx context.Context) error {
			_, err := p.Resources(ctx, nil, "fake")
			return err
		},
	} {
		before := budget.Held()
		account := budget.Account("ada")
		ctx, cancel := memory.WithAccount(t.Context(), account)
		if err := read(ctx); err != nil || budget.Held() < before+size {
			t.Errorf("%s: %d bytes more are held, %v", name, budget.Held()-before, err)
		}
		cancel()
		account.Close()
		if n := budget.Held(); n != before {
			t.Errorf("%s: %d bytes stay", name, n-before)
		}
	}
}

// What is too long to be kept and shown is on no list; calls do not need it.
func TestHugeEntriesOfListsAreLeftOut(t *testing.T) {
	t.Parallel()
	const secret = "swordfish-swordfish"
	var log logBuffer
	script := mcptest.Script{
		Tools: []mcptest.Tool{
			{Name: "fine", Description: "short"}, {Name: strings.Repeat("n", 2000)},
			{Name: "vast", Description: secret + strings.Repeat("d", 1<<20), Result: mcptest.Text("called")},
		},
		Offers: mcptest.Offers{Resources: []json.RawMessage{
			json.RawMessage(`{"uri":"a://` + strings.Repeat("u", 2000) + `","name":"long"}`), json.RawMessage(`{"uri":"a://b","name":"fine"}`),
		}},
	}
	p := start(t, Options{Dial: dialScript(script), Log: log.logger()}, &config.Upstream{Name: "fake", Secrets: []string{secret}})
	tools, err := p.Tools(context.Background(), nil, "fake")
	if err != nil || tools[0].Get("name").Str() != "fine" {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if name := tool.Get("name").Str(); name == "vast" || len(name) > maxListedName {
			t.Errorf("%.20s is listed", name)
		}
	}
	resources, err := p.Resources(context.Background(), nil, "fake")
	if err != nil || len(resources) != 1 || resources[0].Get("uri").Str() != "a://b" {
		t.Errorf("%v, %d resources", err, len(resources))
	}
	if got := text(mustCall(t, p, "vast", `{}`)); got != "called" {
		t.Errorf("the call answered %q", got)
	}
	if said := log.String(); strings.Count(said, "it is too long") != 3 || strings.Contains(said, secret) || len(said) > 10_000 {
		t.Errorf("%d bytes of log: %.2000s", len(said), said)
	}
}
