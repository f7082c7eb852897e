package jsonata

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Types is a set of the types that a signature can name.
type Types uint8

// TypesOf returns the types that a JSON Schema names, integers as numbers; none for
// other names.
func TypesOf(names ...string) Types {
	var all Types
	for _, name := range names {
		switch name {
		case "string":
			all |= maskString
		case "number", "integer":
			all |= maskNumber
		case "boolean":
			all |= maskBool
		case "null":
			all |= maskNull
		case "array":
			all |= maskArray
		case "object":
			all |= maskObject
		}
	}
	return all
}

const (
	maskString Types = 1 << iota
	maskNumber
	maskBool
	maskNull
	maskArray
	maskObject
	maskFunc
	maskMissing

	maskJSON = maskString | maskNumber | maskBool | maskNull | maskArray | maskObject | maskMissing
	maskAny  = maskJSON | maskFunc
)

var kindMasks = [...]Types{
	value.Undefined: maskMissing,
	value.Null:      maskNull,
	value.Bool:      maskBool,
	value.Number:    maskNumber,
	value.String:    maskString,
	value.Array:     maskArray,
	value.Object:    maskObject,
	value.Func:      maskFunc,
}

func maskOf(v value.Value) Types { return kindMasks[v.Kind()] }

func maskOfLetter(c byte) Types {
	switch c {
	case 's':
		return maskString
	case 'n':
		return maskNumber
	case 'b':
		return maskBool
	case 'l':
		return maskNull
	case 'a':
		return maskArray
	case 'o':
		return maskObject
	case 'f':
		return maskFunc
	case 'm':
		return maskMissing
	}
	return 0
}

// param is one parameter of a signature.
type param struct {
	mask     Types
	array    bool // a: anything else is wrapped in an array
	subtype  byte // what the array must hold; 0 for anything
	optional bool
	many     bool
	context  bool // the context stands in where the argument is left out
}

// signature is the parameters of a function, in the notation of the language:
// <s-n?:s> and the like.
type signature struct {
	params []param
	many   bool // some parameter takes many arguments
	result Kinds
}

// mustSignature parses a signature of this package's own.
func mustSignature(text string) *signature {
	s, err := parseSignature(text)
	if err != nil {
		panic("jsonata: signature " + text + ": " + err.Message)
	}
	return s
}

// parseSignature parses <params:result>. Nothing checks at run time that a
// function returns what its signature declares.
func parseSignature(text string) (*signature, *Error) {
	bad := func(code, tok, why string) *Error {
		return newError(code, 0, details{token: tok, text: why})
	}
	s := &signature{result: Kinds{Of: maskAny}}
	if len(text) < 2 || text[0] != '<' || text[len(text)-1] != '>' {
		return nil, bad("S0403", text, "it must stand in angle brackets, as in <s-n:s>")
	}
	body := text[1 : len(text)-1]
	for i := 0; i < len(body); i++ {
		c := body[i]
		var last *param
		if len(s.params) > 0 {
			last = &s.params[len(s.params)-1]
		}
		switch c {
		case ':':
			s.result = resultOf(body[i+1:])
			return s, nil
		case 's', 'n', 'b', 'l', 'o':
			s.params = append(s.params, param{mask: maskOfLetter(c) | maskMissing})
		case 'a':
			s.params = append(s.params, param{mask: maskAny, array: true})
		case 'f':
			s.params = append(s.params, param{mask: maskFunc})
		case 'j':
			s.params = append(s.params, param{mask: maskJSON})
		case 'x':
			s.params = append(s.params, param{mask: maskAny})
		case '-', '?', '+':
			if last == nil {
				return nil, bad("S0403", text, string(c)+" must stand behind the type of a parameter")
			}
			switch c {
			case '-':
				last.context = true
				last.optional = true
			case '?':
				last.optional = true
			default:
				last.many = true
				s.many = true
			}
		case '(':
			end := closing(body, i, '(', ')')
			choice := body[i+1 : end]
			if strings.Contains(choice, "<") {
				return nil, bad("S0402", choice, "")
			}
			mask := maskMissing
			for j := range len(choice) {
				mask |= maskOfLetter(choice[j])
			}
			s.params = append(s.params, param{mask: mask})
			i = end
		case '<':
			if last == nil || !last.array && last.mask != maskFunc {
				tok := "<"
				if i > 0 {
					tok = body[i-1 : i]
				}
				return nil, bad("S0401", tok, "")
			}
			end := closing(body, i, '<', '>')
			if last.array && end > i+1 {
				last.subtype = body[i+1]
			}
			i = end
		}
	}
	return s, nil
}

// closing returns the index of the bracket that closes the one at i, or the
// end of the text.
func closing(text string, i int, open, shut byte) int {
	depth := 0
	for j := i; j < len(text); j++ {
		switch text[j] {
		case open:
			depth++
		case shut:
			depth--
			if depth == 0 {
				return j
			}
		}
	}
	return len(text)
}

