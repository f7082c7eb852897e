//go:build unix

package mcpgraph_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/audit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// offersFile has a prompt that asks, resources and completions. What the resource
// "state" has is the text that state says.
const offersFile = `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  safe: {command: /none, env: {KEY: "${SERVER_NAME}"}}
tools:
  - name: double
    description: Doubles
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: double}
      - {id: double, type: transform, transform: {expr: $.entry.text & $.entry.text}, next: exit}
      - {id: exit, type: exit}
prompts:
  - name: greet
    description: Greets
    arguments:
      - {name: who, required: true, complete: [Ann, Anton, Bob]}
      - {name: how, complete: {expr: '$call("double", {"text": who})'}}
    messages:
      - {role: user, text: {expr: '"Hello " & $call("double", {"text": who})'}}
  - name: sure
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: Sure?, schema: {type: object, properties: {reason: {type: string}}}, next: said}
      - {id: said, type: transform, transform: {expr: $.ask.reason}, next: exit}
      - {id: exit, type: exit}
resources:
  - name: state
    uri: state://now
    mimeType: text/plain
    annotations: {audience: [user], priority: 0.5}
    subscribe: {everyMs: 1000}
    nodes:
      - {id: entry, type: entry, next: state}
      - {id: state, type: transform, transform: {expr: '"%s"'}, next: exit}
      - {id: exit, type: exit}
  - name: item
    uriTemplate: item://{id}
    complete: {id: [one, two]}
    nodes:
      - {id: entry, type: entry, next: check}
      - {id: check, type: transform, transform: {expr: '$.entry.id = "bad" ? $error("from the environment") : {"id": $.entry.id}'}, next: exit}
      - {id: exit, type: exit}
`

