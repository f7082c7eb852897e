package nodes

import (
	"context"
	"regexp"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Fail ends the walk with a failure.
var Fail = &graph.Kind{
	Name:   "fail",
	Doc:    "Ends the run with a failure or, in a body, ends the body with it",
	Role:   graph.Stop,
	Decode: decodeFail,
}

// defaultFailure is the name of a failure that is given none.
const defaultFailure = "failed"

// failureName is what the name of a failure looks like.
var failureName = regexp.MustCompile(`^[A-Za-z0-9]+$`)

func decodeFail(f *graph.Fields) graph.Step {
	name := f.String("error", "Name of the failure, of letters and digits, for retry and catch rules; by default "+defaultFailure, graph.Optional)
	switch {
	case name == "":
		name = defaultFailure
	case !failureName.MatchString(name):
		f.Problem("error", diag.CodeValue, "has an invalid failure name", "use letters and digits only")
	case config.IsFailureCode(name):
		f.Problem("error", diag.CodeValue, "has a failure name that means an HTTP status", `choose a name, such as "unavailable"`)
	case graph.IsFailure(name):
		f.Problem("error", diag.CodeValue, "has a failure name that mcpgraph itself uses", "choose another name")
	}
	f.Fails(name)
	return fail{
		name:    name,
		message: f.Scalar("message", "What went wrong, for people; by default the name", []string{"string"}, graph.Optional),
		data:    f.Value("data", "Data for rules and clients, in addition to the message", graph.Optional),
	}
}

// fail is the step of a fail node.
type fail struct {
	name          string
	message, data *graph.Template // may be nil
}

func (s fail) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	failed := &graph.Failure{Name: s.name, Message: s.name}
	if s.message != nil {
		v, err := s.message.Eval(ctx, in.Env)
		if err != nil {
			return graph.Action{}, err
		}
		switch {
		case v.Kind() == value.String:
			failed.Message = v.Str()
		case !v.IsUndefined() && v.Kind() != value.Func:
			failed.Message = v.JSON()
		}
	}
	if s.data != nil {
		v, err := s.data.Eval(ctx, in.Env)
		if err == nil {
			v, err = graph.WithoutFunctions(ctx, v)
		}
		if err != nil {
			return graph.Action{}, err
		}
		failed.Data = v
	}
	return graph.Action{}, failed
}
