package server_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

const hardSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["z","a"],"properties":{"z":{"enum":["<b>",1,null,{"k":[]}]},"a":{"type":"array","items":{"anyOf":[{"type":"string","pattern":"^[a-z]&+$"},{"$ref":"#/$defs/n"}]}},"m":{"type":"object","properties":{"y":{"type":"integer","maximum":12345678901234567890},"b":{"const":false}}}},"if":{"required":["m"]},"then":{"minProperties":2},"$defs":{"n":{"type":"number","default":0}},"additionalProperties":false}`

func TestToolsAreListedAsWritten(t *testing.T) {
	opts := server.Options{Call: echo, Tools: []server.Tool{
		{
			Name: "z_first", Title: "First & <foremost>", Description: "a > b",
			InputSchema:  parse(t, hardSchema),
			OutputSchema: parse(t, `{"type":"object","properties":{"z":{},"a":{}}}`),
			Annotations:  parse(t, `{"readOnlyHint":true,"x-own":[1],"destructiveHint":false}`),
			Icons:        parse(t, `[{"src":"https://example.com/i.png?a=1&b=2","sizes":["48x48"],"x":1}]`),
		},
		{Name: "a_second", InputSchema: parse(t, `{"type":"object"}`), OutputSchema: parse(t, `{"type":"array","items":{"type":"number"}}`)},
	}}
	first := `{"name":"z_first","title":"First & <foremost>","description":"a > b","inputSchema":` + hardSchema +
		`,"outputSchema":{"type":"object","properties":{"z":{},"a":{}}},"annotations":{"readOnlyHint":true,"x-own":[1],"destructiveHint":false},"icons":[{"src":"https://example.com/i.png?a=1&b=2","sizes":["48x48"],"x":1}]}`

	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		c := start(t, opts)
		c.initialize(version)
		c.want(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":1,"result":{"tools":[`+first+`,{"name":"a_second","inputSchema":{"type":"object","properties":{}}}]}}`)
		c.closed()
	}

	c := start(t, opts)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`)
	line := c.line()
	if !strings.Contains(line, `"tools":[`+first+`,{"name":"a_second","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"array","items":{"type":"number"}}}]`) {
		t.Errorf("revision 2026-07-28 lists %s", line)
	}
	c.closed()
}

func TestInputSchemasAreListedAsObjects(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":{}},"type":"object"}`:     `{"properties":{"a":{}},"type":"object"}`,
		`{"properties":{"a":{}},"x":1}`:               `{"type":"object","properties":{"a":{}},"x":1}`,
		`{"required":["a"],"type":["object","null"]}`: `{"type":"object","required":["a"],"properties":{}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{}}}`:       `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{}},"properties":{}}`,
		`{}`:                                          `{"type":"object","properties":{}}`,
		`true`:                                        `{"type":"object","properties":{}}`,
		`false`:                                       `{"type":"object","not":{},"properties":{}}`,
	} {
		c := start(t, server.Options{Call: echo, Tools: []server.Tool{{Name: "t", InputSchema: parse(t, schema)}}})
		c.initialize("2025-11-25")
		c.want(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":`+want+`}]}}`)
		c.closed()
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`

func TestRevision20260728WithoutHandshake(t *testing.T) {
	c := start(t, echoOptions(t))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`)
	discovered := parse(t, c.line()).Get("result")
	if v := discovered.Get("supportedVersions").JSON(); !strings.Contains(v, `"2026-07-28"`) || !strings.Contains(v, `"2025-11-25"`) {
		t.Errorf("supportedVersions: %s", discovered.JSON())
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"value","arguments":{"value":[1,null]},` + modernMeta + `}}`)
	result := parse(t, c.line()).Get("result")
	if got := result.Get("structuredContent").JSON(); got != `[1,null]` {
		t.Errorf("structuredContent: %s in %s", got, result.JSON())
	}
	if got := result.Get("resultType").Str(); got != "complete" {
		t.Errorf("resultType: %s", result.JSON())
	}
	c.closed()
}

func TestUnusableHeaderAnnotationsAreAnError(t *testing.T) {
	_, err := server.New(server.Options{Call: echo, Tools: []server.Tool{{
		Name:        "t",
		InputSchema: parse(t, `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"bad header"}}}`),
	}}})
	if err == nil || !strings.Contains(err.Error(), `tool "t"`) {
		t.Errorf("err = %v", err)
	}
}

func TestContentBlocksAreUnchanged(t *testing.T) {
	opts := echoOptions(t)
	blocks := tool(t, "value")
	blocks.Blocks = true
	opts.Tools = []server.Tool{blocks}
	c := start(t, opts)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"value","arguments":{"value":[{"type":"image","mimeType":"a/<b>","data":"","x":12345678901234567890}]}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","mimeType":"a/<b>","data":"","x":12345678901234567890}]}}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"value","arguments":{"value":[]},` + modernMeta + `}}`)
	if r := parse(t, c.line()).Get("result"); r.Get("content").JSON() != "[]" || r.Has("structuredContent") || r.Get("resultType").Str() != "complete" {
		t.Errorf("%s", r.JSON())
	}
	c.closed()
	blocks.OutputSchema = parse(t, `{"type":"object"}`)
	if err := blocks.Check(); err == nil || !strings.Contains(err.Error(), `remove outputSchema`) {
		t.Errorf("with an output schema: %v", err)
	}
}