func TestPromptsAndResourcesOfAFileAreServed(t *testing.T) {
	t.Parallel()
	var records strings.Builder
	e := mustLoad(t, fmt.Sprintf(offersFile, "one"), mcpgraph.WithAudit(audit.To(&records)))
	c := serve(t, e)
	_, answer := c.ask("initialize", strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	if got := answer.Get("result").Get("capabilities").JSON(); got != `{"logging":{},"completions":{},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true}}` {
		t.Errorf("it can %s", got)
	}
	for _, test := range []struct{ method, params, want string }{
		{"prompts/list", `{}`, `{"prompts":[{"name":"greet","description":"Greets","arguments":[{"name":"who","required":true},{"name":"how"}]},{"name":"sure"}]}`},
		{"prompts/get", `{"name":"greet","arguments":{"who":"Ann"}}`, `{"messages":[{"role":"user","content":{"type":"text","text":"Hello AnnAnn"}}]}`},
		{"prompts/get", `{"name":"greet"}`, `-32602 prompts/get: prompt "greet": missing required argument "who"`},
		{"resources/list", `{}`, `{"resources":[{"uri":"state://now","name":"state","mimeType":"text/plain","annotations":{"audience":["user"],"priority":0.5}}]}`},
		{"resources/templates/list", `{}`, `{"resourceTemplates":[{"uriTemplate":"item://{id}","name":"item"}]}`},
		{"resources/read", `{"uri":"state://now"}`, `{"contents":[{"uri":"state://now","mimeType":"text/plain","text":"one"}]}`},
		{"resources/read", `{"uri":"item://a%2Fb%63"}`, `{"contents":[{"uri":"item://a%2Fb%63","mimeType":"application/json","text":"{\"id\":\"a/bc\"}"}]}`},
		{"resources/read", `{"uri":"item://bad"}`, `-32603 resource "item" failed in node "check" (transform): [redacted] (D3137)`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"an"}}`, `{"completion":{"values":["Ann","Anton"],"total":2,"hasMore":false}}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"how","value":""},"context":{"arguments":{"who":"x"}}}`, `{"completion":{"values":["xx"],"total":1,"hasMore":false}}`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"item://{id}"},"argument":{"name":"id","value":"t"}}`, `{"completion":{"values":["two"],"total":1,"hasMore":false}}`},
		{"tools/call", `{"name":"prompts/greet","arguments":{"who":"Ann"}}`, `-32602 unknown tool "prompts/greet"; expected "double"`},
	} {
		_, answer := c.ask(test.method, test.params)
		got := answer.Get("result").JSON()
		if failed := answer.Get("error"); failed.Kind() == value.Object {
			got = failed.Get("code").JSON() + " " + beforeAt(failed.Get("message").Str())
			if failed.Get("code").JSON() == "-32603" && failed.Get("data").Get("mcpgraph/error").Get("node").Str() != "check" {
				t.Errorf("%s: the data is %s", test.params, failed.Get("data").JSON())
			}
		}
		if got != test.want {
			t.Errorf("%s %s\n got %s\nwant %s", test.method, test.params, got, test.want)
		}
	}
	// In a session the user is asked during the call, without one by its answer.
	c.tell(`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"sure"}}`)
	question := c.next()
	if question.Get("method").Str() != "elicitation/create" {
		t.Fatalf("got %s", question.JSON())
	}
	c.tell(`{"jsonrpc":"2.0","id":` + question.Get("id").JSON() + `,"result":{"action":"accept","content":{"reason":"why not"}}}`)
	if got := c.next().Get("result").JSON(); got != `{"messages":[{"role":"user","content":{"type":"text","text":"why not"}}]}` {
		t.Errorf("got %s", got)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	_, answer = c.ask("prompts/get", `{"name":"sure",`+meta+`}`)
	state := answer.Get("result").Get("requestState")
	if answer.Get("result").Get("resultType").Str() != "input_required" {
		t.Fatalf("got %s", answer.JSON())
	}
	_, answer = c.ask("prompts/get", `{"name":"sure","requestState":`+state.JSON()+`,"inputResponses":{"ask":{"action":"accept","content":{"reason":"so be it"}}},`+meta+`}`)
	if got := answer.Get("result").Get("messages").JSON(); !strings.Contains(got, "so be it") {
		t.Errorf("got %s", answer.JSON())
	}
	for _, want := range []string{
		`"method":"prompts/get","tool":"prompts/greet","decision":"allowed","run":"`,
		`"method":"resources/read","tool":"resources/item","uri":"item://bad","decision":"allowed","run":"`,
		`"outcome":"error"`, `"outcome":"input_required"`, `"method":"prompts/get","tool":"prompts/greet","decision":"denied","reason":"invalid_params"`,
	} {
		if !strings.Contains(records.String(), want) {
			t.Errorf("the audit lacks %s in\n%s", want, records.String())
		}
	}
}

// beforeAt takes the place of a failure out of a message.
func beforeAt(message string) string {
	before, rest, found := strings.Cut(message, " at ")
	if !found {
		return message
	}
	_, after, _ := strings.Cut(rest, ": ")
	return before + ": " + after
}

