package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// previousName is the name of the function that returns the output of the node
// before.
const previousName = "previousNode"

// historyFunctions look into the run. Their signatures are JSONata's: a wrong
// type is error T0410, undefined fits every parameter, and a missing node name
// is taken from the context where that is a string.
var historyFunctions = []jsonata.Function{
	{Name: previousName, Signature: "<n?:x>", Immediate: true, Call: previousNode},
	{Name: "executionCount", Signature: "<s:n>", Immediate: true, Call: executionCount},
	{Name: "nodeExecution", Signature: "<s-n:x>", Immediate: true, Call: nodeExecution},
	{Name: "nodeExecutions", Signature: "<s:a>", Immediate: true, Call: nodeExecutions},
}

// IsFunction reports whether expressions have a function with this name, which is
// without the $.
func IsFunction(name string) bool { return isHistoryFunction(name) || jsonata.IsFunction(name) }

// FunctionNames returns the names of the functions of expressions, without the $,
// sorted.
func FunctionNames() []string {
	names := jsonata.FunctionNames()
	for _, own := range historyFunctions {
		names = append(names, own.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func isHistoryFunction(name string) bool {
	return slices.ContainsFunc(historyFunctions, func(own jsonata.Function) bool { return own.Name == name })
}

// CheckFunctions returns an error for functions of a program that expressions
// cannot have: without a name or an implementation, with a signature that does not
// parse, or with the name of a history function.
func CheckFunctions(fns []jsonata.Function) error {
	for _, fn := range fns {
		if isHistoryFunction(fn.Name) {
			return fmt.Errorf("the function $%s already exists: it reads the history of the run", fn.Name)
		}
	}
	_, err := jsonata.Compile("$", jsonata.WithFunctions(fns...))
	return err
}

func historyOf(c *jsonata.Call) History {
	if env, ok := c.Data().(*Env); ok && env != nil {
		return env.History
	}
	return nil
}

// arg returns an argument, or undefined if it was left out.
func arg(args []value.Value, i int) value.Value {
	if i < len(args) {
		return args[i]
	}
	return value.Undef
}

// whole returns a number as an int, and reports false where it has a fraction
// or is beyond any count of executions.
func whole(v value.Value) (int, bool) {
	f := v.Float()
	if f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

func previousNode(c *jsonata.Call, args []value.Value) (value.Value, error) {
	n, ok := 1, true
	if v := arg(args, 0); !v.IsUndefined() {
		n, ok = whole(v)
	}
	if h := historyOf(c); h != nil && ok && n >= 1 {
		if v, found := h.Previous(n); found {
			return v, nil
		}
	}
	return value.NullValue, nil
}

func outputs(c *jsonata.Call, id value.Value) []value.Value {
	if h := historyOf(c); h != nil && id.Kind() == value.String {
		return h.Outputs(id.Str())
	}
	return nil
}

func executionCount(c *jsonata.Call, args []value.Value) (value.Value, error) {
	return value.FromInt(int64(len(outputs(c, arg(args, 0))))), nil
}

func nodeExecution(c *jsonata.Call, args []value.Value) (value.Value, error) {
	all := outputs(c, arg(args, 0))
	i, ok := whole(arg(args, 1))
	if i < 0 {
		i += len(all)
	}
	if !ok || i < 0 || i >= len(all) {
		return value.NullValue, nil
	}
	return all[i], nil
}

func nodeExecutions(c *jsonata.Call, args []value.Value) (value.Value, error) {
	return value.FromArray(outputs(c, arg(args, 0))), nil
}
