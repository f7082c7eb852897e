package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

func TestHostileMessagesOverHTTP(t *testing.T) {
	lost := checkLeaks(t)
	x := serve(t, hostileOptions(t), server.HTTPOptions{})
	in := x.session("2025-03-26")
	for _, c := range hostileMessages() {
		g := x.post(c.body, in...)
		if g.status != c.status || !strings.Contains(g.body, c.has) {
			t.Errorf("%s: %d %.300s", c.name, g.status, g.body)
		}
		checkNoInternals(t, c.name, g.body)
	}
	// A second initialize begins another session, and leaves the first alone.
	if other := x.session("2025-11-25"); other[1] == in[1] {
		t.Error("two sessions have one id")
	}
	if g := x.post(hostilePing, in...); g.status != http.StatusOK {
		t.Errorf("after all that the session gives %d %s", g.status, g.body)
	}
	x.close()
	lost()
}

func TestHostileRequestsOverHTTP(t *testing.T) {
	lost := checkLeaks(t)
	server.SetTimes(t, time.Second, time.Second)
	x := serve(t, hostileOptions(t), server.HTTPOptions{AllowedOrigins: []string{"https://good.example"}})
	at := strings.TrimPrefix(x.url, "http://")
	port := at[strings.LastIndex(at, ":"):]
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + eraMeta + `}}}`
	rest := fmt.Sprintf("Content-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: %d\r\n\r\n%s", len(list), list)
	host := "Host: " + at + "\r\n"
	var all sync.WaitGroup
	for _, c := range []struct {
		name, text string
		status     []int // 0: the connection is closed
	}{
		{"as it should be", "POST /mcp HTTP/1.1\r\n" + host + rest, []int{200}},
		{"by the name", "POST /mcp HTTP/1.1\r\nHost: LOCALHOST" + port + "\r\n" + rest, []int{200}},
		{"by the other family", "POST /mcp HTTP/1.1\r\nHost: [::1]" + port + "\r\n" + rest, []int{200}},
		{"a name that was bound to us", "POST /mcp HTTP/1.1\r\nHost: evil.example" + port + "\r\n" + rest, []int{403}},
		{"a name with a dot at its end", "POST /mcp HTTP/1.1\r\nHost: evil.example." + port + "\r\n" + rest, []int{403}},
		{"a name that begins like ours", "POST /mcp HTTP/1.1\r\nHost: localhost.evil.example\r\n" + rest, []int{403}},
		{"an address in a name", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n" + rest, []int{403}},
		{"a name in the port", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:80.evil.example\r\n" + rest, []int{400, 403}},
		{"a port that is too large", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:99999\r\n" + rest, []int{400, 403}},
		{"an address that is none", "POST /mcp HTTP/1.1\r\nHost: [::ffff:10.0.0.1]" + port + "\r\n" + rest, []int{403}},
		{"a number for a host", "POST /mcp HTTP/1.1\r\nHost: 2130706433" + port + "\r\n" + rest, []int{403}},
		{"everywhere", "POST /mcp HTTP/1.1\r\nHost: 0.0.0.0" + port + "\r\n" + rest, []int{403}},
		{"no host", "POST /mcp HTTP/1.0\r\n" + rest, []int{403}},
		{"an empty host", "POST /mcp HTTP/1.1\r\nHost: \r\n" + rest, []int{403}},
		{"two hosts", "POST /mcp HTTP/1.1\r\n" + host + "Host: evil.example\r\n" + rest, []int{400}},
		{"another host in the target", "POST http://evil.example/mcp HTTP/1.1\r\n" + host + rest, []int{403}},
		{"our host in the target", "POST http://" + at + "/mcp HTTP/1.1\r\nHost: evil.example\r\n" + rest, []int{200, 403}},
		{"a good origin", "POST /mcp HTTP/1.1\r\nOrigin: https://good.example\r\n" + host + rest, []int{200}},
		{"two origins", "POST /mcp HTTP/1.1\r\nOrigin: https://good.example\r\nOrigin: https://evil.example\r\n" + host + rest, []int{403}},
		{"the same origin twice", "POST /mcp HTTP/1.1\r\nOrigin: https://good.example\r\nOrigin: https://good.example\r\n" + host + rest, []int{403}},
		{"two origins in one", "POST /mcp HTTP/1.1\r\nOrigin: https://good.example, https://evil.example\r\n" + host + rest, []int{403}},
		{"an origin with a dot at its end", "POST /mcp HTTP/1.1\r\nOrigin: https://good.example.\r\n" + host + rest, []int{403}},
		{"an origin with a path", "POST /mcp HTTP/1.1\r\nOrigin: https://good.example/\r\n" + host + rest, []int{403}},
		{"an origin with another scheme", "POST /mcp HTTP/1.1\r\nOrigin: http://good.example\r\n" + host + rest, []int{403}},
		{"an origin with our name before", "POST /mcp HTTP/1.1\r\nOrigin: http://localhost@evil.example\r\n" + host + rest, []int{403}},
		{"an origin with our name after", "POST /mcp HTTP/1.1\r\nOrigin: http://evil.example/localhost\r\n" + host + rest, []int{403}},
		{"an origin of a file", "POST /mcp HTTP/1.1\r\nOrigin: file://localhost\r\n" + host + rest, []int{403}},
		{"an origin of nothing", "POST /mcp HTTP/1.1\r\nOrigin: null\r\n" + host + rest, []int{403}},
		{"an empty origin", "POST /mcp HTTP/1.1\r\nOrigin:\r\n" + host + rest, []int{403}},
		{"an origin of this machine", "POST /mcp HTTP/1.1\r\nOrigin: http://[::1]:3000\r\n" + host + rest, []int{200}},
		{"two slashes", "POST //mcp HTTP/1.1\r\n" + host + rest, []int{301, 307, 308, 404}},
		{"up and down", "POST /mcp/../mcp HTTP/1.1\r\n" + host + rest, []int{301, 307, 308, 404}},
		{"up beyond the root", "POST /../../../etc/passwd HTTP/1.1\r\n" + host + rest, []int{301, 307, 308, 404}},
		{"below", "POST /mcp/x HTTP/1.1\r\n" + host + rest, []int{404}},
		{"encoded", "POST /%6dcp HTTP/1.1\r\n" + host + rest, []int{200}},
		{"an encoded slash", "POST /%2fmcp HTTP/1.1\r\n" + host + rest, []int{301, 307, 308, 404}},
		{"encoded wrongly", "POST /mcp%zz HTTP/1.1\r\n" + host + rest, []int{400}},
		{"NUL in the path", "POST /mcp%00 HTTP/1.1\r\n" + host + rest, []int{404}},
		{"no path", "POST * HTTP/1.1\r\n" + host + rest, []int{400, 404}},
		{"CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", []int{403}},
		{"CONNECT to us", "CONNECT " + at + " HTTP/1.1\r\n" + host + "\r\n", []int{404, 405}},
		{"TRACE", "TRACE /mcp HTTP/1.1\r\n" + host + "\r\n", []int{405}},
		{"a method of its own", "MAKE /mcp HTTP/1.1\r\n" + host + "\r\n", []int{405}},
		{"HTTP/0.9", "GET /mcp\r\n\r\n", []int{400}},
		{"HTTP/2 in the clear", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{0, 400, 403, 404, 505}},
		{"TLS in the clear", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", []int{0, 400}},
		{"huge headers", "POST /mcp HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 200<<10) + "\r\n" + rest, []int{0, 431}},
		{"many headers", "POST /mcp HTTP/1.1\r\n" + host + strings.Repeat("X: x\r\n", 50_000) + rest, []int{0, 431}},
		{"a header with a line in it", "POST /mcp HTTP/1.1\r\n" + host + "X: a\r\n b\r\n" + rest, []int{200, 400}},
		{"a header with a NUL", "POST /mcp HTTP/1.1\r\n" + host + "X: \x00\r\n" + rest, []int{400}},
		{"two lengths", "POST /mcp HTTP/1.1\r\n" + host + "Content-Length: 3\r\n" + rest, []int{400}},
		{"length and chunks", "POST /mcp HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n" + rest, []int{400}},
		{"a negative length", "POST /mcp HTTP/1.1\r\n" + host + "Content-Type: application/json\r\nContent-Length: -1\r\n\r\n", []int{400}},
		{"garbage for chunks", "POST /mcp HTTP/1.1\r\n" + host + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello", []int{400}},
		{"a chunk that is too long", "POST /mcp HTTP/1.1\r\n" + host + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nhello", []int{400}},
		{"a compressed message", strings.Replace("POST /mcp HTTP/1.1\r\n"+host+rest, "\r\n\r\n{", "\r\nContent-Encoding: gzip\r\n\r\n\x1f", 1), []int{400, 415}},
		{"no type", strings.Replace("POST /mcp HTTP/1.1\r\n"+host+rest, "Content-Type: application/json\r\n", "", 1), []int{415}},
		{"a form", strings.Replace("POST /mcp HTTP/1.1\r\n"+host+rest, "application/json", "application/x-www-form-urlencoded", 1), []int{415}},
		{"text", strings.Replace("POST /mcp HTTP/1.1\r\n"+host+rest, "application/json", "text/plain; charset=application/json", 1), []int{415}},
		{"Expect", "POST /mcp HTTP/1.1\r\nExpect: 100-continue\r\n" + host + rest, []int{100, 200}},
		{"Expect of a miracle", "POST /mcp HTTP/1.1\r\nExpect: miracle\r\n" + host + rest, []int{417}},
		{"an upgrade", "POST /mcp HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n" + host + rest, []int{200}},
	} {
		w := x.dial()
		go func() { _, _ = w.Write([]byte(c.text)) }() // the server may answer before it has read all
		all.Go(func() {                                // some of them the server waits for
			defer w.Close()
			if status, body := w.status(); !contains(c.status, status) {
				t.Errorf("%s: %d %.200s", c.name, status, body)
			}
		})
	}
	all.Wait()
	x.alive()
	x.close()
	lost()
}

func contains(all []int, one int) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

func TestHostileConnections(t *testing.T) {
	lost := checkLeaks(t)
	server.SetTimes(t, 300*time.Millisecond, 300*time.Millisecond)
	x := serve(t, hostileOptions(t), server.HTTPOptions{})
	host := "Host: " + strings.TrimPrefix(x.url, "http://") + "\r\n"
	kind := "Content-Type: application/json\r\n"
	hang := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang","_meta":{` + eraMeta + `}}}`
	call := fmt.Sprintf("POST /mcp HTTP/1.1\r\n%s%sMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: hang\r\nContent-Length: %d\r\n\r\n%s", host, kind, len(hang), hang)
	var all sync.WaitGroup
	for _, c := range []struct {
		name, text string
		half       bool  // the sending half is closed
		status     []int // before the connection is closed; 0 is none
	}{
		{"nothing at all", "", false, []int{0, 408}},
		{"half a line", "POST /m", false, []int{0, 400, 408}},
		{"headers without end", "POST /mcp HTTP/1.1\r\n" + host, false, []int{0, 400, 408}},
		{"no body", "POST /mcp HTTP/1.1\r\n" + host + kind + "Content-Length: 9\r\n\r\n", false, []int{0, 400}},
		{"half a body", "POST /mcp HTTP/1.1\r\n" + host + kind + "Content-Length: 9\r\n\r\n{", false, []int{0, 400}},
		{"half a chunk", "POST /mcp HTTP/1.1\r\n" + host + kind + "Transfer-Encoding: chunked\r\n\r\n9\r\n{", false, []int{0, 400}},
		{"no body of what is refused", "POST /mcp HTTP/1.1\r\n" + host + "Content-Length: 9\r\n\r\n", false, []int{0, 415}},
		{"no body of what is forbidden", "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n", false, []int{403}},
		{"no body of what is not there", "POST /x HTTP/1.1\r\n" + host + "Content-Length: 9\r\n\r\n", false, []int{404}},
		{"no body of what needs none", "GET /healthz HTTP/1.1\r\n" + host + "Content-Length: 9\r\n\r\n", false, []int{200}},
		{"half closed before the body", "POST /mcp HTTP/1.1\r\n" + host + kind + "Content-Length: 9\r\n\r\n", true, []int{0, 400}},
		{"half closed while a call runs", call, true, []int{0, 200}},
	} {
		w := x.dial()
		w.send("%s", c.text)
		if c.half {
			if err := w.CloseWrite(); err != nil {
				t.Error(err)
			}
		}
		all.Go(func() { // most of them the server waits for
			defer w.Close()
			status, body := w.status()
			if !contains(c.status, status) {
				t.Errorf("%s: %d %s", c.name, status, body)
			}
			if status != 0 {
				if status, _ = w.status(); status != 0 {
					t.Errorf("%s: the connection stays", c.name)
				}
			}
		})
	}
	// Answers that nobody reads: many requests in one go, and never a look back.
	for _, text := range []string{
		strings.Repeat("GET /healthz HTTP/1.1\r\n"+host+"\r\n", 1000),
		strings.Repeat("POST /mcp HTTP/1.1\r\n"+host+kind+"Content-Length: 1\r\n\r\n7", 1000),
		strings.Repeat("POST /x HTTP/1.1\r\n"+host+"Content-Length: 1\r\n\r\n7", 1000),
	} {
		w := x.dial()
		all.Go(func() {
			defer w.Close()
			var err error
			for end := time.Now().Add(testTimeout); err == nil && time.Now().Before(end); {
				_, err = w.Write([]byte(text))
			}
			if err == nil {
				t.Error("a client that does not read is served for ever")
			}
		})
	}
	all.Wait()
	x.alive()
	x.close()
	lost()
}

func TestClientThatDoesNotReadIsDisconnected(t *testing.T) {
	lost := checkLeaks(t)
	server.SetTimes(t, time.Minute, 300*time.Millisecond)
	x := serve(t, hostileOptions(t), server.HTTPOptions{})
	host := "Host: " + strings.TrimPrefix(x.url, "http://") + "\r\n"
	for name, params := range map[string]string{
		"echo":    `"arguments":{"a":"` + strings.Repeat("a", 12<<20) + `"},"_meta":{` + eraMeta + `}`,
		"chatter": `"arguments":{"kilobytes":40000},"_meta":{"progressToken":1,` + eraMeta + `}`,
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `",` + params + `}}`
		w := x.dial()
		w.send("POST /mcp HTTP/1.1\r\n%sContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\nContent-Length: %d\r\n\r\n%s", host, name, len(body), body)
		if !w.closed() {
			t.Errorf("%s: the connection stays", name)
		}
		w.Close()
	}
	x.alive()
	x.close()
	lost()
}

func TestTenThousandSessions(t *testing.T) {
	tokens := guardOf(t, "ann", "bob", "cat")
	lost := checkLeaks(t)
	x := serve(t, hostileOptions(t), server.HTTPOptions{Guard: tokens})
	hello := fmt.Sprintf(initialize, "2025-11-25")
	open := func(name string, n int) {
		t.Helper()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range n / 8 {
					if g := x.post(hello, authorizedAsGuarded(name)...); g.status != http.StatusOK {
						t.Errorf("%s: %d %s", name, g.status, g.body)
						return
					}
				}
			})
		}
		all.Wait()
	}
	before := currentUsage()
	open("ann", server.DefaultMaxSessions/2)
	if g := x.post(hello, authorizedAsGuarded("ann")...); g.status != http.StatusServiceUnavailable || g.header.Get("Retry-After") == "" {
		t.Errorf("one caller has more than half of the sessions: %d %s", g.status, g.body)
	}
	bob := x.session("2025-11-25", authorizedAsGuarded("bob")...)
	open("bob", server.DefaultMaxSessions/2-8)
	for range 7 {
		x.session("2025-11-25", authorizedAsGuarded("bob")...)
	}
	if after := currentUsage(); after.heap > before.heap+(32<<20) {
		t.Errorf("10,000 sessions take %d bytes", after.heap-before.heap)
	}
	if g := x.post(hello, authorizedAsGuarded("cat")...); g.status != http.StatusServiceUnavailable {
		t.Errorf("the 10,001st session: %d %s", g.status, g.body)
	}
	// Without a session one is served still, and a session that ends makes room.
	if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+eraMeta+`}}}`, append(authorizedAsGuarded("cat"), modern("tools/list", "")...)...); g.status != http.StatusOK {
		t.Errorf("without a session: %d %s", g.status, g.body)
	}
	if g := x.ask(http.MethodDelete, server.Path, "", bob...); g.status != http.StatusNoContent {
		t.Errorf("%d %s", g.status, g.body)
	}
	x.session("2025-11-25", authorizedAsGuarded("cat")...)
	x.close()
	lost()
}
