package jsonata

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	src  string
	unit *unit
	path *fieldsNode // the expression, where it is nothing but a path
	refs []Ref

	reads []Read
	whole *Read // nil where it is no path

	checked
	again func(typeOf func(Read) Kinds) checked // checks the source with what is known of its paths
}

// Option changes how an expression is compiled.
type Option func(*compileOptions)

type compileOptions struct {
	functions map[string]value.Value
	refused   *Error // what is wrong with the first function that cannot be
	variables []string
	object    bool
}

// WithVariables declares the variables of [Options.Vars], named without the $,
// so that [Expr.Findings] knows them. It changes no evaluation.
func WithVariables(names ...string) Option {
	return func(o *compileOptions) { o.variables = append(o.variables, names...) }
}

// IsFunction reports whether the language has a function with this name, which is
// without the $.
func IsFunction(name string) bool { return !builtin(name).IsUndefined() }

// FunctionNames returns the names of the functions of the language, without the $,
// sorted.
func FunctionNames() []string {
	names := append(slices.Collect(maps.Keys(builtins)), "eval")
	slices.Sort(names)
	return names
}

// WithObjectInput declares that every input of the expression is an object, so
// that [Expr.Findings] finds more. It changes no evaluation.
func WithObjectInput() Option { return func(o *compileOptions) { o.object = true } }

// WithFunctions makes functions known to the expression, beside those of the
// language; one of a name that the language has takes its place. A Function
// without a name or implementation, or with a signature that does not parse,
// makes [Compile] fail with code S0401, S0402 or S0403.
func WithFunctions(fns ...Function) Option {
	// Made once: an option is used for all expressions of a file.
	hosts := sync.OnceValues(func() (map[string]value.Value, *Error) {
		made := make(map[string]value.Value, len(fns))
		var refused *Error
		for i := range fns {
			h, err := newHost(&fns[i])
			if err != nil && refused == nil {
				refused = err
			}
			made[fns[i].Name] = value.FromFunc(h)
		}
		return made, refused
	})
	return func(o *compileOptions) {
		made, refused := hosts()
		if o.refused == nil {
			o.refused = refused
		}
		if o.functions != nil {
			all := maps.Clone(o.functions)
			maps.Copy(all, made)
			made = all
		}
		o.functions = made
	}
}

// Compile parses and compiles an expression. The error is an *[Error].
func Compile(src string, opts ...Option) (*Expr, error) {
	var o compileOptions
	for _, opt := range opts {
		opt(&o)
	}
	if o.refused != nil {
		return nil, o.refused
	}
	tree, err := parse(src)
	if err != nil {
		return nil, err
	}
	found := findRefs(tree)
	whole := found.whole(tree)
	u, err := compile(tree, nil, o.functions)
	if err != nil {
		return nil, err
	}
	e := &Expr{src: src, unit: u, path: fromInput(u.body), refs: found.refs, reads: found.reads, whole: whole}
	e.checked = check(src, tree, &o, nil)
	if e.typed {
		e.again = func(typeOf func(Read) Kinds) checked {
			tree, err := parse(src)
			if err != nil {
				return checked{}
			}
			return check(src, tree, &o, typeOf)
		}
	}
	found.wholeFields(tree, e.shape)
	return e, nil
}

// String returns the source of the expression.
func (e *Expr) String() string { return e.src }

// Options are what one evaluation is given. The zero value is useful.
type Options struct {
	// Vars are variables by name, without the $. Of two with one name the later
	// one counts.
	Vars []value.Entry
	// Data is what host functions get from [Call.Data].
	Data any
	// Now is the clock behind $now and $millis, read at most once in an
	// evaluation; nil means [time.Now].
	Now func() time.Time
	// Random returns numbers in [0, 1) for $random and $shuffle; nil means
	// [rand.Float64].
	Random func() float64
	// Processor schedules long evaluations; nil means no limit on processor time.
	Processor Processor
	// Limits bound the evaluation.
	Limits Limits
	// Memory, which may be nil, is what this and other evaluations share. It takes
	// the place of Limits.Memory.
	Memory Memory
}

// Memory bounds what evaluations hold together. It must be safe for concurrent
// use.
type Memory interface {
	// Reserve counts n bytes that an evaluation is about to allocate, of which
	// some may be garbage soon. An error ends the evaluation with code U1001, and
	// is its cause.
	Reserve(n int64) error
	// Release returns n bytes that Reserve has counted.
	Release(n int64)
}

// Processor shares processor time between evaluations. One evaluation at a time
// uses it, and its caller calls Release at its end.
type Processor interface {
	// Yield is called every few thousand steps. It returns when the evaluation
	// may go on, or ctx is done.
	Yield(ctx context.Context)
	// Release is called before a host function, which may block.
	Release()
	// Acquire is called before work of many milliseconds that cannot yield. It
	// returns when that may begin, or ctx is done; end is called after it.
	Acquire(ctx context.Context) (end func())
}

