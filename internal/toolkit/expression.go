package toolkit

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// expressionTime bounds one evaluation.
const expressionTime = 10 * time.Second

func tryTools() []*tool {
	const out = `{"type":"object","properties":{"result":{},"error":{"type":"object","properties":{"message":{"type":"string"},"code":{"type":"string"},"position":{"type":"integer"},"hint":{"type":"string"}},"required":["message"]},"warnings":{"type":"array","items":{"type":"object"}}}}`
	const maxBytes = `,"maxBytes":{"type":"integer","minimum":100,"default":20000}`
	return []*tool{
		{core: true, handle: testJSONata, Tool: define("testJSONata", "Evaluates a JSONata expression over context: the outputs of nodes by id, as $.ID.", reads,
			`"expression":{"type":"string"},"context":{"type":"object"}`+maxBytes, `"expression","context"`, out)},
		{core: true, handle: testJSONLogic, Tool: define("testJSONLogic", "Evaluates a JSON Logic rule, as of a switch, over context.", reads,
			`"expression":{"type":["object","array","string","number","boolean","null"],"description":"the rule, or its JSON text"},"context":{"type":"object"}`+maxBytes, `"expression","context"`, out)},
	}
}

// scene is a history in which nothing has run but some outputs are there.
type scene struct{ data value.Value }

var _ expr.History = scene{}

func (s scene) Document() value.Value {
	if s.data.IsUndefined() {
		return value.FromEntries(nil)
	}
	return s.data
}

// Previous returns the last output of the context, as if its members had run in
// their order.
func (s scene) Previous(n int) (value.Value, bool) {
	all := s.data.Entries()
	if n < 1 || n > len(all) {
		return value.Undef, false
	}
	return all[len(all)-n].Value, true
}

func (s scene) Outputs(id string) []value.Value {
	if !s.data.Has(id) {
		return nil
	}
	return []value.Value{s.data.Get(id)}
}

// evaluate returns the value of an expression over a history.
func evaluate(ctx context.Context, source string, h expr.History) (value.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, expressionTime)
	defer cancel()
	program, err := expr.CompileJSONata(source)
	if err != nil {
		return value.Undef, err
	}
	v, err := program.Eval(ctx, &expr.Env{History: h})
	if err != nil {
		return value.Undef, hinted(program, err)
	}
	return v, nil
}

// evaluateRule returns the value of a rule over a history.
func evaluateRule(ctx context.Context, rule value.Value, h expr.History) (value.Value, error) {
	if rule.Kind() == value.String {
		if parsed, err := value.Parse(rule.Str()); err == nil {
			rule = parsed
		}
	}
	ctx, cancel := context.WithTimeout(ctx, expressionTime)
	defer cancel()
	program, errs := expr.CompileLogic(rule)
	if len(errs) > 0 {
		return value.Undef, errs[0]
	}
	v, err := program.Eval(ctx, &expr.Env{History: h})
	if err != nil {
		return value.Undef, hinted(program, err)
	}
	return v, nil
}

// hinted adds what is known to be wrong with a program to its error.
func hinted(program *expr.Program, err error) error {
	var x *expr.Error
	if !errors.As(err, &x) || x.Hint != "" {
		return err
	}
	for _, f := range program.Findings() {
		if f.Hint != "" && (f.Offset == x.Offset || x.Offset < 0) {
			more := *x
			more.Hint = f.Hint
			return &more
		}
	}
	return err
}

// expressionError returns an error of an evaluation.
func expressionError(err error) value.Value {
	var x *expr.Error
	if !errors.As(err, &x) {
		return value.ObjectOf("message", err.Error())
	}
	position := value.Undef
	if x.Offset >= 0 {
		position = value.FromInt(int64(x.Offset))
	}
	return value.ObjectOf("message", x.Message, "code", optional(x.Code), "position", position, "hint", optional(x.Hint))
}

// answerExpression returns the result of a tool that evaluates.
func answerExpression(c *call, v value.Value, err error) value.Value {
	if err != nil {
		return value.ObjectOf("error", expressionError(err))
	}
	if v.Kind() == value.Func {
		return value.ObjectOf("error", value.ObjectOf("message", "the result is a function", "hint", "call it with arguments"))
	}
	v, _ = cut(v, maxBytes(c))
	return value.ObjectOf("result", v)
}

func testJSONata(ctx context.Context, c *call) (value.Value, error) {
	v, err := evaluate(ctx, c.text("expression"), scene{c.args.Get("context")})
	answer := answerExpression(c, v, err)
	if program, bad := expr.CompileJSONata(c.text("expression")); err == nil && bad == nil {
		return withWarnings(answer, program), nil
	}
	return answer, nil
}

// maxWarnings is how many warnings about an expression one answer has.
const maxWarnings = 10

// withWarnings adds what is surely wrong in a program, and may be, to an answer.
func withWarnings(answer value.Value, program *expr.Program) value.Value {
	var list []value.Value
	for _, f := range program.Findings() {
		if len(list) == maxWarnings || f.Kind == expr.ForeignField && answer.Has("result") {
			continue // the field is there
		}
		list = append(list, value.ObjectOf("message", f.Message, "hint", optional(f.Hint), "position", value.FromInt(int64(f.Offset))))
	}
	if len(list) == 0 {
		return answer
	}
	return with(answer, "warnings", list)
}

func testJSONLogic(ctx context.Context, c *call) (value.Value, error) {
	v, err := evaluateRule(ctx, c.args.Get("expression"), scene{c.args.Get("context")})
	return answerExpression(c, v, err), nil
}

// evaluated returns arguments with their expressions evaluated, as those of an mcp
// node: one that yields nothing drops its key, and is null in a list.
func evaluated(ctx context.Context, args, data value.Value) (value.Value, error) {
	switch args.Kind() {
	case value.Array:
		list := make([]value.Value, args.Len())
		for i, item := range args.Elems() {
			v, err := evaluated(ctx, item, data)
			if err != nil {
				return value.Undef, err
			}
			if list[i] = v; v.IsUndefined() {
				list[i] = value.NullValue
			}
		}
		return value.FromArray(list), nil
	case value.Object:
		if source := args.Get("expr"); args.Len() == 1 && source.Kind() == value.String {
			return evaluate(ctx, source.Str(), scene{data})
		}
		b := value.NewBuilder(args.Len())
		for _, e := range args.Entries() {
			v, err := evaluated(ctx, e.Value, data)
			if err != nil {
				return value.Undef, err
			}
			if !v.IsUndefined() {
				b.Set(e.Key, v)
			}
		}
		return b.Value(), nil
	}
	return args, nil
}
