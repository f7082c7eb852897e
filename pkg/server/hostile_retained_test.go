package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What outlives a request keeps nothing of its message but what it needs: a client
// could make the server hold long messages that count on no account.
func TestNothingKeepsLongMessages(t *testing.T) {
	const messages, padding = 8, 4 << 20
	pad := `"pad":"` + strings.Repeat("x", padding) + `"`
	of := &changing{}
	opts := of.options(time.Hour)
	var detached []*server.Detached
	var parked []string // what runs that wait for an answer, and spans, keep of their requests
	opts.Tools, opts.Call = []server.Tool{{Name: "later", InputSchema: parse(t, `{"type":"object"}`), Task: server.TaskOptional}, tool(t, "parks")},
		func(_ context.Context, r *server.Request) (value.Value, error) {
			if r.Tool == "parks" {
				parked = append(parked, r.Tool, r.Protocol)
				return value.Undef, nil
			}
			d := r.Detach()
			d.Release()
			detached = append(detached, d)
			return value.Undef, nil
		}
	for name, send := range map[string]func(x *testServer, session []string){
		"initialize": func(x *testServer, _ []string) {
			x.session("2025-11-25") // it has a session of its own
			body := strings.Replace(fmt.Sprintf(initialize, "2025-11-25"), `"capabilities"`, pad+`,"capabilities"`, 1)
			if g := x.post(body); g.status != http.StatusOK {
				t.Errorf("%d %s", g.status, g.body)
			}
		},
		"logging/setLevel": func(x *testServer, session []string) {
			if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{`+pad+`,"level":"error"}}`, session...); g.body != emptyResult {
				t.Errorf("%d %s", g.status, g.body)
			}
		},
		"resources/subscribe": func(x *testServer, session []string) {
			body := strings.Replace(fmt.Sprintf(subscribeTo, "a://b"), `"uri"`, pad+`,"uri"`, 1)
			if g := x.post(body, session...); g.body != emptyResult {
				t.Errorf("%d %s", g.status, g.body)
			}
		},
		"a task": func(x *testServer, _ []string) {
			body := `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{` + pad + `,"name":"later","arguments":{"a":"b"},"_meta":{` + eraMeta +
				`,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}`
			if g := x.post(body, modern("tools/call", "later")...); g.status != http.StatusOK {
				t.Errorf("%d %s", g.status, g.body)
			}
		},
		"a parked call": func(x *testServer, _ []string) {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + pad + `,"name":"parks","_meta":{` + eraMeta + `}}}`
			if g := x.post(body, modern("tools/call", "parks")...); g.status != http.StatusOK {
				t.Errorf("%d %s", g.status, g.body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := serveAs(t, opts, server.HTTPOptions{})
			var sessions [][]string
			for range messages {
				sessions = append(sessions, x.session("2025-11-25"))
			}
			before := testscale.Heap()
			for _, session := range sessions {
				send(x, session)
			}
			var held int64
			for deadline := time.Now().Add(testTimeout / 4); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				if held = testscale.Heap() - before; held < messages*padding/2 {
					return
				}
			}
			t.Errorf("%d messages of %d bytes: %d bytes are held", messages, padding, held)
		})
	}
	if len(parked) != 2*messages || len(detached) != messages || detached[0].Args.JSON() != `{"a":"b"}` || detached[0].Tool != "later" || detached[0].ID != `"a"` || detached[0].Client.Name != "c" {
		t.Errorf("%d tasks, such as %+v", len(detached), detached[0])
	}
}
