package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// evalLines evaluates the lines of stdin one after the other. Only a stream
// that fails, or a signal, ends it early.
func evalLines(ctx context.Context, a *app) error {
	in := bufio.NewReaderSize(a.stdin, 64<<10)
	for number := 1; ; number++ {
		line, err := unlessSignalled(ctx, func() ([]byte, error) { return in.ReadBytes('\n') })
		if err != nil && !errors.Is(err, io.EOF) {
			return failed(err)
		}
		last := err != nil
		if line = bytes.TrimSpace(line); len(line) > 0 {
			answer := evalLine(ctx, a, number, string(line))
			if cause := context.Cause(ctx); cause != nil {
				return failed(cause)
			}
			if _, err := a.stdout.Write(append(answer, '\n')); err != nil {
				return failed(err)
			}
		}
		if last {
			return nil
		}
	}
}

// evalLine returns the answer to one line. Whatever happens, there is one.
func evalLine(ctx context.Context, a *app, number int, line string) (answer []byte) {
	id := value.NullValue
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.stderr, "mcpgraph: line %d: %v\n%s", number, p, debug.Stack())
			answer = lineError(id, failure{offset: -1, message: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	v, err := value.ParseLazy(line)
	if err != nil {
		return lineError(id, failure{offset: -1, message: fmt.Sprintf("line %d: %v", number, err)})
	}
	if given := v.Get("id"); !given.IsUndefined() {
		id = given
	}
	e, err := evaluationOf(v)
	if err != nil {
		return lineError(id, failure{offset: -1, message: fmt.Sprintf("line %d: %v", number, err)})
	}
	e.log = a.stderr
	result, err := e.run(ctx)
	if err != nil {
		return lineError(id, failureOf(err))
	}
	b := value.NewBuilder(3)
	b.Set("id", id)
	if result.IsUndefined() || result.Kind() == value.Func {
		b.Set("kind", value.FromString("undefined"))
	} else {
		b.Set("kind", value.FromString("value"))
		b.Set("value", result)
	}
	return b.Value().Append(nil)
}

func evaluationOf(line value.Value) (evaluation, error) {
	e := evaluation{
		rule: line.Get("rule"), isRule: line.Has("rule"),
		data: line.Get("data"), bindings: line.Get("bindings"),
	}
	source := line.Get("expr")
	switch {
	case line.Kind() != value.Object:
		return e, fmt.Errorf("expected an object, found %s", line.Kind())
	case !e.isRule && source.IsUndefined():
		return e, errors.New(`expected "expr" or "rule"`)
	case !e.isRule && source.Kind() != value.String:
		return e, fmt.Errorf(`"expr" must be a string, found %s`, source.Kind())
	}
	e.expr = source.Str()
	if line.Get("noData").Bool() {
		e.data = value.Undef
	}
	if k := e.bindings.Kind(); k != value.Undefined && k != value.Object {
		return e, fmt.Errorf(`"bindings" must be an object, found %s`, k)
	}
	limit, err := positive(line, "timelimit")
	if err != nil {
		return e, err
	}
	e.timelimit = time.Duration(limit * float64(time.Millisecond))
	depth, err := positive(line, "depth")
	e.depth = int(depth)
	return e, err
}

// positive returns a number above 0, or 0 where the line has none.
func positive(line value.Value, name string) (float64, error) {
	v := line.Get(name)
	if v.IsUndefined() || v.IsNull() {
		return 0, nil
	}
	const most = 1e9 // milliseconds, or frames
	if f := v.Float(); f >= 1 && f <= most {
		return f, nil
	}
	return 0, fmt.Errorf("%q must be a number from 1 to 1000000000, found %s", name, v.JSON())
}

func lineError(id value.Value, f failure) []byte {
	b := value.NewBuilder(6)
	b.Set("id", id)
	b.Set("kind", value.FromString("error"))
	if f.code != "" {
		b.Set("code", value.FromString(f.code))
	}
	if f.offset >= 0 {
		b.Set("position", value.FromInt(int64(f.offset)))
	}
	if f.token != "" {
		b.Set("token", value.FromString(f.token))
	}
	b.Set("message", value.FromString(f.message))
	return b.Value().Append(nil)
}
