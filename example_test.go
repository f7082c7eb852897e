package mcpgraph_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const greeting = `
version: "1.0"
server: {name: greeter, version: "1"}
tools:
  - name: greet
    description: Greets somebody
    inputSchema: {type: object, required: [name], properties: {name: {type: string}}}
    nodes:
      - {id: entry, type: entry, next: greet}
      - {id: greet, type: transform, transform: {expr: "'Hello, ' & $.entry.name"}, next: exit}
      - {id: exit, type: exit}
`

func ExampleLoad() {
	engine, err := mcpgraph.Load("examples/count_files.yaml")
	if err != nil {
		log.Fatal(err) // with everything that is wrong in the file
	}
	defer engine.Close()
	for _, tool := range engine.Tools() {
		fmt.Println(tool.Name)
	}
	// Output: count_files
}

func ExampleLoadBytes() {
	engine, err := mcpgraph.LoadBytes("greeting.yaml", []byte(greeting))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	result, err := engine.Call(context.Background(), "greet", map[string]any{"name": "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s after %d nodes\n", result.JSON(), len(result.History))
	// Output: "Hello, Ada" after 3 nodes
}

// Another engine is the server "greeter", in the same process.
func ExampleWithServer() {
	greeter, err := mcpgraph.LoadBytes("greeting.yaml", []byte(greeting))
	if err != nil {
		log.Fatal(err)
	}
	defer greeter.Close()
	engine, err := mcpgraph.LoadBytes("loud.yaml", []byte(`
version: "1.0"
server: {name: loud, version: "1"}
tools:
  - name: shout
    description: Greets loudly
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: mcp, server: greeter, tool: greet, args: {expr: $.entry}, next: loud}
      - {id: loud, type: transform, transform: {expr: $uppercase($.ask)}, next: exit}
      - {id: exit, type: exit}
`), mcpgraph.WithServer("greeter", func(ctx context.Context, in io.Reader, out io.Writer) error {
		return greeter.ServeStdio(ctx, in, out)
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	result, err := engine.Call(context.Background(), "shout", map[string]any{"name": "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", result.JSON())
	// Output: "HELLO, ADA"
}

func ExampleWithFunctions() {
	reverse := jsonata.Function{Name: "reversed", Signature: "<s:s>", Call: func(_ *jsonata.Call, args []value.Value) (value.Value, error) {
		var b strings.Builder
		runes := []rune(args[0].Str())
		for i := range runes {
			b.WriteRune(runes[len(runes)-1-i])
		}
		return value.FromString(b.String()), nil
	}}
	file := strings.Replace(greeting, "$.entry.name", "$reversed($.entry.name)", 1)
	engine, err := mcpgraph.LoadBytes("greeting.yaml", []byte(file), mcpgraph.WithFunctions(reverse))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	result, err := engine.Call(context.Background(), "greet", map[string]any{"name": "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", result.JSON())
	// Output: "Hello, adA"
}

func ExampleEngine_Handler() {
	engine, err := mcpgraph.LoadBytes("greeting.yaml", []byte(greeting))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	handler, err := engine.Handler(server.HTTPOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.Handle("/ai/", http.StripPrefix("/ai", handler))
	srv := httptest.NewServer(mux) // in a program: http.Server, with RegisterOnShutdown(handler.Close)
	defer srv.Close()
	defer handler.Close()
	res, err := http.Get(srv.URL + "/ai/readyz")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	fmt.Printf("%s", text)
	// Output: ready
}
