package nodes

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Map runs its body for each item of a list. Its output is the list of their
// results.
var Map = &graph.Kind{
	Name:   "map",
	Doc:    "Runs its nodes for each item of a list; its output is the list of the results, in the order of the items",
	Decode: decodeMap,
}

// defaultConcurrency is how many items are worked on at the same time.
const defaultConcurrency = 10

func decodeMap(f *graph.Fields) graph.Step {
	s := each{items: f.Value("items", "The list; any other value counts as a list of one item, nothing and null as an empty list")}
	f.SpreadOver(s.items)
	spread := graph.Spread{
		Each: true,
		As:   f.Variable("as", "Name of the variable with the item, without $", "item"),
		At:   f.Variable("at", "Name of the variable with the index of the item, from 0", "index"),
	}
	if spread.As == spread.At {
		f.Problem("at", diag.CodeConflict, `uses the same name for "as" and "at"`, "choose two names")
	}
	spread.Limit = f.Count("maxConcurrency", "Largest number of items processed at the same time; 1 means one after the other, 0 means no limit", defaultConcurrency)
	spread.Tolerate, spread.TolerateShare = f.Tolerance("tolerateFailures",
		`How many items may fail, as a number or a percentage ("10%"); the result of a failed item is {"error": {…}}`)
	f.Body(spread.As, spread.At)
	f.SetSpread(spread)
	s.next = f.Next()
	f.Policy()
	return s
}

// each is the step of a map node.
type each struct {
	items *graph.Template
	next  int
}

func (s each) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	items, err := s.items.Eval(ctx, in.Env)
	if err == nil {
		items, err = graph.WithoutFunctions(ctx, items)
	}
	return graph.Action{Value: items, Edge: s.next, Do: graph.Fork}, err
}
