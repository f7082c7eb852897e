package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// runNode runs one node. It returns the output and the next node.
func runNode(ctx context.Context, r *toolRunner, document value.Value, opts []mcpgraph.CallOption) (value.Value, error) {
	record, err := r.engine.RunNode(ctx, r.tool, r.runOptions.node, document, opts...)
	var unknown *mcpgraph.UnknownNodeError
	switch {
	case errors.As(err, &unknown):
		return value.Undef, usagef("%w", err)
	case err != nil:
		return value.Undef, err
	}
	b := value.NewBuilder(2)
	if !record.Output.IsUndefined() {
		b.Set("output", record.Output)
	}
	if record.Next != "" {
		b.Set("next", value.FromString(record.Next))
	}
	return b.Value(), nil
}

// readContext reads --context: a JSON object, or the file that has it, or stdin.
func readContext(ctx context.Context, a *app, given string) (value.Value, error) {
	text, from := given, "--context"
	switch {
	case given == "":
		return value.FromEntries(nil), nil
	case !isObject(given):
		var err error
		if text, from, err = a.readInput(ctx, "--context", given); err != nil {
			return value.Undef, err
		}
	}
	v, err := value.ParseStrict(text)
	switch {
	case err != nil:
		return value.Undef, usagef("%s: %w", from, err)
	case v.Kind() != value.Object:
		return value.Undef, usagef("%s: the context must be a JSON object with the outputs of nodes by their ids, found %s", from, v.Kind())
	}
	return v, nil
}

// isObject reports whether --context is JSON, not the name of a file.
func isObject(given string) bool { return strings.HasPrefix(strings.TrimSpace(given), "{") }

// withEntry returns the document with the arguments as the output of the entry node,
// if there are any.
func withEntry(document value.Value, g *graph.Graph, args value.Value) (value.Value, error) {
	if args.Len() == 0 {
		return document, nil
	}
	id := g.Entry.ID
	if !document.Get(id).IsUndefined() {
		return document, usagef("both --context and --arg or --args set %q", id)
	}
	return value.FromEntries(append([]value.Entry{{Key: id, Value: args}}, document.Entries()...)), nil
}

// completeNode offers the nodes of the tool.
func completeNode(a *app, mcpFiles *[]string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		if len(args) < 2 {
			return nil, directive
		}
		engine := completing(a, args[0], *mcpFiles)
		if engine == nil {
			return nil, directive
		}
		defer engine.Close()
		return engine.NodeIDs(args[1]), directive
	}
}