// Limits bound what one evaluation may use. A zero field means its default.
// Reaching Depth, Steps, Memory or the end of the context is error U1001, a
// longer array or sequence D2014 or D2015, a longer string D2016.
//
// Memory ends an evaluation that has allocated more than that itself, if the
// heap of the process has grown by more than that meanwhile and stays so after
// a collection: an evaluation that allocates less is never ended for what runs
// beside it.
type Limits struct {
	Depth       int   // nested evaluations, about three for each recursive call; default 20,000
	Sequence    int   // elements of one array or sequence; default 10,000,000
	StringBytes int   // bytes of one string; default 256 MiB
	Steps       int64 // evaluation steps; default 2^62
	Memory      int64 // bytes held; default 1 GiB
}

func (l Limits) withDefaults() Limits {
	if l.Depth <= 0 {
		l.Depth = 20_000
	}
	if l.Sequence <= 0 {
		l.Sequence = 10_000_000
	}
	if l.StringBytes <= 0 {
		l.StringBytes = 256 << 20
	}
	if l.Memory <= 0 {
		l.Memory = defaultMemory
	}
	if l.Steps <= 0 {
		l.Steps = 1 << 62
	}
	return l
}

func randomOf(ev *evaluator) float64 {
	if ev.opts.Random != nil {
		return ev.opts.Random()
	}
	return rand.Float64()
}

// Eval evaluates the expression against an input. Nil options are the zero
// [Options]. The error is an *[Error]. An undefined result means that the
// expression matched nothing.
func (e *Expr) Eval(ctx context.Context, input value.Value, opts *Options) (value.Value, error) {
	if e.path != nil && input.Kind() == value.Object && ctx.Err() == nil {
		// Most expressions in a graph are such paths, and need no evaluator.
		if v, ok := e.path.walk(input); ok {
			return v, nil
		}
	}
	ev := newEvaluator(ctx, opts)
	ev.known = &e.unit.known
	if err := ev.cancelled(-1); err != nil {
		return value.Undef, err
	}
	v, err := runUnit(ev, e.unit, input)
	ev.settle(v, err != nil)
	if err != nil {
		return value.Undef, err
	}
	ev.free()
	return v, nil
}

// runUnit evaluates a unit from the top.
func runUnit(ev *evaluator, u *unit, input value.Value) (value.Value, *Error) {
	input = outer(input)
	ev.root = input
	f := u.blank
	if f == nil {
		f = ev.newFrame(u.info, nil)
	}
	v, err := u.body.eval(ev, f, input)
	if err != nil {
		return value.Undef, err
	}
	if u.blank == nil {
		ev.release(u.info, f)
	}
	if ev.built > maxValueDepth {
		if err := checkDepth(ev, v, 0); err != nil {
			return value.Undef, err
		}
	}
	return v.WithFlags(0), nil
}

// outer wraps an array that an evaluation begins with, so that it counts as
// one input.
func outer(v value.Value) value.Value {
	if v.Kind() == value.Array && v.Flags()&value.Sequence == 0 {
		return value.FromArray([]value.Value{v}).WithFlags(value.Sequence | value.Outer)
	}
	return v
}

// maxValueDepth bounds the nesting of a value that an evaluation returns or
// walks, so that the next walk has stack enough.
const maxValueDepth = value.MaxDepth

// checkDepth refuses a value that is nested too deeply.
func checkDepth(ev *evaluator, v value.Value, depth int) *Error {
	if depth > maxValueDepth {
		return stopped(-1, "its result is nested too deeply")
	}
	switch v.Kind() {
	case value.Array:
		elems := v.Elems()
		if err := ev.spend(len(elems)); err != nil {
			return err
		}
		for _, e := range elems {
			if err := checkDepth(ev, e, depth+1); err != nil {
				return err
			}
		}
	case value.Object:
		entries := v.Entries()
		if err := ev.spend(len(entries)); err != nil {
			return err
		}
		for i := range entries {
			if err := checkDepth(ev, entries[i].Value, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reads lists the paths of at least one step that begin elsewhere than at the
// input. The slice must not be modified.
func (e *Expr) Reads() []Read { return e.reads }

// Whole returns the path that the expression as a whole is, and reports whether it
// is one: names behind the input, a variable or a function without arguments.
// Filters, sorting and [] in it keep what the elements are, and count for nothing.
func (e *Expr) Whole() (Read, bool) {
	if e.whole == nil {
		return Read{}, false
	}
	return *e.whole, true
}

// Refs lists what the expression refers to, in the order of the source. A path
// is listed only where it is certain that it starts at the input: through $$
// anywhere, through $ and bare names where the context is still the input.
// The slice must not be modified.
func (e *Expr) Refs() []Ref { return e.refs }

// Shape returns what is sure about the value of the expression, or nil. It must
// not be modified.
func (e *Expr) Shape() *Shape { return e.shape }
