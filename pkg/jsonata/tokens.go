package jsonata

// Token is one word of a source: the bytes from Off to End. Text is what it
// means: a string without quotes and escapes, a variable without its $, and for
// anything else the word itself.
type Token struct {
	Off, End int
	Text     string
	// Operator reports whether it is an operator, a bracket or a separator.
	Operator bool

	kind  tokenKind
	flags string
}

// Same reports whether two tokens mean the same, wherever they stand.
func (t Token) Same(other Token) bool {
	return t.kind == other.kind && t.Text == other.Text && t.flags == other.flags
}

// Tokens returns the words of an expression, without white space and comments.
// The error is an *[Error]: of syntax, or of a part that does not fit its place.
func Tokens(src string) ([]Token, error) {
	p := &parser{lexer: lexer{src: src}, record: true}
	if _, err := p.whole(); err != nil {
		return nil, explain(p, err)
	}
	return p.tokens, nil
}
