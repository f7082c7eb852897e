package jsonata

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Error is what went wrong while an expression was compiled or evaluated.
//
// Code is the language's code: S0… for syntax, T0…, T1… and T2… for types, D1…
// and D3… for evaluation, U1001 where a limit of depth, time, steps or memory
// was reached. Hint is what to do, if known. Offset is the byte offset in the
// source at which the problem lies, or -1 if none is known. Token is the token
// or the name of the function concerned, if any. Err is the cause if there is
// one: the error of a host function, or the cause of the context that ended the
// evaluation.
type Error struct {
	Code    string
	Offset  int
	Token   string
	Message string
	Hint    string
	Err     error

	open *details // of a sentence that still lacks the name of the function
}

// Error returns the sentence of the error and its code.
func (e *Error) Error() string { return e.Message + " [" + e.Code + "]" }

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// details are what a sentence can mention.
type details struct {
	token string
	shown string // the token as a sentence shows it, where that differs
	value value.Value
	index int
	text  string
}

// newError returns the error of a code at an offset, with its sentence.
func newError(code string, offset int, d details) *Error {
	e := &Error{Code: code, Offset: offset, Token: d.token, Message: sentence(code, d)}
	if d.token == "" && d.shown == "" {
		e.open = &d
	}
	return e
}

// sentence fills in the sentence that belongs to a code.
func sentence(code string, d details) string {
	pattern, ok := sentences[code]
	if !ok {
		return "the expression failed"
	}
	if !strings.Contains(pattern, "{") {
		return pattern
	}
	token := cmp.Or(d.shown, d.token, "the function")
	return strings.NewReplacer(
		"${token}", "$"+strings.TrimPrefix(token, "$"),
		"{token}", token,
		"{value}", shown(d.value),
		"{index}", strconv.Itoa(d.index),
		"{text}", d.text,
	).Replace(pattern)
}

// shownBytes is how much of a value a sentence shows.
const shownBytes = 60

// shown returns a value as a sentence can show it.
func shown(v value.Value) string {
	switch v.Kind() {
	case value.Undefined:
		return "nothing"
	case value.Func:
		return "a function"
	case value.Array:
		return "an array of " + strconv.Itoa(v.Len())
	case value.Object:
		return "an object"
	case value.Number:
		return value.FormatNumber(v.Float())
	case value.String:
		return string(value.AppendString(nil, textline.Prefix(v.Str(), shownBytes)))
	}
	return v.JSON()
}

// sentences has what each code means.
var sentences = map[string]string{
	"S0101": "this string has no closing quote",
	"S0102": "the number {token} is too large",
	"S0103": "a string cannot contain the escape \\{token}",
	"S0104": "\\u in a string needs four hexadecimal digits",
	"S0105": "this name has no closing backtick",
	"S0106": "this comment has no closing */",
	"S0201": "{token} is not expected here: the expression was complete before it",
	"S0202": "expected {text}, found {token}",
	"S0203": "expected {text}, but the expression ends here",
	"S0204": "{token} is not an operator",
	"S0207": "the expression ends where a value was expected",
	"S0208": "the parameter {token} of a function must be a variable such as $name",
	"S0209": "a predicate cannot follow a grouping",
	"S0210": "one step can have only one grouping",
	"S0211": "expected a value, found {token}",
	"S0212": "only a variable such as $name can stand to the left of :=",
	"S0213": "{token} cannot be a step of a path",
	"S0214": "a variable such as $name must follow {token}",
	"S0215": "@ must stand before the predicates of its step",
	"S0216": "@ must stand before the order-by of its step",
	"S0217": "the parent that % asks for cannot be found here",
	"S0301": "a regular expression cannot be empty",
	"S0302": "this regular expression has no closing /",
	"S0303": "this regular expression is not valid: {text}",
	"S0401": "in a signature, only functions and arrays can have a type parameter, not {token}",
	"S0402": "in a signature, a choice in parentheses cannot contain the parameterised type {token}",
	"S0403": "the signature {token} is not valid: {text}",

	"T0410": "argument {index} of {token} does not match its signature: {value}",
	"T0411": "the context is not a value that {token} can take as argument {index}: {value}",
	"T0412": "argument {index} of {token} must be an array of {text}: {value}",
	"T1003": "the key of an object must be a string, found {value}",
	"T1005": "{token} is not a function here; did you mean ${token}?",
	"T1006": "{token} is not a function",
	"T1007": "{token} cannot be applied in part; did you mean ${token}?",
	"T1008": "{token} is not a function and cannot be applied in part",
	"T1010": "a matcher must be a regular expression, or a function that returns what one does",
	"T2001": "the left side of {token} must be a number, found {value}",
	"T2002": "the right side of {token} must be a number, found {value}",
	"T2003": "the left side of the range .. must be an integer, found {value}",
	"T2004": "the right side of the range .. must be an integer, found {value}",
	"T2006": "the right side of ~> must be a function, found {value}",
	"T2007": "an order-by cannot compare {text}",
	"T2008": "an order-by needs strings or numbers, found {value}",
	"T2009": "{token} cannot compare {text}",
	"T2010": "{token} compares strings or numbers, found {value}",
	"T2011": "the update of a transform must be an object, found {value}",
	"T2012": "what a transform deletes must be a string or an array of strings, found {value}",
	"D1001": "a number is out of range",
	"D1002": "only a number can be negated, found {value}",
	"D1004": "this regular expression matches an empty string, which cannot be replaced or stepped over",
	"D1009": "two entries of an object give the same key {value}",
	"D2014": "the range has {value} elements, more than the limit of {index}",
	"D2015": "an array would have more than {index} elements",
	"D2016": "a string would have more than {index} bytes",
	"D3001": "a number that is not finite cannot become a string",
	"D3010": "the pattern of $replace cannot be an empty string",
	"D3011": "the limit of $replace cannot be negative, found {value}",
	"D3012": "the replacement function of $replace must return a string, found {value}",
	"D3020": "the limit of $split cannot be negative, found {value}",
	"D3030": "{value} cannot become a number",
	"D3040": "the limit of $match cannot be negative, found {value}",
	"D3050": "the function given to $reduce must take at least two arguments",
	"D3060": "the square root of a negative number does not exist: {value}",
	"D3061": "$power gives no finite number for base {value} and exponent {text}",
	"D3070": "$sort needs a comparison function unless all elements are numbers or all are strings",
	"D3100": "the base must be between 2 and 36, found {value}",
	"D3110": "a date must lie within 100 million days of 1970, found {value} milliseconds",
	"D3120": "the expression given to $eval does not compile: {text}",
	"D3121": "the expression given to $eval failed: {text}",
	"D3137": "{text}",
	"D3138": "$single found more than one match",
	"D3139": "$single found no match",
	"D3140": "{token} was given a text that it cannot convert: {value}",
	"D3141": "{text}",
	"U1001": "the evaluation was stopped: {text}",
	"U1002": "the function {token} failed: {text}",
}

// at adds the place and token to an error that has none yet.
func (e *Error) at(off int, token string) *Error {
	if e.Offset < 0 {
		e.Offset = off
	}
	if e.Token == "" && token != "" {
		e.Token = token
		if e.open != nil {
			e.open.token = token
			e.Message = sentence(e.Code, *e.open)
			e.open = nil
		}
	}
	return e
}
