package server_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// What a client sends is quoted to it in part: an answer that repeats megabytes,
// with each byte as an escape of escapes, takes memory that nobody has counted.
func TestErrorsClipClientText(t *testing.T) {
	long := strings.Repeat("\x7f", 200_000)
	for name, body := range map[string]string{
		"method":   strictRequest(long, ``, "m", "", ""),
		"tool":     strictRequest("tools/call", `"name":"`+long+`"`, "m", "", ""),
		"resource": strictRequest("resources/read", `"uri":"`+long+`"`, "m", "", ""),
		"revision": strings.Replace(strictRequest("ping", ``, "m", "", ""), "2026-07-28", "2027-01-01"+long, 1),
		"level":    strictRequest("logging/setLevel", `"level":"`+long+`"`, "s", "", ""),
		"_meta":    `{"jsonrpc":"2.0","id":7,"method":"` + long + `","params":{"_meta":1}}`,
		"params":   `{"jsonrpc":"2.0","id":7,"method":"` + long + `","params":1}`,
	} {
		servers, _ := strictServers(t)
		for _, s := range servers {
			for _, era := range "sm" {
				if text := s.send("tools/call", "open", string(era), body); len(text) > 4096 {
					t.Errorf("%s over %s, era %c: an error of %d bytes", name, s.name, era, len(text))
				}
			}
		}
	}
}

// A header that stands there twice, and a request of a revision without batches
// in a batch, could be another request to a proxy that looks at the headers.
func TestRepeatedHeadersAreRefused(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{})
	body := strictRequest("tools/call", `"name":"echo"`, "m", "", "")
	for _, name := range []string{"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		r := x.request("POST", server.Path, body, modern("tools/call", "echo")...)
		r.Header.Add(name, "other")
		if g := x.do(r); g.status != 400 || !strings.Contains(g.body, "-32020") {
			t.Errorf("%s twice: %d %s", name, g.status, g.body)
		}
	}
	if g := x.post("["+body+"]", x.session("2025-03-26")...); !strings.Contains(g.body, "-32020") {
		t.Errorf("in a batch: %d %s", g.status, g.body)
	}
}
