package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// strictRequests are one good request of each method.
var strictRequests = []struct {
	method, params string
	eras           string // s: with sessions; m: 2026-07-28
}{
	{"initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}`, "s"},
	{"ping", ``, "s"},
	{"server/discover", ``, "m"},
	{"subscriptions/listen", `"notifications":{}`, "m"},
	{"logging/setLevel", `"level":"info"`, "s"},
	{"tools/list", `"cursor":""`, "sm"},
	{"tools/call", `"name":"open","arguments":{"a":1}`, "sm"},
	{"resources/list", `"cursor":""`, "sm"},
	{"resources/templates/list", `"cursor":""`, "sm"},
	{"resources/read", `"uri":"test://all"`, "sm"},
}

// strictRequest builds a request; place is where extra members go, each after a
// comma: "envelope", "params" or "_meta".
func strictRequest(method, params, era, place, extra string) string {
	meta := `"progressToken":"p"`
	if era == "m" {
		meta += "," + eraMeta
	}
	at := func(p string) string {
		if p == place {
			return "," + extra
		}
		return ""
	}
	if params != "" {
		params = "," + params
	}
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{"_meta":{` + meta + at("_meta") + `}` + params + at("params") + `}` + at("envelope") + `}`
}

// variants are other spellings of a key that encoding/json takes for it.
func variants(key string) []string {
	var all []string
	for _, v := range []string{strings.ToUpper(key), strings.ToUpper(key[:1]) + key[1:], strings.ReplaceAll(key, "s", "ſ"), strings.ReplaceAll(key, "k", "\u212a")} {
		if v != key {
			all = append(all, v)
		}
	}
	return all
}

type strictServer struct {
	name string
	send func(method, name, era, body string) string // the answer
}

// strictServers are the same tools over both transports: open, which anybody may
// call, and guarded, which nobody may.
func strictServers(t *testing.T) (all []strictServer, ran func() string) {
	var mu sync.Mutex
	var last []string
	opts := server.Options{
		Tools: []server.Tool{tool(t, "open"), tool(t, "guarded")},
		Call: func(_ context.Context, q *server.Request) (value.Value, error) {
			mu.Lock()
			defer mu.Unlock()
			last = append(last, q.Tool+q.Args.JSON())
			return q.Args, nil
		},
		Resources: []server.Resource{
			{URI: "test://all", Name: "all", Read: server.ReadText("", func(context.Context, *server.Request) (string, bool) { return "all", true })},
			{URI: "test://secret", Name: "secret", Read: server.ReadText("", func(context.Context, *server.Request) (string, bool) { return "SECRET", true })},
		},
	}
	ran = func() string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { last = nil }()
		return strings.Join(last, " ")
	}
	opts.Tools[1].RequiredScopes = []string{"write"}
	guarded, guard := opts, guardAllowing(t, "ann")
	x := serve(t, guarded, server.HTTPOptions{Guard: guard})
	session := x.session("2025-11-25", authorizedAs("ann")...)
	overHTTP := func(method, name, era, body string) string {
		headers := session
		if era == "m" {
			headers = append(authorizedAs("ann"), modern(method, name)...)
		}
		g := x.post(body, headers...)
		text := g.body
		for line := range strings.Lines(g.body) {
			if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, `"id":`) {
				text = strings.TrimSpace(data)
			}
		}
		return fmt.Sprint(g.status, " ", text)
	}
	c := start(t, opts)
	c.initialize("2025-11-25")
	overPipes := func(_, _, _, body string) string {
		c.send("%s", body)
		for {
			if line := c.line(); strings.Contains(line, `"id":`) {
				return line
			}
		}
	}
	return []strictServer{{"stdio", overPipes}, {"HTTP", overHTTP}}, ran
}

// nameOf is what stands in the header Mcp-Name.
func nameOf(method string) string {
	switch method {
	case "tools/call":
		return "open"
	case "resources/read":
		return "test://all"
	}
	return ""
}

// A key that is there twice is refused wherever it stands, under the id of the
// request unless that is what is there twice.
func TestDuplicateKeysAreRefused(t *testing.T) {
	servers, ran := strictServers(t)
	keys := map[string][]string{
		"envelope": {`"jsonrpc":"2.0"`, `"id":8`, `"method":"ping"`, `"params":{}`, `"\u006dethod":"ping"`},
		"params":   {`"_meta":{}`, `"x":1,"x":2`, `"x":{"y":1,"y":1}`, `"x":[{"y":1,"\u0079":1}]`},
		"_meta":    {`"progressToken":"q"`, `"io.modelcontextprotocol/x":1,"io.modelcontextprotocol/x":2`},
	}
	for _, s := range servers {
		for _, q := range strictRequests {
			for _, era := range strings.Split(q.eras, "") {
				for place, members := range keys {
					all := members
					if place == "params" && q.params != "" {
						all = append([]string{q.params}, members...) // what it needs, again
						if name, _, _ := strings.Cut(q.params, ","); name != q.params {
							all = append(all, name)
						}
					}
					if place == "_meta" && era == "m" {
						all = append([]string{`"io.modelcontextprotocol/protocolVersion":"2025-11-25"`, `"io.modelcontextprotocol/clientCapabilities":{}`}, members...)
					}
					for _, member := range all {
						body := strictRequest(q.method, q.params, era, place, member)
						answer := s.send(q.method, nameOf(q.method), era, body)
						id := `"id":7`
						if member == `"id":8` {
							id = `"id":null`
						}
						if !strings.Contains(answer, "is there twice") || !strings.Contains(answer, `"code":-32600`) || !strings.Contains(answer, id) {
							t.Errorf("%s: %s\n gives %s", s.name, body, answer)
						}
					}
				}
			}
		}
	}
	if got := ran(); got != "" {
		t.Errorf("tools ran: %s", got)
	}
}

// Other spellings of a key are other keys, which nobody reads.
func TestKeysAreCaseSensitive(t *testing.T) {
	servers, ran := strictServers(t)
	hostile := map[string]string{
		"jsonrpc": `"1.0"`, "id": `99`, "method": `"tools/call"`, "params": `{"name":"guarded"}`,
		"_meta": `{"io.modelcontextprotocol/protocolVersion":"1999"}`, "progressToken": `1`,
		"name": `"guarded"`, "arguments": `{"a":2}`, "uri": `"test://secret"`, "cursor": `"x"`, "level": `"nonsense"`,
		"protocolVersion": `"1999"`, "notifications": `{"toolsListChanged":true}`, "task": `[]`,
		"io.modelcontextprotocol/protocolVersion": `"1999"`, "io.modelcontextprotocol/clientCapabilities": `[]`,
	}
	for _, s := range servers {
		for _, q := range strictRequests {
			for _, era := range strings.Split(q.eras, "") {
				good := s.send(q.method, nameOf(q.method), era, strictRequest(q.method, q.params, era, "", ""))
				if !strings.Contains(good, `"result"`) {
					t.Fatalf("%s: %s gives %s", s.name, q.method, good)
				}
				should := ran()
				for key, v := range hostile {
					for _, spelling := range variants(key) {
						for _, place := range []string{"envelope", "params", "_meta"} {
							body := strictRequest(q.method, q.params, era, place, fmt.Sprintf("%q:%s", spelling, v))
							if got := s.send(q.method, nameOf(q.method), era, body); got != good {
								t.Errorf("%s: %s\n gives %s\nnot   %s", s.name, body, got, good)
							}
							if got := ran(); got != should {
								t.Errorf("%s: %s\n ran %s", s.name, body, got)
							}
						}
					}
				}
			}
		}
		// Alone they are as good as absent.
		for _, c := range []struct{ body, method, want string }{
			{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"Name":"open"}}`, "tools/call", "name must be a string, found nothing"},
			{`{"jsonrpc":"2.0","id":7,"method":"tools/call","Params":{"name":"open"}}`, "tools/call", "name must be a string, found nothing"},
			{`{"jsonrpc":"2.0","id":7,"Method":"ping"}`, "ping", "method must be a string"},
			{`{"Jsonrpc":"2.0","id":7,"method":"ping"}`, "ping", "jsonrpc must be"},
			{`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"URI":"test://secret"}}`, "resources/read", "uri must be a string, found nothing"},
			{`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"Level":"info"}}`, "logging/setLevel", "unknown level"},
			{`{"jsonrpc":"2.0","id":7,"method":"Ping"}`, "ping", "unknown method"},
		} {
			if got := s.send(c.method, "", "s", c.body); !strings.Contains(got, c.want) {
				t.Errorf("%s: %s gives %s", s.name, c.body, got)
			}
		}
	}
}

