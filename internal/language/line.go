package language

import "strings"

// line is one line of block YAML, taken apart.
type line struct {
	start, end int   // bytes of the text, without the line break
	dashes     []int // columns of the dashes before the content, in bytes
	col        int   // column of the content, in bytes; that of the end for a blank line
	key        string
	keyEnd     int // column behind the key; 0 without one
	value      int // column of what stands behind the colon, or of the content without a key
	blank      bool
	comment    bool
}

// first returns the column of the first character that is not white space.
func (l *line) first() int {
	if len(l.dashes) > 0 {
		return l.dashes[0]
	}
	return l.col
}

// lineAt returns the bytes of the line that holds an offset.
func lineAt(text string, offset int) (start, end int) {
	start = strings.LastIndexByte(text[:offset], '\n') + 1
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		end = offset + i
	} else {
		end = len(text)
	}
	if end > start && text[end-1] == '\r' {
		end--
	}
	return start, max(end, start)
}

// splitLine takes the line that begins at start apart.
func splitLine(text string, start int) line {
	start, end := lineAt(text, start)
	l := line{start: start, end: end}
	s := text[start:end]
	i := skipSpaces(s, 0)
	for i < len(s) && s[i] == '-' && (i+1 == len(s) || s[i+1] == ' ') {
		l.dashes = append(l.dashes, i)
		i = skipSpaces(s, i+1)
	}
	l.col, l.value = i, i
	switch {
	case i == len(s):
		l.blank = len(l.dashes) == 0
		return l
	case s[i] == '#':
		l.comment = len(l.dashes) == 0
		return l
	}
	if key, end, ok := blockKey(s, i); ok {
		l.key, l.keyEnd = key, end
		l.value = skipSpaces(s, strings.IndexByte(s[end:], ':')+end+1)
	}
	return l
}

func skipSpaces(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// blockKey reads a key of a block map that begins at byte i.
func blockKey(s string, i int) (key string, end int, ok bool) {
	if i >= len(s) {
		return "", 0, false
	}
	if c := s[i]; c == '"' || c == '\'' {
		j := quoteEnd(s, i)
		if j < 0 {
			return "", 0, false
		}
		k := skipSpaces(s, j)
		return s[i+1 : j-1], j, isColon(s, k)
	}
	if strings.IndexByte("{[}],|>&*!%@`", s[i]) >= 0 {
		return "", 0, false
	}
	for j := i; j < len(s); j++ {
		switch {
		case isColon(s, j):
			return strings.TrimRight(s[i:j], " \t"), len(strings.TrimRight(s[:j], " \t")), true
		case s[j] == '#' && j > i && s[j-1] == ' ':
			return "", 0, false
		}
	}
	return "", 0, false
}

// isColon reports whether s has a colon at i that ends a key.
func isColon(s string, i int) bool {
	return i < len(s) && s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t')
}

// quoteEnd returns the index behind the quoted string that begins at i, or -1 if
// it does not end.
func quoteEnd(s string, i int) int {
	q := s[i]
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == '\\' && q == '"':
			j++
		case s[j] == q && q == '\'' && j+1 < len(s) && s[j+1] == q:
			j++
		case s[j] == q:
			return j + 1
		}
	}
	return -1
}

// opensBlockScalar reports whether the value of a line begins a block scalar.
func (l *line) opensBlockScalar(text string) bool {
	v := text[l.start+l.value : l.end]
	if i := strings.Index(v, " #"); i >= 0 {
		v = v[:i]
	}
	fields := strings.Fields(v)
	if len(fields) == 0 {
		return false
	}
	last := fields[len(fields)-1]
	if last[0] != '|' && last[0] != '>' || len(last) > 3 || strings.Trim(last[1:], "+-123456789") != "" {
		return false
	}
	for _, f := range fields[:len(fields)-1] {
		if f[0] != '!' && f[0] != '&' {
			return false
		}
	}
	return l.keyEnd > 0 || len(l.dashes) > 0
}
