package mcpgraph_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const textFile = `version: "1.0"
server: {name: text, version: "1"}
tools:
  - name: text
    description: Passes a long text through an mcp node and a transform
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: read}
      - {id: read, type: mcp, server: big, tool: text, next: pass}
      - {id: pass, type: transform, transform: {expr: '{"text": $.read}'}, next: exit}
      - {id: exit, type: exit}
`

// BenchmarkLongText measures a call whose text of 1 MiB goes from a server over
// pipes through an mcp node and a transform to a client over pipes.
func BenchmarkLongText(b *testing.B) {
	for name, line := range map[string]string{
		"prose": "The quick brown fox jumps over the lazy dog; \"quoted\", with a tab\t and a newline\n",
		"json":  `{"id": 12, "name": "some name", "tags": ["a", "b"], "nested": {"x": 1.5, "y": null}}` + "\n",
	} {
		b.Run(name, func(b *testing.B) { benchmarkLongText(b, line) })
	}
}

func benchmarkLongText(b *testing.B, line string) {
	text := value.FromString(strings.Repeat(line, 1<<20/len(line))).JSON()
	benchmarkBig(b, textFile, "text", `[{"type":"text","text":`+text+`}]`)
}

// benchmarkBig calls a tool over pipes. The tool calls a server that answers with
// content.
func benchmarkBig(b *testing.B, file, tool, content string) {
	engine := mustLoad(b, file, mcpgraph.WithServer("big", textServer(content)))
	defer engine.Close()
	inR, in, _ := os.Pipe()
	outR, out, _ := os.Pipe()
	go engine.ServeStdio(context.Background(), inR, out)
	defer in.Close()
	lines := bufio.NewReaderSize(outR, 8<<20)
	ask := func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			b.Fatal(err)
		}
		if answer, err := lines.ReadSlice('\n'); err != nil || !bytes.Contains(answer, []byte(`"result"`)) {
			b.Fatalf("%v: %.200s", err, answer)
		}
	}
	ask(costHello)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`)
	}
}

const rowsFile = `version: "1.0"
server: {name: rows, version: "1"}
tools:
  - name: rows
    description: Sums what is open of a server's rows
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: read}
      - {id: read, type: mcp, server: big, tool: text, next: sum}
      - {id: sum, type: transform, transform: {expr: '{"sum": $sum($.read.rows[open].price), "n": $count($.read.rows[open])}'}, next: exit}
      - {id: exit, type: exit}
`

// BenchmarkRows measures a call whose 1 MiB of rows, as text or as structured
// content of a server, are filtered and summed.
func BenchmarkRows(b *testing.B) {
	var rows strings.Builder
	for i := 0; rows.Len() < 1<<20; i++ {
		fmt.Fprintf(&rows, `,{"id":%d,"name":"order %d","price":%d.25,"tags":["a","b"],"open":%t,"at":"2026-01-%02dT00:00:00Z"}`, i, i, i%100, i%3 == 0, i%28+1)
	}
	structured := `{"rows":[` + rows.String()[1:] + `]}`
	text := value.FromString(structured).JSON()
	for name, content := range map[string]string{
		"text":       `[{"type":"text","text":` + text + `}]`,
		"structured": `[],"structuredContent":` + structured,
	} {
		b.Run(name, func(b *testing.B) { benchmarkBig(b, rowsFile, "rows", content) })
	}
}

// textServer is an MCP server of one tool, which returns content, given as JSON.
func textServer(content string) func(context.Context, io.Reader, io.Writer) error {
	return func(_ context.Context, in io.Reader, out io.Writer) error {
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			request, err := value.Parse(lines.Text())
			if err != nil {
				return err
			}
			id, result := request.Get("id"), `{}`
			switch request.Get("method").Str() {
			case "initialize":
				result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"big","version":"1"}}`
			case "tools/call":
				result = `{"content":` + content + `}`
			}
			if id.IsUndefined() {
				continue
			}
			if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id.JSON(), result); err != nil {
				return err
			}
		}
		return lines.Err()
	}
}
