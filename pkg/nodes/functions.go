package nodes

import (
	"regexp"
	"sync"
)

// functionSource matches what a JSONata expression must contain for its value
// to hold a function: a lambda, a composition, a partial application, a
// variable that is not called on the spot, or $eval.
var functionSource = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`function|λ|~>|\?\s*[,)]|\$eval|\$[\pL\pN_]+\s*([^\s(\pL\pN_]|$)`)
})

// mayYieldFunctions reports whether the value of an expression may hold
// functions. It is sometimes true without need, which only costs a look at the
// value; what it is false for keeps large values undecoded.
func mayYieldFunctions(source string) bool { return functionSource().MatchString(source) }
