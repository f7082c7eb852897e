package regex

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// all returns the matches of a pattern as JSON: index, end, text and captures.
func all(t *testing.T, pattern, flags, text string) string {
	t.Helper()
	r, err := Compile(pattern, flags)
	if err != nil {
		t.Fatal(err)
	}
	got, err := matchesAsJSON(r, text, 50)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestMatchesAsJavaScript(t *testing.T) {
	for _, c := range []struct{ pattern, flags, text, want string }{
		{`b+`, "", "ababbxabbcc", `[[1,2,"b"],[3,5,"bb"],[7,9,"bb"]]`},
		{`, `, "", "a, b, c", `[[1,3,", "],[4,6,", "]]`},
		{`(\w+)\s(\w+)`, "", "John Smith", `[[0,10,"John Smith","John","Smith"]]`},
		{`(ab)|(a)`, "", "abcda", `[[0,2,"ab","ab",null],[4,5,"a",null,"a"]]`},
		{`(-?\d+(?:\.\d*)?)F\b`, "", "68F 7.5F 1FX", `[[0,3,"68F","68"],[4,8,"7.5F","7.5"]]`},
		{`^a`, "", "aa", `[[0,1,"a"]]`},
		{`^a`, "m", "a\nab\ra", `[[0,1,"a"],[2,3,"a"],[5,6,"a"]]`},
		{`a$`, "m", "a\u2028a", `[[0,1,"a"],[2,3,"a"]]`},
		{`\bx`, "", "x xéx", `[[0,1,"x"],[2,3,"x"],[4,5,"x"]]`},
		{`.`, "", "\u2028a\r\u2029", `[[1,2,"a"]]`},
		{`\s`, "", "a\u00a0\ufeff\u0085", `[[1,2,"\u00a0"],[2,3,"\ufeff"]]`},
		{`\d`, "", "٣3", `[[1,2,"3"]]`},
		{`[k-s]`, "i", "K\u212a\u017fS", `[[0,1,"K"],[3,4,"S"]]`},
		{`ß`, "i", "ẞß", `[[1,2,"\u00df"]]`},
		{`é`, "i", "É", `[[0,1,"\u00c9"]]`},
		{`(?:(a)|b)*`, "", "ab", `[[0,2,"ab",null]]`},
		{`(a*)*`, "", "b", `[[0,0,"",null]]`},
		{`(z)((a+)?(b+)?(c))*`, "", "zaacbbbcac", `[[0,10,"zaacbbbcac","z","ac","a",null,"c"]]`},
		{`(a)\1`, "", "aaa", `[[0,2,"aa","a"]]`},
		{`\1(a)`, "", "aa", `[[0,1,"a","a"],[1,2,"a","a"]]`},
		{`(?<x>a)\k<x>`, "", "aa", `[[0,2,"aa","a"]]`},
		{`(é)\1`, "i", "éÉ", `[[0,2,"\u00e9\u00c9","\u00e9"]]`},
		{`a(?=b)`, "", "acab", `[[2,3,"a"]]`},
		{`(?<!a)b`, "", "abb", `[[2,3,"b"]]`},
		{`[^]`, "", "\n", `[[0,1,"\n"]]`},
		{`[]`, "", "a", `[]`},
		{`a{,2}`, "", "a{,2}", `[[0,5,"a{,2}"]]`},
		{`\u{2}`, "", "uu", `[[0,2,"uu"]]`},
		{`\cJ`, "", "\n", `[[0,1,"\n"]]`},
		{`\101[\b]`, "", "A\b", `[[0,2,"A\b"]]`},
		{`[\w-z]`, "", "-", `[[0,1,"-"]]`},
		{`x*`, "", "ax", `[[0,0,""],[1,2,"x"]]`},
		{`a{1500}`, "", strings.Repeat("a", 1500), `[[0,1500,"` + strings.Repeat("a", 1500) + `"]]`},
	} {
		got := all(t, c.pattern, c.flags, c.text)
		want := strings.NewReplacer(`\n`, `\u000a`, `\b`, `\u0008`).Replace(c.want)
		if got != want {
			t.Errorf("/%s/%s on %q:\n got %s\nwant %s", c.pattern, c.flags, c.text, got, want)
		}
	}
}

func TestSurrogatesAreSeenAsJavaScriptSeesThem(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{`.`, "a😀b", `[[0,1,"a"],[1,2,"\ud83d"],[2,3,"\ude00"],[3,4,"b"]]`},
		{`b`, "a😀b", `[[3,4,"b"]]`},
		{`😀`, "a😀b", `[[1,3,"\ud83d\ude00"]]`},
		{`😀+`, "😀\xed\xb8\x80", `[[0,3,"\ud83d\ude00\ude00"]]`},
		{`[^a]+`, "a😀é", `[[1,4,"\ud83d\ude00\u00e9"]]`},
		{`\ud83d`, "😀", `[[0,1,"\ud83d"]]`},
		{`[\ud800-\udbff]`, "\xed\xa0\xbdx", `[[0,1,"\ud83d"]]`},
		{`(.)x`, "😀x", `[[1,3,"\ude00x","\ude00"]]`},
		{`\ufffd`, "\xed\xa0\xbd\ufffd", `[[1,2,"\ufffd"]]`},
	} {
		if got := all(t, c.pattern, "", c.text); got != c.want {
			t.Errorf("/%s/ on %q:\n got %s\nwant %s", c.pattern, c.text, got, c.want)
		}
	}
}

