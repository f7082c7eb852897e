package value

import (
	"slices"
	"strconv"
	"strings"
)

// scanner walks a JSON text without building anything.
type scanner struct {
	text   string
	pos    int
	spaced bool  // white space was seen between tokens
	bytes  int64 // that decoding what was skipped allocates
	unique bool  // keys that are there twice are refused

	keys []string // of the objects that are open, where they must be unique

	marking bool // what is long is noted in marks
	marks   []mark
	base    int // where text begins in the text that marks are about
}

func (s *scanner) fail(message string) error {
	return &SyntaxError{Offset: s.pos, Message: message}
}

// peek returns the byte at the position, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.spaced = true
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) word(w string) error {
	if len(s.text)-s.pos < len(w) || s.text[s.pos:s.pos+len(w)] != w {
		return s.fail("expected a value")
	}
	s.pos += len(w)
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// ordinary is the length up to which a number without an exponent is in range.
const ordinary = 300

func (s *scanner) skipNumber() error {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return s.fail("expected a value")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.fail("expected a digit after the decimal point")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.fail("expected a digit in the exponent")
		}
		return s.checkRange(start)
	}
	if s.pos-start > ordinary {
		return s.checkRange(start)
	}
	return nil
}

// skipString moves behind a string and reports whether it holds escapes.
func (s *scanner) skipString() (escaped bool, err error) {
	if long := s.marked(); long != nil {
		s.pos += long.length
		return long.escaped, nil
	}
	start := s.pos
	for i := start + 1; i < len(s.text); i++ {
		i += plainLen(s.text[i:], true)
		if i == len(s.text) {
			break
		}
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			s.markString(start, escaped)
			return escaped, nil
		case c < ' ':
			s.pos = i
			return false, s.fail("a control character inside a string must be escaped")
		case c == '\\':
			escaped = true
			i++
			if i == len(s.text) {
				break
			}
			switch s.text[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(s.text) || !isHex4(s.text[i+1:i+5]) {
					s.pos = i - 1
					return false, s.fail(`expected four hexadecimal digits after \u`)
				}
				i += 4
			default:
				s.pos = i - 1
				return false, s.fail("unknown escape in a string")
			}
		}
	}
	s.pos = len(s.text)
	return false, s.fail("the string has no end")
}

// skipValue moves behind one value and checks its syntax.
func (s *scanner) skipValue(depth int) error {
	if depth > MaxDepth {
		return s.fail("nested too deeply")
	}
	switch s.peek() {
	case '{':
		return s.skipMembers('}', depth+1)
	case '[':
		return s.skipMembers(']', depth+1)
	case '"':
		return s.skipCounted()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	case 0:
		if s.pos >= len(s.text) {
			return s.fail("the text ends where a value was expected")
		}
	}
	start := s.pos
	err := s.skipNumber()
	if s.pos-start > exactDigits {
		s.bytes += 16 // it may keep its digits
	}
	return err
}

// skipCounted is skipString that counts what the string's escapes cost.
func (s *scanner) skipCounted() error {
	start := s.pos
	escaped, err := s.skipString()
	if escaped {
		s.bytes += int64(s.pos-start) + 8
	}
	return err
}

func (s *scanner) skipMembers(end byte, depth int) error {
	if long := s.marked(); long != nil {
		s.pos += long.length
		s.spaced = s.spaced || long.spaced
		s.bytes += long.bytes + containerSize(end == '}', long.members)
		return nil
	}
	start, keys, marks := s.pos, len(s.keys), len(s.marks)
	marking := s.marking && depth <= markLevels
	if marking { // marks stand in the order of their starts
		s.marks = append(s.marks, mark{start: start, flat: true, bytes: -s.bytes})
	}
	spaced := s.spaced
	s.spaced = false
	s.pos++
	var key string // as it stands in the text
	n := 0
	for ; ; n++ {
		s.space()
		if n == 0 && s.peek() == end {
			break
		}
		if end == '}' {
			if s.peek() != '"' {
				return s.fail("expected a key in double quotes")
			}
			at := s.pos
			if err := s.skipCounted(); err != nil {
				return err
			}
			key = s.text[at+1 : s.pos-1]
			if s.unique {
				s.keys = append(s.keys, plainKey(key))
			}
			s.space()
			if s.peek() != ':' {
				return s.fail("expected ':'")
			}
			s.pos++
			s.space()
		}
		at := s.pos
		if err := s.skipValue(depth); err != nil {
			if end == '}' {
				return within(err, unescape(key))
			}
			return within(err, strconv.Itoa(n))
		}
		if marking && s.pos-at >= lazyFrom && (s.text[at] == '{' || s.text[at] == '[') {
			s.marks[marks].flat = false
		}
		s.space()
		if c := s.peek(); c == end {
			n++
			break
		} else if c != ',' {
			return s.fail("expected ',' or '" + string(rune(end)) + "'")
		}
		s.pos++
	}
	s.pos++
	if marking {
		if s.pos-start < lazyFrom {
			s.marks = s.marks[:marks]
		} else {
			long := &s.marks[marks]
			long.length, long.members, long.spaced = s.pos-start, n, s.spaced
			long.bytes += s.bytes
		}
	}
	s.spaced = s.spaced || spaced
	s.bytes += containerSize(end == '}', n)
	if len(s.keys) > keys {
		again, ok := repeatedKey(s.keys[keys:])
		s.keys = s.keys[:keys]
		if ok {
			return s.twice(start, again)
		}
	}
	return nil
}

// plainKey returns a key without its escapes.
func plainKey(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return unescape(raw)
}

// repeatedKey returns a key that is there twice. It changes the order of keys.
func repeatedKey(keys []string) (string, bool) {
	if len(keys) < indexFrom {
		for i, key := range keys {
			if slices.Contains(keys[:i], key) {
				return key, true
			}
		}
		return "", false
	}
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			return keys[i], true
		}
	}
	return "", false
}

func isHex4(s string) bool {
	for i := 0; i < 4; i++ {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

func hex4(s string) rune {
	n, _ := strconv.ParseUint(s[:4], 16, 32)
	return rune(n)
}
