package regex

import (
	"context"
	"io"
	"regexp"
	"unicode/utf8"
)

// heavyWork is the product of text and program length above which a search by
// Go's regexp watches its context: about 50 ms of work.
const heavyWork = 1 << 24

func (r *Regex) heavy(s string) bool { return len(s) > heavyWork/(r.size+16) }

// findLinear searches s from the byte from on. The returned pairs of offsets
// are those of regexp's FindSubmatchIndex, relative to base.
func (r *Regex) findLinear(ctx context.Context, p Processor, s string, from int) (loc []int, base int, err error) {
	re := r.linear
	if from > 0 && r.context {
		if r.anchored {
			return nil, 0, nil
		}
		if re, err = r.resumed(); err != nil {
			return nil, 0, err
		}
		_, w := utf8.DecodeLastRuneInString(s[:from])
		base = from - w
		loc, err = search(ctx, p, re, s[base:], r.heavy(s[base:]))
		if loc != nil {
			loc = loc[2:] // the first pair covers what was skipped, too
		}
		return loc, base, err
	}
	loc, err = search(ctx, p, re, s[from:], r.heavy(s[from:]))
	return loc, from, err
}

// search runs re over s, with an eye on ctx where the work is heavy.
func search(ctx context.Context, p Processor, re *regexp.Regexp, s string, heavy bool) ([]int, error) {
	if !heavy {
		return re.FindStringSubmatchIndex(s), nil
	}
	if p != nil {
		defer p.Acquire(ctx)()
	}
	loc := re.FindReaderSubmatchIndex(&watchedText{ctx: ctx, s: s})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return loc, nil
}

// watchedText reads a string that ends early when its context does.
type watchedText struct {
	ctx  context.Context
	s    string
	read int
}

var _ io.RuneReader = (*watchedText)(nil)

// ReadRune returns the next character, or io.EOF at the end of the string or
// after the end of the context.
func (w *watchedText) ReadRune() (rune, int, error) {
	if w.read&1023 == 0 && w.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	w.read++
	if w.s == "" {
		return 0, 0, io.EOF
	}
	r, n := utf8.DecodeRuneInString(w.s)
	w.s = w.s[n:]
	return r, n, nil
}