// TestEnginesAgree runs each pattern directly where possible, by Go's regexp and
// by backtracking.
func TestEnginesAgree(t *testing.T) {
	const text = "the Cat sat\non a 42nd mat, aab abab 3.14 x=1;y=22;\tend"
	for _, pattern := range []string{`\w+`, `(\w)=(\d+);`, `\b[a-z]at\b`, `^o|t$`, `a+?b`, `(a|ab)(c|bab)?`, `\d+(\.\d+)?`, `[^\s,]+`, `(?:a|b)+`, `.*`,
		`a*b`, `(.*?)at`, `(\w+)(\w)\b`, `\w+?\d`, `\s\S*?a`, `(.*)=(\d+)`, `a{1,2}?b`, `[a-z]{2,}t`, `.+?`, `\w*\B`, `(é?.*?)\s+([\d.]+)`} {
		r, err := Compile(pattern, "im")
		if err != nil {
			t.Fatal(err)
		}
		if r.linear == nil {
			t.Errorf("/%s/ does not run in linear time", pattern)
		}
		linear, backtrack := *r, *r
		linear.direct, backtrack.direct, backtrack.linear = nil, nil, nil
		want, err := matchesAsJSON(&backtrack, text, 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, re := range []*Regex{r, &linear} {
			if got, err := matchesAsJSON(re, text, 50); got != want || err != nil {
				t.Errorf("/%s/: %s, %v\nand %s", pattern, got, err, want)
			}
		}
	}
}

// TestDirectPatternsAgreeWithLinearOnes compares the two on random rows of sets.
func TestDirectPatternsAgreeWithLinearOnes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	direct := 0
	for range 5000 {
		var pattern, text strings.Builder
		for range 1 + rnd.IntN(5) {
			piece := pick("a", "b", "[ab]", "[^a]", ".", `\s`, `\w`, "é", "[é-ü]", `\d`) + pick("", "", "*", "+", "?", "*?", "+?", "??", "{1,2}", "{2}", "{1,2}?")
			if rnd.IntN(4) == 0 {
				piece = "(" + piece + ")"
			}
			pattern.WriteString(pick("", "", "", "", "", "", "", "^", "$", `\b`, `\B`) + piece)
		}
		for range rnd.IntN(12) {
			text.WriteString(pick("a", "a", "b", "b", "é", "ü", " ", "1", "\n", "€"))
		}
		r, err := Compile(pattern.String(), "")
		if err != nil {
			t.Fatal(err)
		}
		if r.direct == nil || r.linear == nil {
			continue
		}
		direct++
		linear := *r
		linear.direct = nil
		want, err := matchesAsJSON(&linear, text.String(), 20)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := matchesAsJSON(r, text.String(), 20); got != want || err != nil {
			t.Errorf("/%s/ on %q: %s, %v\nwant %s", pattern.String(), text.String(), got, err, want)
		}
	}
	if direct < 1000 {
		t.Errorf("only %d of the patterns were direct", direct)
	}
}

