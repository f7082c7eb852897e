package expr

import (
	"context"
	"sync"
	"unsafe"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxBytes bounds the texts and lists that one evaluation of a rule holds.
const maxBytes = 64 << 20

// checkEvery is the number of steps between two looks at the context.
const checkEvery = 1024

const valueSize = int(unsafe.Sizeof(value.Value{}))

// state is one evaluation of a rule.
type state struct {
	ctx   context.Context
	env   *Env
	opts  *jsonata.Options // made when the first JSONata needs it
	scope scope
	stack []value.Value // arguments of the operations under way
	steps int           // since the context was last looked at
	bytes int           // built and still needed
	built int           // lists and objects, ever
	held  int           // of bytes, what counts on the account of the call
}

// states are kept for their stacks.
var states = sync.Pool{New: func() any { return &state{stack: make([]value.Value, 0, 32)} }}

func runLogic(ctx context.Context, rule node, env *Env) (value.Value, error) {
	st := states.Get().(*state)
	st.ctx, st.env = ctx, env
	v, err := rule.eval(st)
	if err == nil {
		err = st.bounded(v)
	}
	if err == nil {
		err = st.stopped()
	}
	if st.held > 0 { // but for what the result holds
		memory.AccountOf(ctx).Shrink(int64(st.held) - v.Footprint(int64(st.held)))
	}
	stack := st.stack[:cap(st.stack)]
	clear(stack)
	*st = state{stack: stack[:0]}
	states.Put(st)
	if err != nil {
		return value.Undef, err
	}
	return v, nil
}

// stopped returns the error of a context that has ended.
func (st *state) stopped() error {
	if st.ctx.Err() == nil {
		return nil
	}
	e := exceeded("the evaluation was interrupted: " + context.Cause(st.ctx).Error())
	e.Err = context.Cause(st.ctx)
	return e
}

func exceeded(message string) *Error {
	e := failed("%s", message)
	e.Code = codeBound
	return e
}

// spend counts steps of work, each worth some tens of nanoseconds, and fails
// once the context has ended.
func (st *state) spend(steps int) error {
	st.steps += steps
	if st.steps < checkEvery {
		return nil
	}
	st.steps = 0
	if p := st.processor(); p != nil {
		p.Yield(st.ctx)
	}
	return st.stopped()
}

// processor is that of the environment, or nil if it has none.
func (st *state) processor() Processor {
	if st.env == nil {
		return nil
	}
	return st.env.Processor
}

// charge counts bytes that are about to be built.
func (st *state) charge(bytes int) error {
	st.bytes += bytes
	if st.bytes > maxBytes {
		return exceeded("the rule builds more than 64 MiB")
	}
	if st.bytes-st.held > heldFrom {
		if err := st.hold(); err != nil {
			return err
		}
	}
	return st.spend(bytes / 256)
}

// heldFrom is how many bytes a rule builds between two times that they are
// counted on the account of the call.
const heldFrom = 256 << 10

func (st *state) hold() error {
	n := st.bytes - st.held
	account := memory.AccountOf(st.ctx)
	if account.TryGrow(int64(n)) {
		st.held += n
		return nil
	}
	if p := st.processor(); p != nil {
		p.Release() // while it waits, others have the processor
	}
	if err := account.Grow(int64(n)); err != nil {
		e := exceeded("the evaluation was interrupted: " + err.Error())
		e.Err = err
		return e
	}
	st.held += n
	return nil
}

// room counts a list of n elements that is about to be built.
func (st *state) room(n int) error {
	st.built++
	return st.charge(n * valueSize)
}

// settle ends one turn of an operator over a list: of what was built since
// before, only the turn's result is still needed.
func (st *state) settle(before int, result value.Value) {
	kept := 0
	switch result.Kind() {
	case value.String:
		kept = len(result.Str())
	case value.Array:
		st.steps += result.Len() / 8
		kept = result.Len() * valueSize
		for _, e := range result.Elems() {
			if e.Kind() == value.String {
				kept += len(e.Str())
			} else if composite(e) {
				return // how much hangs on it is not known: all of it, then
			}
		}
	case value.Object:
		return
	}
	st.bytes = min(st.bytes, before+kept)
}

// options are the options of the JSONata in a rule for the environment.
func (st *state) options() *jsonata.Options {
	if st.opts == nil {
		st.opts = st.env.options(st.ctx)
	}
	return st.opts
}

// scope is what JSON Logic's var reads: the run's document or, in the body of
// an operator over a list, the element.
type scope struct {
	kind        scopeKind
	element     value.Value
	accumulator value.Value
	both        value.Value // of a reduceScope, once somebody asked for the whole
}

type scopeKind uint8

const (
	documentScope scopeKind = iota
	elementScope
	reduceScope // an object of current (the element) and accumulator
)

// root returns the whole of what the scope shows.
func (st *state) root() value.Value {
	switch st.scope.kind {
	case elementScope:
		return st.scope.element
	case reduceScope:
		if st.scope.both.IsUndefined() {
			st.built++
			st.bytes += 4 * valueSize
			st.scope.both = value.FromEntries([]value.Entry{
				{Key: "current", Value: st.scope.element},
				{Key: "accumulator", Value: st.scope.accumulator},
			})
		}
		return st.scope.both
	}
	return st.env.document()
}

// lookup returns the value at a path from the root, or undefined if there is
// none.
func (st *state) lookup(path []string) value.Value {
	var v value.Value
	if st.scope.kind == reduceScope {
		switch path[0] {
		case "current":
			v = st.scope.element
		case "accumulator":
			v = st.scope.accumulator
		}
	} else {
		v = st.property(st.root(), path[0])
	}
	for _, key := range path[1:] {
		if nullish(v) {
			return value.Undef
		}
		v = st.property(v, key)
	}
	return v
}

// property is v[key] for the properties that JSON values have of their own.
func (st *state) property(v value.Value, key string) value.Value {
	switch v.Kind() {
	case value.Object:
		return v.Get(key)
	case value.Array:
		if key == "length" {
			return value.FromInt(int64(v.Len()))
		}
		if i := index(key); i >= 0 && i < v.Len() {
			return v.Elems()[i]
		}
	case value.String:
		s := v.Str()
		st.steps += len(s) / 64
		if key == "length" {
			return value.FromInt(int64(units(s)))
		}
		if i := index(key); i >= 0 && i < len(s) {
			if unit := slice(s, i, i+1); unit != "" {
				return value.FromString(unit)
			}
		}
	}
	return value.Undef
}

// index returns the index in a list that a key names, or -1 if it names none.
func index(key string) int {
	if key == "" || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return -1
	}
	n := 0
	for i := 0; i < len(key); i++ {
		if key[i] < '0' || key[i] > '9' {
			return -1
		}
		n = n*10 + int(key[i]-'0')
	}
	return n
}
