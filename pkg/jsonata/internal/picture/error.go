// Package picture formats and parses numbers, integers and points in time by
// the picture strings of XPath and XQuery Functions and Operators 3.1, in the
// selection and with the error codes that JSONata 2.2 has.
//
// A picture is compiled once; what Compile functions return is immutable and
// safe for concurrent use. Time and memory are bounded by the lengths of
// picture and input: widths count up to maxWidth, and a date picture is at most
// maxDatePicture bytes long.
package picture

import "github.com/mcpgraph/mcpgraph/internal/textline"

// Error is a problem with a picture, or with a text or value under one.
type Error struct {
	Code  string // JSONata's code of the error, such as D3080
	Value string // the picture, part of a picture or text at fault
	text  string // a sentence for the cases where one code has several causes
}

// sentences holds for each code what is wrong and what is expected instead.
var sentences = map[string]string{
	"D3080": "a number picture has at most two sub-pictures: one for positive and one for negative numbers",
	"D3081": "a sub-picture has at most one decimal separator",
	"D3082": "a sub-picture has at most one percent sign",
	"D3083": "a sub-picture has at most one per-mille sign",
	"D3084": "a sub-picture has a percent or a per-mille sign, not both",
	"D3085": "a sub-picture needs at least one digit sign before its exponent",
	"D3086": "a sub-picture has other characters only before and after its digits, not between them",
	"D3087": "a grouping separator cannot be next to the decimal separator",
	"D3088": "a grouping separator cannot end the integer part",
	"D3089": "two grouping separators cannot be side by side",
	"D3090": "in the integer part, optional digits come before mandatory ones",
	"D3091": "in the fractional part, mandatory digits come before optional ones",
	"D3092": "a sub-picture with a percent or per-mille sign cannot have an exponent",
	"D3093": "an exponent is written with mandatory digits only, at least one",
	"D3110": "this is not a timestamp in the ISO 8601 form, such as 2024-05-31T12:00:00Z",
	"D3130": "integers cannot be written or read as a sequence that starts so: expected a digit pattern, A, a, I, i, W, w or Ww",
	"D3131": "a digit pattern takes all of its digits from one family",
	"D3132": "this is no component of a date picture: expected one of Y M D d F W w X x H h P m s f Z z C E",
	"D3133": "only months and days of the week have names: give this component a number format",
	"D3134": "a time zone is written with one to four digits",
	"D3135": "this component of a date picture is not closed: expected ]",
	"D3136": "the date picture leaves out a component between those that it has, or gives the date by weeks: expected year, month and day, or year and day of the year, and a time without gaps",
	"U1001": "the picture is too long",
}

// Error returns the sentence of the code and what it is about.
func (e *Error) Error() string {
	text := e.text
	if text == "" {
		text = sentences[e.Code]
	}
	return e.Code + ": " + text + ": " + quoted(e.Value)
}

// quoted shortens long values, because errors are read by people.
func quoted(s string) string {
	return `"` + textline.Shorten(s, 80) + `"`
}

func fail(code, value string) *Error { return &Error{Code: code, Value: value} }