func TestBeforeAndRestSplitTheText(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{`,`, "a,b,c", "a|b|c"}, {`b+`, "ababbxabbcc", "a|a|xa|cc"}, {`\ude00`, "a😀b", "a\xed\xa0\xbd|b"},
		{`(?=x)x`, "1x2", "1|2"}, {`q`, "none", "none"}, {`\bé`, "aé b", "a| b"},
	} {
		r, err := Compile(c.pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		var sc Scanner
		sc.Reset(r, c.text)
		got := ""
		for {
			ok, err := sc.Next(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got += sc.Before() + "|"
		}
		if got += sc.Rest(); got != c.want {
			t.Errorf("/%s/ on %q: got %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
}

func TestSeekCountsUTF16Units(t *testing.T) {
	for _, c := range []struct {
		pattern string
		seek    int
		want    int
	}{{`b`, 0, 0}, {`b`, 1, 3}, {`b`, 2, 3}, {`b`, 4, -1}, {`b`, 99, -1}, {`b`, -5, 0}, {`.`, 2, 2}, {`\bb`, 1, 3}, {`^b`, 1, -1}, {`(?=b)`, 1, 3}} {
		r, err := Compile(c.pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		var sc Scanner
		sc.Reset(r, "b😀b")
		sc.Seek(c.seek)
		got := -1
		if ok, err := sc.Next(context.Background(), nil); err != nil {
			t.Fatal(err)
		} else if ok {
			got = sc.Start()
		}
		if got != c.want {
			t.Errorf("/%s/ from %d: got %d, want %d", c.pattern, c.seek, got, c.want)
		}
	}
}

func TestSyntaxErrorsNameTheirPlace(t *testing.T) {
	for _, c := range []struct {
		pattern, flags string
		offset         int
	}{
		{"a(b", "", 1}, {"a)b", "", 1}, {"é[a", "", 2}, {"*a", "", 0}, {"a**", "", 2}, {"a|+", "", 2}, {"{2}", "", 0}, {"a{2,1}", "", 1},
		{"[b-a]", "", 1}, {"a\\", "", 1}, {"[\\", "", 1}, {"(?a)", "", 0}, {"(?<1>a)", "", 0}, {"(?<n>a)(?<n>b)", "", 7}, {"(?<n>a)\\k<m>", "", 7},
		{"(?<n>a)[\\k]", "", 8}, {"^*", "", 1}, {"(?<=a)*", "", 6}, {"a", "x", 1}, {strings.Repeat("(", 5000) + strings.Repeat(")", 5000), "", 200},
		{strings.Repeat("a", maxPattern+1), "", 0},
	} {
		_, err := Compile(c.pattern, c.flags)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Offset != c.offset || e.Reason == "" {
			t.Errorf("/%.20s/: got %v, want an error at %d", c.pattern, err, c.offset)
		}
	}
}

const catastrophe = `^(a+)+$(?!x)`

func TestCatastropheEndsWithItsContext(t *testing.T) {
	r, err := Compile(catastrophe, "")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a", 60) + "b"
	for name, makeContext := range map[string]func() (context.Context, context.CancelFunc){
		"deadline": func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 30*time.Millisecond)
		},
		"cancelled before": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return ctx, cancel
		},
		"cancelled during": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(30*time.Millisecond, cancel)
			return ctx, cancel
		},
	} {
		ctx, cancel := makeContext()
		_, err := r.MatchString(ctx, nil, text)
		if !errors.Is(err, context.Cause(ctx)) || err == nil {
			t.Errorf("%s: got %v, want %v", name, err, context.Cause(ctx))
		}
		cancel()
	}
}

func TestCatastropheEndsByItself(t *testing.T) {
	r, err := Compile(catastrophe, "")
	if err != nil {
		t.Fatal(err)
	}
	r.limit = 50 * time.Millisecond
	if _, err := r.MatchString(context.Background(), nil, strings.Repeat("a", 60)+"b"); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want %v", err, ErrTimeout)
	}
}

