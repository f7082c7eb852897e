package server_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func ExampleServer_ServeStdio() {
	schema, _ := value.Parse(`{"type": "object"}`)
	s, err := server.New(server.Options{
		Info:  config.Server{Name: "demo", Version: "1"},
		Tools: []server.Tool{{Name: "echo", Description: "Gives its arguments back", InputSchema: schema}},
		Call: func(_ context.Context, q *server.Request) (value.Value, error) {
			return q.Args, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	requests := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	if err := s.ServeStdio(context.Background(), requests, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output: {"jsonrpc":"2.0","id":1,"result":{}}
}