// A reload tells of the lists that it changes and of no other, and subscriptions go on
// with the new file.
func TestReloadsOfPromptsAndResources(t *testing.T) {
	t.Parallel()
	source := strings.ReplaceAll(fmt.Sprintf(offersFile, "one"), `, env: {KEY: "${SERVER_NAME}"}`, "")
	e := loadChanging(t, source)
	c := serve(t, e.Engine)
	c.ask("initialize", initialize)
	c.tell(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if _, answer := c.ask("resources/subscribe", `{"uri":"state://now"}`); answer.Has("error") {
		t.Fatal(answer.JSON())
	}
	time.Sleep(200 * time.Millisecond) // the first poll
	for _, step := range []struct{ old, new, want string }{
		{"Greets", "Says hello", "prompts"},
		{"priority: 0.5", "priority: 0.6", "resources"},
		{"item://{id}", "items://{id}", "resources"},
		{"Doubles", "Doubles a text", "tools"},
	} {
		source = strings.Replace(source, step.old, step.new, 1)
		e.reload(source)
		if got, want := c.next().Get("method").Str(), "notifications/"+step.want+"/list_changed"; got != want {
			t.Errorf("%s: got %s", step.new, got)
		}
	}
	source = strings.Replace(source, `'"one"'`, `'"two"'`, 1)
	e.reload(source)
	if got := c.next(); got.Get("method").Str() != "notifications/resources/updated" || got.Get("params").JSON() != `{"uri":"state://now"}` {
		t.Errorf("got %s", got.JSON())
	}
	if _, answer := c.ask("ping", `{}`); answer.Get("result").JSON() != `{}` {
		t.Errorf("got %s", answer.JSON())
	}
}

// passing returns a file through which what a server offers passes.
func passing(url, more string) string {
	return fmt.Sprintf(`version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  up: {url: %q}
  gone: {command: /does/not/exist}
tools:
  - name: own
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
passthrough:
  - {server: up, prefix: "up.", prompts: ["p*"], resources: ["file:///safe/*", "a://*", "a-t://{x}"]%s}
  - {server: gone, prompts: ["*p1"], resources: ["gone://*"]}
`, url, more)
}

func TestUpstreamPromptsAndResourcesPass(t *testing.T) {
	t.Parallel()
	for name, modern := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := func(texts ...string) (all []json.RawMessage) {
				for _, text := range texts {
					all = append(all, json.RawMessage(text))
				}
				return all
			}
			web := &mcptest.Web{Modern: modern, Events: true, Script: mcptest.Script{PageSize: 1, Offers: mcptest.Offers{
				Prompts:   list(`{"name":"p1","arguments":[{"name":"x"}],"icons":[{"src":"i"}]}`, `{"name":"q"}`, `{"name":"p2"}`),
				Resources: list(`{"uri":"a://1","name":"one","size":7}`, `{"uri":"b://1","name":"other"}`),
				Templates: list(`{"uriTemplate":"a-t://{x}","name":"t"}`),
			}}}
			up := httptest.NewServer(web)
			t.Cleanup(up.Close)
			var log lockedText
			e := loadChanging(t, passing(up.URL, ""), mcpgraph.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			c := serve(t, e.Engine)
			t.Cleanup(func() { go io.Copy(io.Discard, c.lines) }) // notifications may still come
			_, answer := c.ask("initialize", initialize)
			if got := answer.Get("result").Get("capabilities").JSON(); !strings.Contains(got, `"completions":{},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}`) {
				t.Errorf("it can %s", got)
			}
			c.tell(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			for _, test := range []struct{ method, params, want string }{
				{"prompts/list", `{}`, `{"prompts":[{"name":"up.p1","arguments":[{"name":"x"}],"icons":[{"src":"i"}]},{"name":"up.p2"}]}`},
				{"resources/list", `{}`, `{"resources":[{"uri":"a://1","name":"up.one","size":7}]}`},
				{"resources/templates/list", `{}`, `{"resourceTemplates":[{"uriTemplate":"a-t://{x}","name":"up.t"}]}`},
				{"prompts/get", `{"name":"up.p1","arguments":{"x":"y"}}`, `{"messages":[{"content":{"text":"p1 {\"x\":\"y\"}","type":"text"},"role":"user"}]}`},
				{"prompts/get", `{"name":"p1"}`, `-32603`}, // of the server that is down
				{"prompts/get", `{"name":"none"}`, `-32602`},
				{"prompts/get", `{"name":"up.q"}`, `-32602`}, // not in the list of what passes
				{"resources/read", `{"uri":"a://1"}`, `{"contents":[{"text":"a://1 read 1","uri":"a://1"}]}`},
				{"resources/read", `{"uri":"b://1"}`, `-32002`},
				{"resources/read", `{"uri":"file:///safe/x"}`, `{"contents":[{"text":"file:///safe/x read 2","uri":"file:///safe/x"}]}`},
				{"resources/read", `{"uri":"file:///safe/../etc/passwd"}`, `-32002`},
				{"resources/read", `{"uri":"file:///safe/%2e%2e/etc/passwd"}`, `-32002`},
				{"resources/read", `{"uri":"file:///safe/%252e%252e%252fetc"}`, `-32002`},
				{"resources/read", `{"uri":"file:///safe/x\\..\\y"}`, `-32002`},
				{"resources/read", `{"uri":"file:///safe/..;/x"}`, `-32002`},
				{"resources/read", `{"uri":"gone://1"}`, `-32603`},
				{"resources/read", `{"uri":"file:///safe/y#as=file:///safe/other"}`, `-32603`},
				{"resources/read", `{"uri":"file:///safe/y#as=b://1"}`, `-32603`},
				{"completion/complete", `{"ref":{"type":"ref/prompt","name":"up.p1"},"argument":{"name":"x","value":"v"}}`, `{"completion":{"values":["va","vb"],"total":2,"hasMore":false}}`},
				{"completion/complete", `{"ref":{"type":"ref/resource","uri":"a-t://{x}"},"argument":{"name":"x","value":"w"}}`, `{"completion":{"values":["wa","wb"],"total":2,"hasMore":false}}`},
			} {
				_, answer := c.ask(test.method, test.params)
				got := answer.Get("result").JSON()
				if failed := answer.Get("error"); failed.Kind() == value.Object {
					got = failed.Get("code").JSON()
				}
				if got != test.want {
					t.Errorf("%s %s\n got %s\nwant %s", test.method, test.params, answer.JSON(), test.want)
				}
			}
			if n := strings.Count(log.String(), "left out of lists"); n != 1 || !strings.Contains(log.String(), "server=gone") {
				t.Errorf("logged %d times: %s", n, log.String())
			}
			// Subscriptions reach the server, and its news reach the client.
			if _, answer := c.ask("resources/subscribe", `{"uri":"a://1"}`); answer.Has("error") {
				t.Fatal(answer.JSON())
			}
			for deadline := time.Now().Add(30 * time.Second); len(web.Arrivals("resources/subscribe"))+len(web.Arrivals("subscriptions/listen")) == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("nobody subscribes at the server")
				}
			}
			updated := func(change func()) {
				heard := make(chan value.Value, 1)
				go func() { heard <- c.next() }()
				for {
					change()
					select {
					case got := <-heard:
						if got.Get("method").Str() != "notifications/resources/updated" || got.Get("params").JSON() != `{"uri":"a://1"}` {
							t.Errorf("got %s", got.JSON())
						}
						return
					case <-time.After(50 * time.Millisecond):
					}
				}
			}
			updated(func() {}) // it may have changed before the subscription stood
			updated(func() { web.Touch("a://1") })
		})
	}
}

