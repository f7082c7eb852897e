package language

import "strings"

// frame is a flow collection that the cursor is in.
type frame struct {
	open   byte // { or [
	index  int
	key    string
	hasKey bool
	keys   []string
}

// inFlow returns the place of the cursor in a flow collection, and reports whether
// it is in one. col is the column at which the current line begins.
func (f *finder) inFlow(col int) (place, bool) {
	l, lowest := f.cur, col
	for n := 0; n < maxFlowLines; n++ {
		if at := l.start + l.value; at < f.offset && at < l.end && (f.text[at] == '{' || f.text[at] == '[') {
			owner := l.first()
			if l.keyEnd > 0 {
				owner = l.col
			} else if len(l.dashes) > 0 {
				owner = l.dashes[len(l.dashes)-1]
			}
			if n == 0 || owner < lowest {
				if p, ok := f.scanFlow(l, at); ok {
					return p, true
				}
			}
		}
		if !l.blank && !l.comment && n > 0 {
			lowest = min(lowest, l.first())
		}
		if l.start == 0 {
			break
		}
		start, _ := lineAt(f.text, l.start-1)
		l = splitLine(f.text, start)
	}
	return place{}, false
}

// scanFlow reads a flow collection up to the cursor, and reports whether that is
// still inside.
func (f *finder) scanFlow(l line, at int) (place, bool) {
	var stack []frame
	var word string
	wordAt := -1 // of a plain word that the cursor may be in
	for i := at; i < f.offset; {
		top := len(stack) - 1
		switch c := f.text[i]; {
		case c == '{' || c == '[':
			stack, word, wordAt = append(stack, frame{open: c}), "", -1
			if len(stack) > 500 {
				return place{}, false
			}
			i++
		case c == '}' || c == ']':
			if stack, word, wordAt = stack[:top], "", -1; top == 0 {
				return place{}, false
			}
			i++
		case c == ',':
			stack[top].index++
			stack[top].hasKey = false
			word, wordAt = "", -1
			i++
		case c == ':' && stack[top].open == '{' && !stack[top].hasKey && f.endsKey(i):
			stack[top].key, stack[top].hasKey = strings.TrimSpace(word), true
			stack[top].keys = append(stack[top].keys, stack[top].key)
			word, wordAt = "", -1
			i++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '#' && i > 0 && (f.text[i-1] == ' ' || f.text[i-1] == '\n'):
			_, end := lineAt(f.text, i)
			if f.offset <= end {
				return place{}, true
			}
			i = end
		case (c == '"' || c == '\'') && wordAt < 0:
			end := quoteEnd(f.text[:f.offset], i)
			if end < 0 {
				p := f.flowPlace(l, stack, i)
				_, limit := lineAt(f.text, f.offset)
				f.word(&p, limit, func(int) bool { return false })
				return p, true
			}
			word, wordAt = f.text[i+1:end-1], i
			i = end
		default:
			if wordAt < 0 {
				wordAt = i
			}
			i++
			word = f.text[wordAt:i]
		}
	}
	if wordAt < 0 || f.text[wordAt] == '"' || f.text[wordAt] == '\'' {
		wordAt = f.offset
	}
	p := f.flowPlace(l, stack, wordAt)
	p.space = p.from == f.offset && f.text[f.offset-1] == ':'
	_, limit := lineAt(f.text, f.offset)
	f.word(&p, limit, func(i int) bool {
		return strings.IndexByte(",[]{}", f.text[i]) >= 0 || f.text[i] == ':' && f.endsKey(i) || f.text[i] == '#' && f.text[i-1] == ' '
	})
	p.colon = p.to < len(f.text) && f.text[p.to] == ':'
	return p, true
}

// endsKey reports whether the colon at i ends a key of a flow map.
func (f *finder) endsKey(i int) bool {
	if i+1 >= len(f.text) || strings.IndexByte(" \t\r\n,]}[{", f.text[i+1]) >= 0 {
		return true
	}
	return i > 0 && (f.text[i-1] == '"' || f.text[i-1] == '\'')
}

// flowPlace returns the place of a word in the innermost of the collections.
func (f *finder) flowPlace(l line, stack []frame, from int) place {
	var inner []any // innermost first
	top := len(stack) - 1
	closers := ""
	for i := top; i >= 0; i-- {
		closers += string(stack[i].open + 2) // } and ] are two behind { and [
		switch fr := stack[i]; {
		case fr.open == '[':
			inner = append(inner, fr.index)
		case fr.hasKey:
			inner = append(inner, fr.key)
		}
	}
	if l.keyEnd > 0 {
		inner = append(inner, l.key)
	}
	at := &finder{text: f.text, offset: f.offset, cur: l}
	path, _ := at.climb(l.col, false, inner)
	p := place{path: path, from: from, flow: true, column: from - l.start, written: stack[top].keys, closers: closers}
	p.isKey = stack[top].open == '{' && !stack[top].hasKey
	p.isValue = !p.isKey
	return p
}
