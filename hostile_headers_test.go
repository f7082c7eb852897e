package mcpgraph_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// What a client says in _meta may become a header for a server, but nothing else:
// no second header, no second request, and no failure for those who come after.
func TestHostileMetaDoesNotEscapeItsHeader(t *testing.T) {
	web := &mcptest.Web{}
	c := serve(t, mustLoad(t, overHTTP(t, web,
		`, forwardMeta: [{from: tenant, to: X-Tenant}]`, "fail {text: went through}")))
	c.ask("initialize", initialize)
	for name, meta := range map[string]string{
		"a header in a value":        `"tenant":"a\r\nX-Evil: 1"`,
		"a line in a value":          `"tenant":"a\n\nPOST /mcp HTTP/1.1"`,
		"NUL":                        `"tenant":"a\u0000b"`,
		"a lone surrogate":           `"tenant":"\ud800"`,
		"another type":               `"tenant":{"a":["\r\nX-Evil: 1"]}`,
		"2 MB":                       `"tenant":"` + strings.Repeat("a", 2<<20) + `"`,
		"a header in traceparent":    `"traceparent":"00-a\r\nX-Evil: 1"`,
		"a header in baggage":        `"baggage":"a=b\r\nX-Evil: 1"`,
		"traceparent of nonsense":    `"traceparent":"zz-zz-zz-zz","tracestate":"====,,,,"`,
		"traceparent of a list":      `"traceparent":[1],"tracestate":{},"baggage":7`,
		"2 MB of baggage":            `"baggage":"a=` + strings.Repeat("b", 2<<20) + `"`,
		"2 MB of tracestate":         `"tracestate":"a=` + strings.Repeat("b", 2<<20) + `"`,
		"a progress token of theirs": `"progressToken":{"a":"\r\n"}`,
	} {
		_, answer := c.ask("tools/call", `{"name":"one","_meta":{`+meta+`}}`)
		text := answer.JSON()
		if !strings.Contains(text, `"isError":true`) || strings.Contains(text, "goroutine ") || len(text) > 10_000 {
			t.Errorf("%s: %.500s", name, text)
		}
		if strings.Contains(name, "trace") || strings.Contains(name, "baggage") {
			if !strings.Contains(text, "went through") {
				t.Errorf("%s: the call fails: %.500s", name, text)
			}
		}
		if _, answer = c.ask("tools/call", `{"name":"one","_meta":{"tenant":"t"}}`); !strings.Contains(answer.JSON(), "went through") {
			t.Errorf("%s: the next call fails: %.500s", name, answer.JSON())
		}
	}
	for _, a := range web.Arrivals("") {
		if a.Header.Get("X-Evil") != "" {
			t.Errorf("the server got %v", a.Header)
		}
	}
}
