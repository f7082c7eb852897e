package language

import (
	"slices"
	"strings"
)

// place is where a cursor stands in the text. It is found from the lines around
// the cursor, so that it is known in text that is not YAML yet.
type place struct {
	// path leads to the map that the key is in, or to the value: keys are
	// strings, indexes of lists ints.
	path []any
	// isKey is true where a key is written or can begin, isValue where a value
	// is or can. Both are true where it is not known yet which of them it will be.
	isKey, isValue bool
	// from and to are the bytes of the word around the cursor, without quotes.
	from, to int
	quote    byte // of the word; 0 without
	flow     bool // in a flow collection
	block    bool // in a block scalar, which the word is
	colon    bool // a colon follows the word
	space    bool // a space is missing before the word
	column   int  // of the key, in bytes of its line

	// Of a flow collection: the keys before the cursor in the same map, and the
	// brackets that close everything that is open.
	written []string
	closers string
}

// Bounds of what is read before the cursor.
const (
	maxLines     = 100_000
	maxFlowLines = 200
)

// findPlace returns where an offset stands in a text. The zero place means that
// nothing can be written there that mcpgraph knows.
func findPlace(text string, offset int) place {
	offset = min(max(offset, 0), len(text))
	start, _ := lineAt(text, offset)
	f := &finder{text: text, offset: offset, cur: splitLine(text, start)}
	col := f.cur.first()
	if f.cur.blank {
		col = offset - start
	}
	if path, opener := f.climb(col, false, nil); opener != nil {
		from := min(opener.end+1, len(text))
		return place{path: path, isValue: true, from: from, to: f.blockEnd(opener, start), block: true}
	}
	if p, ok := f.inFlow(col); ok {
		return p
	}
	return f.inBlock()
}

// finder finds the place of one offset.
type finder struct {
	text   string
	offset int
	cur    line // that the offset is in
}

// climb returns the path from the root to what stands at a column of the current
// line: a key of a map or, with dash, an element of a list. rest is the path
// below that, innermost first. opener is the line that begins the block scalar
// around it, if there is one; the path then leads to that scalar.
func (f *finder) climb(col int, dash bool, rest []any) (path []any, opener *line) {
	path, index := rest, 0
	up := func(at int, isDash bool, key string) bool {
		switch {
		case at > col, at == col && !dash:
			return false
		case at == col && isDash:
			index++
			return false
		}
		if dash {
			path = append(path, index)
		}
		if !isDash {
			path = append(path, key)
		}
		col, dash, index = at, isDash, 0
		return true
	}
	for i := len(f.cur.dashes) - 1; i >= 0; i-- {
		up(f.cur.dashes[i], true, "")
	}
	for start, n := f.cur.start, 0; start > 0 && n < maxLines; n++ {
		start, _ = lineAt(f.text, start-1)
		l := splitLine(f.text, start)
		if l.blank || l.comment || l.first() > col {
			continue
		}
		opens := l.opensBlockScalar(f.text)
		if l.keyEnd > 0 {
			if opens && l.col < col {
				path, dash, opener = nil, false, &l
			}
			up(l.col, false, l.key)
			opens = false
		}
		for i := len(l.dashes) - 1; i >= 0; i-- {
			if opens && l.dashes[i] < col {
				path, dash, opener = nil, false, &l
			}
			opens = false
			up(l.dashes[i], true, "")
		}
	}
	if dash {
		path = append(path, index)
	}
	slices.Reverse(path)
	return path, opener
}

// blockEnd returns the end of the block scalar that a line begins, at least that
// of the line at start.
func (f *finder) blockEnd(opener *line, start int) int {
	_, end := lineAt(f.text, start)
	for next := skipBreak(f.text, end); next < len(f.text); {
		l := splitLine(f.text, next)
		if !l.blank && l.first() <= opener.first() {
			break
		}
		if !l.blank {
			end = l.end
		}
		next = skipBreak(f.text, l.end)
	}
	return end
}

// skipBreak returns the offset behind the line break at i.
func skipBreak(text string, i int) int {
	if strings.HasPrefix(text[i:], "\r\n") {
		return i + 2
	}
	return min(i+1, len(text))
}

// inBlock returns the place outside of flow collections and block scalars.
func (f *finder) inBlock() place {
	l, at := f.cur, f.offset-f.cur.start
	s := f.text[l.start:l.end]
	switch {
	case l.comment, at > len(s):
		return place{}
	case l.blank:
		path, _ := f.climb(at, false, nil)
		return place{path: path, isKey: true, isValue: true, from: f.offset, to: f.offset, column: at}
	case at < l.col && (at <= l.first() || l.keyEnd > 0):
		return place{} // in the indentation, or between a dash and a key
	case l.keyEnd > 0 && at <= l.keyEnd:
		path, _ := f.climb(l.col, false, nil)
		p := place{path: path, isKey: true, from: l.start + l.col, to: l.start + l.keyEnd, colon: true, column: l.col}
		if c := s[l.col]; c == '"' || c == '\'' {
			if at == l.col || at == l.keyEnd {
				return place{} // outside of the quotes
			}
			p.quote, p.from, p.to = c, p.from+1, p.to-1
		}
		return p
	case l.keyEnd > 0 && at <= strings.IndexByte(s[l.keyEnd:], ':')+l.keyEnd:
		return place{}
	case inComment(s, l.value, at):
		return place{}
	}
	p := place{isValue: true, from: min(l.start+l.value, f.offset), column: min(l.col, at)}
	if l.keyEnd > 0 {
		p.path, _ = f.climb(l.col, false, []any{l.key})
		p.space = at > 0 && s[at-1] == ':'
	} else {
		p.path, _ = f.climb(p.column, false, nil)
		p.isKey = true
	}
	f.word(&p, l.end, func(i int) bool { return s[i-l.start] == '#' && i > l.start && s[i-l.start-1] == ' ' })
	return p
}

// inComment reports whether a column is in a comment of a line whose value begins
// at another.
func inComment(s string, value, at int) bool {
	i := strings.Index(s[min(value, len(s)):], "#")
	if i < 0 || value < len(s) && (s[value] == '"' || s[value] == '\'') {
		return false
	}
	i += value
	return i < at && (i == 0 || s[i-1] == ' ')
}

// word completes a place with the word that begins at its from and ends at limit
// at the latest, or where end reports it.
func (f *finder) word(p *place, limit int, end func(i int) bool) {
	if p.from < limit && (f.text[p.from] == '"' || f.text[p.from] == '\'') && p.from < f.offset {
		p.quote = f.text[p.from]
		p.from++
		p.isKey = p.isKey && p.flow
		p.to = limit
		if j := quoteEnd(f.text[:limit], p.from-1); j >= 0 {
			p.to = j - 1
		}
		p.colon = isColon(f.text[:limit], p.to+1)
		if p.to < f.offset { // behind the closing quote
			*p = place{}
		}
		return
	}
	p.to = p.from
	for p.to < limit && !end(p.to) {
		p.to++
	}
	p.to = p.from + len(strings.TrimRight(f.text[p.from:p.to], " \t"))
	p.to = max(p.to, f.offset)
}