// bind checks arguments against the signature and returns what the function is
// called with: the context where an argument was left out that it stands in
// for, single values wrapped if an array is required. It may write to args and
// append to it.
func (s *signature) bind(args []value.Value, context value.Value) ([]value.Value, *Error) {
	if !s.many && len(args) <= len(s.params) {
		ok := true
		for i, a := range args {
			if s.params[i].mask&maskOf(a) == 0 {
				ok = false
				break
			}
		}
		for i := len(args); ok && i < len(s.params); i++ {
			ok = s.params[i].optional
		}
		if ok {
			return s.bindInOrder(args, context)
		}
	}
	return s.bindByMatch(args, context)
}

// bindInOrder is for the usual case: argument i is for parameter i.
func (s *signature) bindInOrder(args []value.Value, context value.Value) ([]value.Value, *Error) {
	for i := range args {
		if p := &s.params[i]; p.array {
			var err *Error
			if args[i], err = p.wrap(args[i], i); err != nil {
				return nil, err
			}
		}
	}
	for i := len(args); i < len(s.params); i++ {
		p := &s.params[i]
		if !p.context {
			args = append(args, value.Undef)
			continue
		}
		if p.mask&maskOf(context) == 0 {
			return nil, newError("T0411", -1, details{value: context, index: i + 1})
		}
		args = append(args, context)
	}
	return args, nil
}

// wrap returns an argument for an array parameter.
func (p *param) wrap(a value.Value, index int) (value.Value, *Error) {
	kind := a.Kind()
	if kind == value.Undefined {
		return a, nil
	}
	if p.subtype != 0 {
		ok := true
		if kind != value.Array {
			ok = maskOf(a) == maskOfLetter(p.subtype)
		} else if elems := a.Elems(); len(elems) > 0 {
			ok = maskOf(elems[0]) == maskOfLetter(p.subtype)
			for i := 1; ok && i < len(elems); i++ {
				ok = maskOf(elems[i]) == maskOf(elems[0])
			}
		}
		if !ok {
			return a, newError("T0412", -1, details{value: a, index: index + 1, text: pluralOf(p.subtype)})
		}
	}
	if kind != value.Array {
		return value.FromArray([]value.Value{a}), nil
	}
	return a, nil
}

func pluralOf(letter byte) string {
	switch letter {
	case 'a':
		return "arrays"
	case 'b':
		return "booleans"
	case 'f':
		return "functions"
	case 'n':
		return "numbers"
	case 'o':
		return "objects"
	case 's':
		return "strings"
	}
	return "values of another type"
}

// bindByMatch finds which parameter takes which arguments as a regular
// expression over their types would, greedily and with backtracking.
func (s *signature) bindByMatch(args []value.Value, context value.Value) ([]value.Value, *Error) {
	n, m := len(s.params), len(args)
	masks := make([]Types, m)
	for i, a := range args {
		masks[i] = maskOf(a)
	}
	can := s.matching(masks)
	at := func(i, j int) bool { return can[i*(m+1)+j] }
	if !at(0, 0) {
		_, j := s.mismatch(masks)
		var found value.Value
		if j < m {
			found = args[j]
		}
		return nil, newError("T0410", -1, details{value: found, index: j + 1})
	}
	var out []value.Value
	next := 0 // the argument that the next parameter reads
	for i, j := 0, 0; i < n; i++ {
		p := &s.params[i]
		taken := 0
		for j < m && p.mask&masks[j] != 0 && (taken == 0 || p.many) &&
			(at(i+1, j+1) || p.many && at(i, j+1)) {
			j++
			taken++
			var a value.Value
			if next < m {
				a = args[next]
			}
			if p.array {
				var err *Error
				if a, err = p.wrap(a, next); err != nil {
					return nil, err
				}
			}
			out = append(out, a)
			next++
		}
		if taken > 0 {
			continue
		}
		if p.context {
			if p.mask&maskOf(context) == 0 {
				return nil, newError("T0411", -1, details{value: context, index: next + 1})
			}
			out = append(out, context)
			continue
		}
		if next < m {
			out = append(out, args[next])
		} else {
			out = append(out, value.Undef)
		}
		next++
	}
	return out, nil
}

// matching returns for parameter i and argument j, at i*(len(args)+1)+j,
// whether the parameters from i on can take the arguments from j on, of each of
// which it is known what types it may have.
func (s *signature) matching(args []Types) []bool {
	n, m := len(s.params), len(args)
	can := make([]bool, (n+1)*(m+1))
	at := func(i, j int) *bool { return &can[i*(m+1)+j] }
	*at(n, m) = true
	for i := n - 1; i >= 0; i-- {
		p := &s.params[i]
		for j := m; j >= 0; j-- {
			takes := j < m && p.mask&args[j] != 0
			*at(i, j) = p.optional && *at(i+1, j) ||
				takes && (*at(i+1, j+1) || p.many && *at(i, j+1))
		}
	}
	return can
}

// mismatch returns the first parameter that finds no argument, and the argument
// that stands in its place, which are the counts of them if there are none.
func (s *signature) mismatch(args []Types) (i, j int) {
	for i = range s.params {
		p := &s.params[i]
		taken := false
		for j < len(args) && p.mask&args[j] != 0 {
			taken = true
			j++
			if !p.many {
				break
			}
		}
		if !taken && !p.optional {
			return i, j
		}
	}
	return len(s.params), j
}
