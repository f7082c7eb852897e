package expr

import (
	"fmt"
	"strings"
)

// Error is a problem with an expression or rule, at compile time or at run
// time.
type Error struct {
	// Path leads to the part of a rule that failed: keys are strings, places
	// in lists ints. It is nil for JSONata.
	Path []any
	// Offset and End span the place in bytes of the JSONata source or of the
	// string at Path; both are -1 for the whole of it.
	Offset, End int
	// Code is JSONata's error code, or U1001 where a rule exceeded a bound,
	// else "".
	Code string
	// Token is the part of the source that JSONata stumbled over, if any.
	Token string
	// Message is what happened, Hint what to do about it, if known.
	Message, Hint string
	// Err is the cause, if any: the *jsonata.Error, or what ended the context.
	Err error
}

// Error returns the message with its place and code, in plain text.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	if e.Code != "" {
		b.WriteString(" (" + e.Code + ")")
	}
	sep := ", at "
	if len(e.Path) > 0 {
		b.WriteString(sep)
		for _, step := range e.Path {
			fmt.Fprintf(&b, "/%v", step)
		}
		sep = " "
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, "%sbyte %d", sep, e.Offset)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// codeBound is JSONata's code for an evaluation that was stopped.
const codeBound = "U1001"

// failed makes an error of a rule; its path is added where the rule knows it.
func failed(format string, args ...any) *Error {
	return &Error{Offset: -1, End: -1, Message: fmt.Sprintf(format, args...)}
}
