package jsonata

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// arguments finds a call whose arguments its function never takes. at is the
// call and fn the variable that names the function.
func (c *checker) arguments(at, fn *ast, args []Kinds) {
	sig := c.signatureOf(fn)
	if sig == nil {
		return
	}
	if c.root && c.lambdas == 0 && c.keyed && len(args) != len(sig.params) {
		sig = sig.withoutContext(maskObject)
	}
	masks := make([]Types, len(args))
	for i := range masks {
		masks[i] = maskAny
	}
	f := Finding{Kind: WrongCall, Name: fn.text, Offset: at.off, End: at.end}
	if !sig.matching(masks)[0] {
		f.Message = fmt.Sprintf("$%s takes %s, found %d", fn.text, sig.counts(), len(args))
		f.Hint = sig.hint(fn.text)
		c.findings = append(c.findings, f)
		return
	}
	for i, a := range args {
		// An argument that yields nothing is taken nearly everywhere; what
		// matters is whether there is a value that is.
		if known := a.Of &^ maskMissing; known != 0 {
			masks[i] = known
		}
	}
	if !sig.matching(masks)[0] {
		i, want := sig.misfit(masks)
		f.Message = fmt.Sprintf("argument %d of $%s must be %s, found %s", i+1, fn.text, want, masks[i])
		f.Offset, f.End = c.argument(at, i, len(args))
		f.Hint = sig.hint(fn.text)
		if fn.text == "length" && masks[i] == maskArray {
			f.Hint = "$count returns how many elements a list has"
		}
		c.findings = append(c.findings, f)
		return
	}
	if fn.text == "count" && len(args) == 1 && masks[0] == maskString && c.typeOf != nil {
		f.Message, f.Hint = "$count counts a text as one value", "$length returns how many characters a text has"
		c.findings = append(c.findings, f)
		return
	}
	if !sig.many && len(args) <= len(sig.params) {
		c.elements(sig, f, at, args, masks)
	}
}

// withoutContext returns the signature where the context is of a type that
// stands in for none but the parameters that take it.
func (s *signature) withoutContext(context Types) *signature {
	t := *s
	t.params = slices.Clone(s.params)
	for i := range t.params {
		if p := &t.params[i]; p.context && p.mask&context == 0 {
			p.optional = false
		}
	}
	return &t
}

// misfit returns the first argument that would fit if only its type were
// another, and those types. There is one, or at least the first argument.
func (s *signature) misfit(args []Types) (int, Types) {
	for i, found := range args {
		var want Types
		for _, t := range typeNames {
			args[i] = t.mask
			if s.matching(args)[0] {
				want |= t.mask
			}
		}
		args[i] = found
		if want != 0 {
			return i, want
		}
	}
	i, j := s.mismatch(args)
	return min(j, len(args)-1), s.params[min(i, len(s.params)-1)].mask
}

// elements finds an array of which no element can be what the function needs.
func (c *checker) elements(sig *signature, f Finding, at *ast, args []Kinds, masks []Types) {
	for i, mask := range masks {
		p := sig.params[i]
		want := maskOfLetter(p.subtype)
		if p.subtype == 0 || mask&want != 0 {
			continue
		}
		inside := args[i].Elements &^ maskMissing
		if mask&maskArray != 0 && (inside&want != 0 || inside == 0) {
			continue
		}
		found := mask.String()
		if mask&maskArray != 0 {
			found = "an array with " + inside.String()
		}
		f.Message = fmt.Sprintf("argument %d of $%s must be %s, found %s", i+1, f.Name, p.expects(), found)
		f.Offset, f.End = c.argument(at, i, len(args))
		f.Hint = sig.hint(f.Name)
		c.findings = append(c.findings, f)
		return
	}
}

// argument returns the span of argument i of a call with n arguments, of which
// the first may be what ~> passes to it.
func (c *checker) argument(at *ast, i, n int) (from, to int) {
	i -= n - len(at.list)
	if at.kind != astCall && at.kind != astPartial || i < 0 || i >= len(at.list) {
		return at.off, at.end
	}
	return at.list[i].span()
}

// span returns where an expression begins and ends. A binary expression is
// known by its operator, so that its operands count.
func (n *ast) span() (from, to int) {
	from, to = n.off, n.end
	for _, k := range append([]*ast{n.lhs, n.rhs, n.els}, n.list...) {
		if k == nil {
			continue
		}
		a, b := k.span()
		from, to = min(from, a), max(to, b)
	}
	return from, to
}

// counts returns how many arguments a function takes.
func (s *signature) counts() string {
	least := 0
	for _, p := range s.params {
		if !p.optional {
			least++
		}
	}
	plural := func(n int) string {
		if n == 1 {
			return "1 argument"
		}
		return fmt.Sprintf("%d arguments", n)
	}
	switch most := len(s.params); {
	case s.many:
		return "at least " + plural(least)
	case most == 0:
		return "no arguments"
	case least == most:
		return plural(most)
	case most == 1:
		return "at most 1 argument"
	case most == least+1:
		return fmt.Sprintf("%d or %d arguments", least, most)
	default:
		return fmt.Sprintf("%d to %d arguments", least, most)
	}
}

// expects returns what a parameter takes.
func (p *param) expects() string {
	switch {
	case p.subtype != 0:
		return "an array of " + pluralOf(p.subtype)
	case p.array:
		return "an array"
	}
	return p.mask.String()
}

var articles = strings.NewReplacer(" or a ", " or ", " or an ", " or ", ", a ", ", ")

// hint writes a call with the types of the parameters: those in brackets may be left out.
func (s *signature) hint(name string) string {
	parts := make([]string, len(s.params))
	for i, p := range s.params {
		text := p.expects()
		for _, article := range []string{"a ", "an "} {
			text = strings.TrimPrefix(text, article)
		}
		text = articles.Replace(text)
		if p.optional {
			text = "[" + text + "]"
		}
		if p.many {
			text += ", …"
		}
		parts[i] = text
	}
	return "it is used as $" + name + "(" + strings.Join(parts, ", ") + ")"
}

// oddCharacters are those that look like others that have a meaning.
var oddCharacters = map[rune]string{
	'\u00a0': "a no-break space", '\u2007': "a figure space", '\u202f': "a narrow no-break space",
	'\u2002': "an en space", '\u2003': "an em space", '\u2009': "a thin space", '\u3000': "an ideographic space",
	'\u200b': "a zero-width space", '\u2060': "a word joiner", '\ufeff': "a byte order mark", '\u00ad': "a soft hyphen",
	'“': "a typographic quotation mark", '”': "a typographic quotation mark", '„': "a typographic quotation mark",
	'‘': "a typographic quotation mark", '’': "a typographic quotation mark",
	'–': "an en dash", '—': "an em dash", '−': "a minus sign that is not -",
}

func hasOdd(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && oddCharacters[r] != "" })
}

// characters finds a name that was read with a character that was not meant to
// be part of it. In back-quotes any is.
func (c *checker) characters(n *ast) {
	if n.off >= len(c.src) || c.src[n.off] == '`' || c.src[n.off] == '"' || c.src[n.off] == '\'' {
		return
	}
	for i, r := range n.text {
		what := oddCharacters[r]
		if r < utf8.RuneSelf || what == "" {
			continue
		}
		c.findings = append(c.findings, Finding{
			Kind: OddCharacter, Name: n.text, Offset: n.off + i, End: n.off + i + utf8.RuneLen(r),
			Message: fmt.Sprintf("the name %q has %s (U+%04X) in it", n.text, what, r),
			Hint:    "write a plain space or quotation mark, or put the name in back-quotes",
		})
		return
	}
}
