package value

import "strings"

// Apart returns a copy of v that shares nothing with it. What is kept for longer than
// the message that it is part of must be apart: each text in v, and v itself while it is
// not decoded, keeps the whole message in memory.
//
// The copy is decoded when it is read. Decoding counts nowhere; see [Value.Metered].
// Functions become what they are in JSON, unless v is one.
func (v Value) Apart() Value {
	switch v.Kind() {
	case Undefined, Null, Bool, Func:
		return v
	case String:
		return FromString(strings.Clone(v.Str()))
	}
	text := v.Append(make([]byte, 0, v.TextSize()+v.TextSize()/16))
	if cap(text)-len(text) > len(text)/8 {
		text = append(make([]byte, 0, len(text)), text...)
	}
	out, err := ParseLazyBytes(text)
	if err != nil {
		return v // it has texts that no JSON has, so it is not from a message
	}
	return out
}