func TestDeepBacktrackingIsRefused(t *testing.T) {
	r, err := Compile(`(?:(a)|b|c)*(?=d)`, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.MatchString(context.Background(), nil, strings.Repeat("a", 4<<20)); !errors.Is(err, ErrTooComplex) {
		t.Errorf("got %v, want %v", err, ErrTooComplex)
	}
	if ok, err := r.MatchString(context.Background(), nil, strings.Repeat("a", 20000)+"d"); err != nil || !ok {
		t.Errorf("20,000 turns: got %v, %v", ok, err)
	}
}

func TestDirectPatterns(t *testing.T) {
	const no, tries, one = "not direct", "with several ways", "with one way"
	for pattern, want := range map[string]string{
		`\d+`: one, `[,;]\s*`: one, `(\w+)=(\d+);`: one, `^\[FILE\] `: one, `-?\d+`: one, `\b\d+\b`: one, `a{2,3}b*$`: one, `\d+-?x*`: one,
		`(a)(b)?`: no, `a|b`: no, `(ab)+`: no,
		`\w+1`: tries, `\d+\B`: tries, `a*^b`: tries, `a+?`: tries, `\s*\S*x`: tries, `\w+\d`: tries, `[\w-]+\b`: tries, `\d*\b`: tries, `\d+x?\b`: tries,
	} {
		r, err := Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		got := no
		if r.direct != nil {
			got = one
			if r.direct.tries {
				got = tries
			}
		}
		if got != want {
			t.Errorf("/%s/ is matched %s, want %s", pattern, got, want)
		}
	}
}

func TestDirectPatternsTakeLinearTime(t *testing.T) {
	for _, pattern := range []string{`[ab]b*c`, `b*b*b*c`, `b*?b*?b*?c`, `^.*.*.*c`} {
		r, err := Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("b", 1<<20)
		if _, decided := r.direct.find(text, 0, make([]int, 2)); decided {
			t.Errorf("/%s/: a search that takes too long was not given up", pattern)
		}
		if ok, err := r.MatchString(context.Background(), nil, text+"c"); err != nil || !ok {
			t.Errorf("/%s/: got %v, %v", pattern, ok, err)
		}
	}
}

func TestLongTextsWatchTheContext(t *testing.T) {
	r, err := Compile(`[a-z]+[0-9]{3}$`, "")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("abc 123 ", 1<<18)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.MatchString(ctx, nil, text); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if ok, err := r.MatchString(context.Background(), nil, text+"z999"); err != nil || !ok {
		t.Errorf("got %v, %v", ok, err)
	}
}

func TestOneRegexServesManyGoroutines(t *testing.T) {
	for _, pattern := range []string{`\bx(\d)`, `(?=x)x(\d)`} {
		r, err := Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				text := fmt.Sprintf("x%d x%d", i, i)
				want := fmt.Sprintf(`[[0,2,"x%d","%d"],[3,5,"x%d","%d"]]`, i, i, i, i)
				for range 50 {
					if got, err := matchesAsJSON(r, text, 9); err != nil || got != want {
						t.Errorf("got %s, %v; want %s", got, err, want)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestUsualMatchesDoNotAllocate(t *testing.T) {
	ctx := context.Background()
	for _, pattern := range []string{`needle`, `\d+ bytes`, `^\[FILE\]`} {
		r, err := Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { r.MatchString(ctx, nil, "[FILE] with needle of 12 bytes") }); n != 0 {
			t.Errorf("/%s/: %v allocations", pattern, n)
		}
	}
}

func FuzzRegex(f *testing.F) {
	for _, p := range []string{`(a+)+$`, `(?<n>a)\k<n>|[^\w-z]`, `\u{61}(?=b)*?`, `^(?:(a)|b){2,3}$`, `😀.\ud83d`} {
		f.Add(p, "im", "aab😀\r\n\xed\xa0\xbd")
	}
	f.Fuzz(func(t *testing.T, pattern, flags, text string) {
		r, err := Compile(pattern, flags)
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(pattern) {
				t.Fatalf("not a place in the pattern: %#v", err)
			}
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		var sc Scanner
		sc.Reset(r, text)
		last := -1
		for range 20 {
			ok, err := sc.Next(ctx, nil)
			if !ok || err != nil {
				break
			}
			if sc.Start() < last || sc.End() < sc.Start() {
				t.Fatalf("a match at %d..%d after one that began at %d", sc.Start(), sc.End(), last)
			}
			last = sc.Start()
			for g := 0; g <= r.Groups(); g++ {
				sc.Group(g)
			}
			if sc.Match() == "" && sc.End() > sc.Start() {
				t.Fatal("a match without text")
			}
			sc.Before()
		}
		sc.Rest()
	})
}

func BenchmarkLines(b *testing.B) {
	lines := strings.Split(strings.Repeat("[FILE] some-name.txt 12345 bytes\n", 100), "\n")
	ctx := context.Background()
	for _, c := range []struct{ name, pattern, flags string }{
		{"literal", `\[FILE\]`, ""}, {"class", `(\d+) bytes`, ""}, {"anchored", `^\[(FILE|DIR)\] (.*)$`, ""},
		{"word", `\b\d+\b`, ""}, {"nocase", `file`, "i"}, {"lookahead", `\d+(?= bytes)`, ""},
	} {
		r, err := Compile(c.pattern, c.flags)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/contains", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, l := range lines {
					r.MatchString(ctx, nil, l)
				}
			}
		})
		b.Run(c.name+"/matches", func(b *testing.B) {
			b.ReportAllocs()
			var sc Scanner
			for b.Loop() {
				for _, l := range lines {
					sc.Reset(r, l)
					for {
						if ok, _ := sc.Next(ctx, nil); !ok {
							break
						}
						sc.Match()
						sc.Start()
					}
				}
			}
		})
	}
}

// The first search of a process may be in a bubble of virtual time. Later ones, in it and
// outside, have their timeouts all the same.
func TestSearchesInVirtualTimeHaveTimeouts(t *testing.T) {
	search := func() {
		r, err := Compile(catastrophe, "")
		if err != nil {
			t.Error(err)
			return
		}
		r.limit = 100 * time.Millisecond
		if _, err := r.MatchString(context.Background(), nil, strings.Repeat("a", 60)+"b"); !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
	}
	synctest.Test(t, func(*testing.T) { search() })
	search()
	synctest.Test(t, func(*testing.T) { search() })
}
