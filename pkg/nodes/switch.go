package nodes

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Switch goes where the first true rule leads. Its output is the id of the
// node it went to.
var Switch = &graph.Kind{
	Name:   "switch",
	Doc:    "Goes to the node of the first rule that is true; its output is the id of that node",
	Decode: decodeSwitch,
}

const targetDoc = "The next node if the rule is true"

// decodeSwitch also takes the older form of a switch, which files have in both
// layouts: conditions have target instead of next, and one without a rule is
// the default. In that form, in the flat layout and in bodies, next may be left
// out.
func decodeSwitch(f *graph.Fields) graph.Step {
	s := &router{fallback: graph.NoEdge}
	older, defaults := f.Flat(), 0
	for _, c := range f.List("conditions", "Rules, evaluated in order") {
		ruled := c.Has("rule")
		rule := c.Rule("rule", "A JSON Logic rule, in which var takes JSONata expressions", graph.Optional)
		edge := c.Edge("next", targetDoc, graph.Alias("target"))
		older = older || !ruled || c.Has("target")
		if !ruled {
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
	var optional []graph.Option
	if older || f.InBody() {
		optional = []graph.Option{graph.Optional}
	}
	next := f.Edge("next", "The next node if no rule is true", optional...)
	f.LabelEdge(next, "default", true)
	switch {
	case defaults > 0 && f.Has("next"):
		f.Problem("next", diag.CodeConflict, "has both \"next\" and a condition without a rule",
			"only one of them can be the default: add a rule to the condition, or remove \"next\"")
	case defaults == 0 && older && !f.Has("next") && !f.InBody():
		f.Problem("conditions", diag.CodeNoDefault, "has no default",
			"add `next`, or a condition without a rule")
	case next != graph.NoEdge:
		s.fallback = next
	}
	f.YieldsTarget()
	for _, id := range f.Targets() {
		s.targets = append(s.targets, value.FromString(id))
	}
	f.Catch()
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

var errNoRoute = &graph.Failure{Name: graph.FailNoRoute, Message: "no rule is true and there is no default"}

func (s *router) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	for _, r := range s.routes {
		ok, err := r.rule.Test(ctx, in.Env)
		if err != nil {
			return graph.Action{}, err
		}
		if ok {
			return graph.Action{Value: s.targets[r.edge], Edge: r.edge}, nil
		}
	}
	if s.fallback == graph.NoEdge {
		return graph.Action{}, errNoRoute
	}
	return graph.Action{Value: s.targets[s.fallback], Edge: s.fallback}, nil
}