// What the header names is what is checked and what runs.
func TestToolHeaderMustMatchTheCall(t *testing.T) {
	servers, ran := strictServers(t)
	for _, name := range []string{"open", "guarded"} {
		for _, params := range []string{`"name":"open","Name":"guarded"`, `"Name":"guarded","name":"open"`, `"name":"open","NAME":"guarded"`} {
			got := servers[1].send("tools/call", name, "m", strictRequest("tools/call", params, "m", "", ""))
			if (name == "open") != strings.HasPrefix(got, "200") {
				t.Errorf("header %s, params %s: %s", name, params, got)
			}
			if tools := ran(); strings.Contains(tools, "guarded") {
				t.Errorf("header %s, params %s: %s", name, params, tools)
			}
		}
	}
	if got := servers[1].send("tools/call", "guarded", "m", strictRequest("tools/call", `"name":"guarded"`, "m", "", "")); !strings.HasPrefix(got, fmt.Sprint(http.StatusForbidden)) {
		t.Errorf("guarded: %s", got)
	}
}

// A batch is parsed as strictly, and cannot smuggle a call either.
func TestBatchesAreParsedAsStrictly(t *testing.T) {
	opts, guard := scopedOptions(t)
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	in := x.session("2025-03-26", authorizedAs("bob")...)
	g := x.post(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"note","arguments":{"a":1}}},`+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note"}}]`, in...)
	var answers []struct {
		ID     int
		Result *struct{ IsError bool }
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(g.body), &answers); err != nil || len(answers) != 2 {
		t.Fatalf("%d %s", g.status, g.body)
	}
	for _, a := range answers {
		if (a.ID == 1) != (a.Result != nil) || (a.ID == 2) != (a.Error != nil) {
			t.Errorf("%+v", a)
		}
	}
	if g := x.post(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"id":3,"method":"ping"}]`, in...); g.status != 400 || !strings.Contains(g.body, `(/1): the key \"id\" is there twice`) {
		t.Errorf("%d %s", g.status, g.body)
	}
}
