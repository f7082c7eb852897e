package toolkit_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/toolkit"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// draft is a definition with one node.
func draft(node string) string {
	return `{"name":"draft","description":"d","inputSchema":{"type":"object"},"nodes":[{"id":"entry","type":"entry","next":"a"},` + node + `,{"id":"exit","type":"exit"}]}`
}

func TestNumbersThatAreTooGreat(t *testing.T) {
	d := open(t, "tools: []\n")
	definition := draft(`{"id":"a","type":"transform","transform":{"expr":"1"},"next":"exit"}`)
	d.call("addGraphTool", `{"tool":`+definition+`}`)
	id := d.call("runGraphTool", `{"toolName":"draft","arguments":{}}`).Get("runId").Str()
	for _, n := range []string{"1e300", "9223372036854775807"} {
		d.refuses("getRun", `{"runId":"`+id+`","execution":`+n+`}`, "too high: the run has 3")
		d.refuses("evaluateInRun", `{"runId":"`+id+`","expression":"1","execution":`+n+`}`, "is beyond the end")
		d.refuses("runGraphTool", `{"toolName":"draft","arguments":{},"from":{"runId":"`+id+`","step":`+n+`}}`, "but the run has 3 executions")
		d.has(d.call("getRun", `{"runId":"`+id+`","part":"nodes","from":`+n+`}`), `"value":[]`, `"total":3`)
		d.call("getRun", `{"runId":"`+id+`","maxBytes":`+n+`}`)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	d := open(t, "tools: []\n")
	failing := func(message string) string {
		return draft(`{"id":"a","type":"map","items":{"expr":"[1..50]"},"tolerateFailures":50,"nodes":[{"id":"b","type":"switch","conditions":[{"rule":{"log":"` + strings.Repeat("y", 5000) + `"},"next":"c"}],"next":"c"},{"id":"c","type":"transform","transform":{"expr":"` + message + `"}}],"next":"exit"}`)
	}
	const limit = 50_000 // two executions for each item
	for _, message := range []string{"$error($pad('x', 100000))", "$pad('x', 100000)"} {
		v := d.call("runGraphTool", `{"toolDefinition":`+failing(message)+`,"arguments":{},"maxBytes":1000,"logging":true}`)
		if n := len(v.JSON()); n > limit || v.Get("truncated").Bool() == false {
			t.Errorf("%s: the answer has %d bytes, truncated %v: %s", message, n, v.Get("truncated"), v.Preview(2000))
		}
	}
	// A long history has its beginning and its end.
	v := d.call("runGraphTool", `{"toolDefinition":`+draft(`{"id":"a","type":"map","items":{"expr":"[1..2000]"},"nodes":[{"id":"b","type":"transform","transform":{"expr":"$item"}}],"next":"exit"}`)+`,"arguments":{}}`)
	history := v.Get("executionHistory").Elems()
	if n := len(v.Get("executionHistory").JSON()); n > 42_000 || len(history) < 100 || history[0].Get("nodeId").Str() != "entry" || history[len(history)-1].Get("nodeId").Str() != "exit" {
		t.Errorf("a history of %d executions has %d bytes: %s", len(history), n, v.Preview(1000))
	}
	for i := 1; i < len(history); i++ {
		if history[i-1].Get("executionIndex").Float() >= history[i].Get("executionIndex").Float() {
			t.Fatalf("execution %d stands behind %s", i, history[i-1].JSON())
		}
	}
	v = d.call("runGraphTool", `{"toolDefinition":`+draft(`{"id":"a","type":"transform","transform":{"expr":"$error($pad('x', 100000))"},"next":"exit"}`)+`,"arguments":{}}`)
	d.has(v, `"name":"expression"`, `"node":"a"`)
	if n := len(v.JSON()); n > limit {
		t.Errorf("an answer with an error has %d bytes", n)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	d := open(t, "tools: []\n", func(o *toolkit.Options) { o.Memory = memory.New(64 << 20) })
	const much = `$map([1..10000000], function($x){$string($x) & '------------------------------'})`
	for _, c := range [][2]string{
		{"testJSONata", `{"expression":"` + much + `","context":{}}`},
		{"testMcpTool", `{"server":"files","tool":"read_text_file","args":{"path":{"expr":"` + much + `"}},"context":{}}`},
		{"runGraphTool", `{"toolDefinition":` + draft(`{"id":"a","type":"transform","transform":{"expr":"`+much+`"},"next":"exit"}`) + `,"arguments":{}}`},
	} {
		v, _ := d.ask(c[0], c[1])
		if !strings.Contains(v.JSON(), "memory") {
			t.Errorf("%s: %s", c[0], v.Preview(500))
		}
	}
	d.call("testJSONata", `{"expression":"1","context":{}}`)
}