// A server says that its lists have changed, and clients hear of those that pass.
func TestChangedListsOfUpstreamServersPass(t *testing.T) {
	t.Parallel()
	web := &mcptest.Web{Modern: true, Events: true, Script: mcptest.Script{Offers: mcptest.Offers{
		Prompts: mcptest.Offered("name", "p", 1), Resources: mcptest.Offered("uri", "a://", 1),
	}}}
	up := httptest.NewServer(web)
	t.Cleanup(up.Close)
	source := passing(up.URL, "") + `tools:
  - name: notify
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: notify}
      - {id: notify, type: mcp, server: up, tool: notify, args: {method: {expr: $.entry.method}}, next: exit}
      - {id: exit, type: exit}
`
	first := strings.Index(source, "tools:")
	source = source[:first] + source[strings.Index(source, "passthrough:"):]
	c := serve(t, mustLoad(t, source))
	t.Cleanup(func() { go io.Copy(io.Discard, c.lines) }) // notifications may still come
	c.ask("initialize", initialize)
	c.tell(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if _, answer := c.ask("prompts/list", `{}`); !strings.Contains(answer.JSON(), `"up.p1"`) {
		t.Fatal(answer.JSON())
	}
	for _, list := range []string{"prompts", "resources"} {
		method := "notifications/" + list + "/list_changed"
		// The stream on which the server says so may not be open yet.
		for told, deadline := false, time.Now().Add(30*time.Second); !told; time.Sleep(10 * time.Millisecond) {
			before, answer := c.ask("tools/call", `{"name":"notify","arguments":{"method":"`+method+`"}}`)
			if answer.Get("result").Get("isError").Bool() {
				t.Fatal(answer.JSON())
			}
			for _, n := range before {
				told = told || n.Get("method").Str() == method
			}
			if time.Now().After(deadline) {
				t.Fatalf("no %s came", method)
			}
		}
	}
}

// lockedText is a text that several goroutines write.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
