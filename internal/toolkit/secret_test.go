package toolkit_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/toolkit"
)

func TestSecretsStayInside(t *testing.T) {
	t.Setenv("TEST_SECRET", secret)
	d := open(t, "x-note: \"${TEST_SECRET}\"\ntools: []\n", func(o *toolkit.Options) {
		text, err := os.ReadFile(o.MCPFiles[0])
		if err != nil {
			t.Fatal(err)
		}
		write(t, o.MCPFiles[0], strings.Replace(string(text), `"dead":{`, `"dead":{"env":{"API_TOKEN":"${TEST_SECRET}"},`, 1))
	})
	read := strings.ReplaceAll(strings.Replace(countFiles, "list_directory", "read_text_file", 1), `{\"count\": $count($lines[$contains($, \"[FILE]\")])}`, `{\"text\": $.list, \"log\": $.entry}`)
	r := d.call("runGraphTool", `{"toolDefinition":`+read+`,"arguments":{"directory":"`+secret+`"},"logging":true}`)
	d.has(r, "redacted")
	d.call("getRun", `{"runId":"`+r.Get("runId").Str()+`","pointer":"/history"}`)
	d.call("testMcpTool", `{"server":"files","tool":"read_text_file","args":{"path":"`+secret+`"}}`)
	d.call("testJSONata", `{"expression":"\"`+secret+`\"","context":{}}`)
	if v, ok := d.ask("getGraphTool", `{"toolName":"`+secret+`"}`); ok || strings.Contains(v.Str(), secret) {
		t.Errorf("an error shows a secret: %s", v.Str())
	}
}

// TestTheFileIsShownWithoutSecrets reads the file as soon as it has changed.
func TestTheFileIsShownWithoutSecrets(t *testing.T) {
	d := open(t, "tools: []\n")
	read := func() string {
		t.Helper()
		request := mcp.ReadResourceRequest{}
		request.Params.URI = "mcpgraph://file"
		r, err := d.c.ReadResource(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return r.Contents[0].(mcp.TextResourceContents).Text
	}
	entry := func(typ string) string {
		return head + "mcpServers:\n  api: {type: " + typ + ", url: 'http://127.0.0.1:1/', headers: {Authorization: Bearer " + secret + "}}\ntools: []\n"
	}
	write(t, d.path, entry("http"))
	if text := read(); strings.Contains(text, secret) || !strings.Contains(text, "Bearer [redacted]") {
		t.Errorf("the file is shown as\n%s", text)
	}
	write(t, d.path, strings.Replace(entry("no-such-type"), secret, "another-"+secret, 1))
	if text := read(); strings.Contains(text, secret) || !strings.Contains(text, "validateGraphTool") {
		t.Errorf("with errors, the file is shown as\n%s", text)
	}
}
