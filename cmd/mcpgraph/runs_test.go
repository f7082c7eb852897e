package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const twoCallers = "MCPGRAPH_AUTH_TOKENS=ann 0123456789abcdef-ann\nbob 0123456789abcdef-bob"

// caller asks as one caller, in one era of the protocol.
type caller struct {
	*web
	headers []string
	modern  bool
}

func (w *web) caller(name string, modern bool) *caller {
	w.t.Helper()
	headers := []string{"Authorization", "Bearer 0123456789abcdef-" + name}
	if modern {
		headers = append(headers, "Mcp-Protocol-Version", "2026-07-28")
	} else {
		headers = w.session(headers...)
	}
	return &caller{w, headers, modern}
}

// ask gives the answer to a request; named is the tool or the resource.
func (c *caller) ask(method, key, named, more string) value.Value {
	c.t.Helper()
	headers, params := c.headers, fmt.Sprintf("%q:%q%s", key, named, more)
	if c.modern {
		headers = append(headers[:len(headers):len(headers)], "Mcp-Method", method)
		if key != "cursor" {
			headers = append(headers, "Mcp-Name", named)
		}
		params += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	_, _, body := c.web.ask(http.MethodPost, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params), headers...)
	v, err := value.Parse(body)
	if err != nil {
		c.t.Fatalf("%s %s: %v: %s", method, named, err, body)
	}
	return v
}

// read gives the text of a resource, empty where there is none, and the error.
func (c *caller) read(uri string) (text string, failure value.Value) {
	c.t.Helper()
	answer := c.ask("resources/read", "uri", uri, "")
	if contents := answer.Get("result").Get("contents").Elems(); len(contents) == 1 {
		return contents[0].Get("text").Str(), value.Undef
	}
	return "", answer.Get("error")
}

func TestCallersOverHTTPReadTheirOwnRunsOnly(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, []string{twoCallers}, "testdata/tools.yaml", "--auth", "bearer", "--expose-runs")
	defer w.stop()
	callers := map[string][]*caller{}
	ids := map[string][]string{}
	for _, name := range []string{"ann", "bob"} {
		for _, modern := range []bool{false, true} {
			c := w.caller(name, modern)
			callers[name] = append(callers[name], c)
			if answer := c.ask("tools/call", "name", "pick", fmt.Sprintf(`,"arguments":{"value":{"of":%q}}`, name)); !answer.Has("result") {
				t.Fatalf("%s", answer.JSON())
			}
		}
		index, _ := callers[name][0].read("mcpgraph://runs")
		for _, at := range regexp.MustCompile(`"uri":"(mcpgraph://runs/[^"]+)"`).FindAllStringSubmatch(index, -1) {
			ids[name] = append(ids[name], at[1])
		}
		if len(ids[name]) != 2 || strings.Contains(index, `"of"`) {
			t.Fatalf("the runs of %s are %s", name, index)
		}
	}
	for name, both := range callers {
		other := map[string]string{"ann": "bob", "bob": "ann"}[name]
		for _, c := range both {
			index, _ := c.read("mcpgraph://runs")
			for _, id := range ids[name] {
				if run, _ := c.read(id); !strings.Contains(run, `{"of":"`+name+`"}`) || !strings.Contains(index, id) {
					t.Errorf("%s, modern %t: their run %s is %q, the index %s", name, c.modern, id, run, index)
				}
			}
			_, made := c.read("mcpgraph://runs/3w5e11264sgsf")
			for _, id := range ids[other] {
				run, failure := c.read(id)
				if run != "" || strings.Contains(index, id) {
					t.Errorf("%s, modern %t: %s's run %s is %q, the index %s", name, c.modern, other, id, run, index)
				}
				// It is not told from one that never was.
				if a, b := failure.JSON(), strings.ReplaceAll(made.JSON(), "mcpgraph://runs/3w5e11264sgsf", id); a != b || made.IsUndefined() {
					t.Errorf("%s, modern %t: the error for %s's run is %s, for a made-up one %s", name, c.modern, other, a, b)
				}
			}
			for _, uri := range []string{"mcpgraph://runs/", "mcpgraph://runs/*", "mcpgraph://runs/../runs", ids[other][0] + "/", "mcpgraph://runs?caller=" + other} {
				if text, _ := c.read(uri); strings.Contains(text, `"`+other+`"`) || strings.Contains(text, ids[other][0]) {
					t.Errorf("%s reads %s: %s", name, uri, text)
				}
			}
		}
	}
}

func TestRunsAreNoResourcesUnasked(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, []string{twoCallers}, "testdata/tools.yaml", "--auth", "bearer")
	defer w.stop()
	for _, modern := range []bool{false, true} {
		c := w.caller("ann", modern)
		c.ask("tools/call", "name", "pair", `,"arguments":{"n":1}`)
		if text, failure := c.read("mcpgraph://runs"); text != "" || failure.IsUndefined() {
			t.Errorf("modern %t: the runs are %s %s", modern, text, failure.JSON())
		}
		for _, method := range []string{"resources/list", "resources/templates/list"} {
			if answer := c.ask(method, "cursor", "", ""); strings.Contains(answer.JSON(), "mcpgraph://") || answer.Get("result").Get("resources").Len() > 0 {
				t.Errorf("modern %t: %s gives %s", modern, method, answer.JSON())
			}
		}
	}
}
