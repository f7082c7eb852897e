package nodes

import (
	"context"
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Switch goes where the first true rule leads. Its output is the id of the
// node it went to.
var Switch = &graph.Kind{
	Name:   "switch",
	Doc:    "Goes where the first rule that is true leads; its output is the id of that node",
	Decode: decodeSwitch,
}

const targetDoc = "The node to go to where the rule is true"

func decodeSwitch(f *graph.Fields) graph.Step {
	s := &router{fallback: graph.NoEdge}
	// In the flat layout a condition without a rule is the default.
	var optional, target []graph.Option
	if f.Flat() {
		optional = []graph.Option{graph.Optional}
		target = []graph.Option{graph.Alias("target")}
	}
	conditions := f.List("conditions", "Rules in the order in which they are tried")
	defaults := 0
	for _, c := range conditions {
		ruled := c.Has("rule")
		rule := c.Rule("rule", "A JSON Logic rule, in which var takes JSONata expressions", optional...)
		edge := c.Edge("next", targetDoc, target...)
		if !ruled && f.Flat() {
			defaults++
			if defaults > 1 {
				c.Problem("", diag.CodeConflict, "has a second condition without a rule",
					"only one condition can be the default")
			}
			s.fallback = edge
			c.LabelEdge(edge, "default", true)
			continue
		}
		c.LabelEdge(edge, rule.Source(), false)
		s.routes = append(s.routes, route{rule, edge})
	}
	next := f.Edge("next", "The node to go to where no rule is true", optional...)
	f.LabelEdge(next, "default", true)
	switch {
	case next == graph.NoEdge:
	case defaults > 0:
		f.Problem("next", diag.CodeConflict, "has both \"next\" and a condition without a rule",
			"only one of them can be the default")
	default:
		s.fallback = next
	}
	if f.Flat() && defaults == 0 && !f.Has("next") {
		f.Problem("conditions", diag.CodeNoDefault, "has no default",
			"add `next`, or a condition without a rule")
	}
	f.YieldsTarget()
	for _, id := range f.Targets() {
		s.targets = append(s.targets, value.FromString(id))
	}
	return s
}

// router is the step of a switch.
type router struct {
	routes   []route
	fallback int
	targets  []value.Value // by edge
}

type route struct {
	rule *graph.Program
	edge int
}

var errNoRoute = errors.New("no rule is true, and there is no default")

func (s *router) Run(ctx context.Context, in *graph.Input) (graph.Output, error) {
	for _, r := range s.routes {
		ok, err := r.rule.Test(ctx, in.Env)
		if err != nil {
			return graph.Output{}, err
		}
		if ok {
			return graph.Output{Value: s.targets[r.edge], Edge: r.edge}, nil
		}
	}
	if s.fallback == graph.NoEdge {
		return graph.Output{}, errNoRoute
	}
	return graph.Output{Value: s.targets[s.fallback], Edge: s.fallback}, nil
}
