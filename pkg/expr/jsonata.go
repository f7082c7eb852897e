package expr

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CompileJSONata compiles a JSONata expression that may use the history
// functions, and what opts add. An error is an *[Error].
func CompileJSONata(src string, opts ...jsonata.Option) (*Program, error) {
	e, err := compileSource(src, opts)
	if err != nil {
		return nil, jsonataError(err, src, nil)
	}
	return &Program{json: e, refs: sourceRefs(e, nil), reads: sourceReads(e, nil), findings: sourceFindings(e, nil)}, nil
}

var withHistory = jsonata.WithFunctions(historyFunctions...)

func compileSource(src string, opts []jsonata.Option) (*jsonata.Expr, error) {
	all := make([]jsonata.Option, 0, 2+len(opts))
	all = append(all, withHistory, jsonata.WithObjectInput())
	return jsonata.Compile(src, append(all, opts...)...)
}

// jsonataError returns an error of the JSONata expression src, which stands at
// path in a rule or, where path is nil, alone.
func jsonataError(err error, src string, path []any) *Error {
	out := &Error{Path: path, Offset: -1, End: -1, Message: err.Error(), Err: err}
	var e *jsonata.Error
	if errors.As(err, &e) {
		out.Code, out.Token, out.Message, out.Hint = e.Code, e.Token, e.Message, e.Hint
		if e.Offset >= 0 && e.Offset <= len(src) {
			out.Offset, out.End = e.Offset, e.Offset
			// A token can be a name without its dollar sign, or part of
			// another source, which $eval was given.
			if at := src[e.Offset:]; strings.HasPrefix(strings.TrimPrefix(at, "$"), e.Token) {
				out.End += len(at) - len(strings.TrimPrefix(at, "$")) + len(e.Token)
			} else if strings.HasPrefix(at, e.Token) {
				out.End += len(e.Token)
			}
		}
	}
	return out
}

// sourceRefs returns the nodes that an expression at path names.
func sourceRefs(e *jsonata.Expr, path []any) []Ref {
	var refs []Ref
	for _, r := range e.Refs() {
		ref := Ref{Path: path, Offset: r.Offset, End: r.End, IDOffset: -1, IDEnd: -1}
		switch {
		case r.Kind == jsonata.PathRef && len(r.Path) > 0:
			ref.Node, ref.IDOffset, ref.IDEnd = r.Path[0], r.Places[0][0], r.Places[0][1]
			for i, step := range r.Path[1:] {
				at := r.Places[i+1]
				ref.Steps = append(ref.Steps, Step{Name: step, Offset: at[0], End: at[1]})
			}
		case r.Kind == jsonata.CallRef && takesNode(r):
			ref.Node, ref.Func = r.Args[0].Str(), r.Func
			if at := r.ArgPlaces[0]; at[0] < at[1] {
				ref.IDOffset, ref.IDEnd = at[0], at[1]
			}
		default:
			continue
		}
		refs = append(refs, ref)
	}
	slices.SortStableFunc(refs, func(a, b Ref) int { return a.Offset - b.Offset })
	return refs
}

// sourceReads returns what an expression at path reads of variables, and of the
// node before.
func sourceReads(e *jsonata.Expr, path []any) []Read {
	var reads []Read
	for _, r := range e.Reads() {
		if r.Func != "" && r.Func != previousName {
			continue
		}
		read := Read{Variable: r.Variable, Path: path}
		for i, step := range r.Path {
			read.Steps = append(read.Steps, Step{Name: step, Offset: r.Places[i][0], End: r.Places[i][1]})
		}
		reads = append(reads, read)
	}
	return reads
}

// takesNode reports whether a call names a node literally.
func takesNode(r jsonata.Ref) bool {
	if len(r.Args) == 0 || r.Args[0].Kind() != value.String {
		return false
	}
	switch r.Func {
	case "executionCount", "nodeExecution", "nodeExecutions":
		return true
	}
	return false
}
