package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// A client that completes while its user types gets an empty list for what fails, and
// observers see the failure. What does not exist is an error.
func TestCompletionsThatFailAreEmpty(t *testing.T) {
	t.Parallel()
	failures := map[string]error{
		"":       errors.New("the expression failed"),
		"panic":  nil,
		"-32602": &server.InvalidParamsError{Message: "no such argument"},
		"-32002": server.ErrNotFound,
	}
	outcomes := make(chan server.Outcome, 1)
	opts := named(server.Options{Call: echo, Resources: []server.Resource{{
		URI: "a://{x}", Template: true, Name: "a", Read: (&changing{}).read,
		Complete: func(_ context.Context, _ *server.Request, _, typed string, _ value.Value) (server.Completion, error) {
			if failures[typed] == nil {
				panic("boom")
			}
			return server.Completion{Values: []string{"half"}}, failures[typed]
		},
	}}})
	opts.Observe = func(ctx context.Context, _ *server.Request) (context.Context, func(server.Outcome)) {
		return ctx, func(o server.Outcome) { outcomes <- o }
	}
	c := start(t, opts)
	for typed, failure := range failures {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"a://{x}"},"argument":{"name":"x","value":%q}}}`, typed)
		got, empty := c.line(), `{"jsonrpc":"2.0","id":1,"result":{"completion":{"values":[],"total":0,"hasMore":false}}}`
		outcome := <-outcomes
		isError := errors.As(failure, new(*server.InvalidParamsError)) || errors.Is(failure, server.ErrNotFound)
		if isError && !strings.Contains(got, `"code":`+typed) || !isError && (got != empty || !outcome.Failed || outcome.Message == "") {
			t.Errorf("%v: %s, outcome %+v", failure, got, outcome)
		}
	}
	c.closed()
}
