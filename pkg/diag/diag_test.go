package diag

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestErrorIsOnePlainLine(t *testing.T) {
	tests := []struct {
		d    Diagnostic
		want string
	}{
		{Diagnostic{File: "a.yaml", Pos: Pos{3, 7}, Code: "bad-x", Message: "no"}, "a.yaml:3:7: error: no [bad-x]"},
		{Diagnostic{File: "a.yaml", Severity: Warning, Message: "no"}, "a.yaml: warning: no"},
		{Diagnostic{Pos: Pos{1, 2}, Severity: Info, Message: "no"}, "1:2: info: no"},
		{Diagnostic{Message: "no"}, "error: no"},
	}
	for _, tt := range tests {
		if got := tt.d.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestSortIsByFileThenPlaceThenSeverity(t *testing.T) {
	want := []Diagnostic{
		{File: "a", Message: "without a place"},
		{File: "a", Pos: Pos{1, 2}, Message: "x"},
		{File: "a", Pos: Pos{1, 10}, Message: "x"},
		{File: "a", Pos: Pos{2, 1}, Code: "a", Message: "z"},
		{File: "a", Pos: Pos{2, 1}, Code: "b", Message: "a"},
		{File: "a", Pos: Pos{2, 1}, Severity: Warning, Message: "a"},
		{File: "b", Pos: Pos{1, 1}, Message: "x"},
	}
	got := slices.Clone(want)
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		Sort(got)
		for i := range got {
			if got[i].Error() != want[i].Error() {
				t.Fatalf("place %d holds %v, want %v", i, got[i], want[i])
			}
		}
	}
	if !HasErrors(want) || HasErrors(want[5:6]) {
		t.Error("HasErrors does not tell errors from warnings")
	}
}

func TestNearestSpelling(t *testing.T) {
	valid := []string{"next", "server", "tool", "args", "id", "type", "transform"}
	tests := []struct {
		name, want string
		ok         bool
	}{
		{"nxt", "next", true}, {"Next", "next", true}, {"sever", "server", true}, {"tols", "tool", true},
		{"argsss", "args", true}, {"argssss", "", false}, {"ie", "id", true}, {"xy", "", false}, {"x", "", false},
		{"position", "", false}, {"", "", false}, {"transfrom", "transform", true}, {"tpey", "type", true}, {"ragss", "args", true},
	}
	for _, tt := range tests {
		if got, ok := Nearest(tt.name, valid); got != tt.want || ok != tt.ok {
			t.Errorf("Nearest(%q) is %q, %v; want %q, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
	if got, _ := Nearest("bar", []string{"baz", "bat"}); got != "bat" {
		t.Errorf("of two equally near names %q was taken", got)
	}
}

func TestMisspeltIsSureOfItself(t *testing.T) {
	for name, want := range map[string]string{
		"dirctory": "directory", "directroy": "directory", "directry": "directory", "id": "", "ix": "", "nmae": "name",
		"nme": "name", "same": "name", "lamb": "", "line1": "", "drectoy": "directory", "folder": "", "path": "",
	} {
		if got, ok := Misspelt(name, []string{"directory", "name", "ip", "line2"}); ok != (want != "") || ok && got != want {
			t.Errorf("Misspelt(%q) is %q, %v; want %q", name, got, ok, want)
		}
	}
}

func TestListIsSortedAndQuoted(t *testing.T) {
	for want, names := range map[string][]string{
		"":                  nil,
		`"a"`:               {"a"},
		`"a" or "b"`:        {"b", "a", "b"},
		`"a", "b\"" or "c"`: {"c", "b\"", "a"},
	} {
		if got := List(names); got != want {
			t.Errorf("List(%q) is %s, want %s", names, got, want)
		}
	}
}

func TestCodesAreUniqueAndDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Codes {
		if seen[c.Code] {
			t.Errorf("code %q is listed twice", c.Code)
		}
		seen[c.Code] = true
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(c.Code) {
			t.Errorf("code %q is not in kebab-case", c.Code)
		}
		if c.Summary == "" || strings.HasSuffix(c.Summary, ".") {
			t.Errorf("the summary of %q is empty or ends with a full stop", c.Code)
		}
		if SeverityOf(c.Code) != c.Severity {
			t.Errorf("SeverityOf(%q) is not what the table says", c.Code)
		}
	}
}

// slowPos counts lines and columns the slow way.
func slowPos(text string, offset int) Pos {
	p := Pos{1, 1}
	for i, r := range text {
		if i >= offset {
			break
		}
		if r == '\n' || r == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			p = Pos{p.Line + 1, 1}
		} else {
			p.Col++
		}
	}
	return p
}

func TestLinesTurnOffsetsIntoPositionsAndBack(t *testing.T) {
	parts := []string{"a", "é", "日", "😀", "\n", "\r\n", "\r", "\t", strings.Repeat("x", 700), strings.Repeat("é", 900)}
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		l := NewLines([]byte(text))
		for range 40 {
			i := r.IntN(len(text) + 1)
			for i < len(text) && !utf8.RuneStart(text[i]) {
				i++
			}
			if i < len(text) && text[i] == '\n' && i > 0 && text[i-1] == '\r' {
				continue // inside a line break there is no place
			}
			want := slowPos(text, i)
			if got := l.Pos(i); got != want {
				t.Fatalf("offset %d of %q is at %v, want %v", i, text, got, want)
			}
			if got := l.Offset(want); got != i {
				t.Fatalf("%v of %q is offset %d, want %d", want, text, got, i)
			}
		}
	}
}

func TestLinesGiveTextWithoutItsBreak(t *testing.T) {
	l := NewLines([]byte("one\r\ntwo\rthree\n\nfive"))
	want := []string{"one", "two", "three", "", "five"}
	if l.Count() != len(want) {
		t.Fatalf("%d lines, want %d", l.Count(), len(want))
	}
	for i, w := range want {
		if got := string(l.Line(i + 1)); got != w {
			t.Errorf("line %d is %q, want %q", i+1, got, w)
		}
	}
	if l.Line(0) != nil || l.Line(6) != nil {
		t.Error("lines outside the text are not nil")
	}
	if got := l.Offset(Pos{1, 99}); got != 3 {
		t.Errorf("a column behind the line is offset %d, want 3", got)
	}
	if got := l.Offset(Pos{99, 1}); got != 20 {
		t.Errorf("a line behind the text is offset %d, want 20", got)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\né\xff\n"), 3)
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		l := NewLines(text)
		p := l.Pos(at)
		if o := l.Offset(p); o < 0 || o > len(text) {
			t.Fatalf("offset %d outside", o)
		}
		var out bytes.Buffer
		d := Diagnostic{File: "f", Pos: p, End: Pos{p.Line, p.Col + at%7}, Message: "m"}
		if err := WriteText(&out, []Diagnostic{d}, Sources{"f": text}, TextOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}

func text(t *testing.T, source string, opts TextOptions, ds ...Diagnostic) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteText(&out, ds, Sources{"f.yaml": []byte(source)}, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTextMarksTheVeryCharacters(t *testing.T) {
	at := func(line, col, end int) Diagnostic {
		d := Diagnostic{File: "f.yaml", Pos: Pos{line, col}, Code: "c", Message: "m"}
		if end > 0 {
			d.End = Pos{line, end}
		}
		return d
	}
	tests := []struct {
		name, source string
		d            Diagnostic
		code, mark   string
	}{
		{"one character", "a: b", at(1, 4, 0), "a: b", "   ^"},
		{"a range", "a: bcd", at(1, 4, 7), "a: bcd", "   ^~~"},
		{"behind a tab", "\ta\tb", at(1, 4, 0), "    a   b", "        ^"},
		{"over a tab", "a\tb", at(1, 1, 4), "a   b", "^~~~~"},
		{"behind wide characters", "日本: x", at(1, 5, 0), "日本: x", "      ^"},
		{"over a wide character", "a日b", at(1, 2, 3), "a日b", " ^~"},
		{"behind a combining character", "e\u0301: x", at(1, 5, 0), "e\u0301: x", "   ^"},
		{"behind an emoji", "😀x", at(1, 2, 0), "😀x", "  ^"},
		{"end of the line", "ab", at(1, 3, 0), "ab", "  ^"},
		{"behind the end of the line", "ab", at(1, 9, 12), "ab", "  ^"},
		{"CR LF", "ab\r\ncd\r\n", at(2, 2, 0), "cd", " ^"},
		{"byte order mark", "\ufeffab", at(1, 1, 0), "ab", "^"},
		{"commands to the terminal", "a\x1b[31mb", at(1, 7, 0), "a␛[31mb", "      ^"},
		{"turned text", "a\u202eb", at(1, 3, 0), "a\ufffdb", "  ^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.d.Error() + "\n" +
				"   " + string(rune('0'+tt.d.Pos.Line)) + " | " + tt.code + "\n" +
				"     | " + tt.mark + "\n"
			if got := text(t, tt.source, TextOptions{}, tt.d); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestTextMarksTheRestOfTheLineOfALongerPlace(t *testing.T) {
	d := Diagnostic{File: "f.yaml", Pos: Pos{1, 1}, End: Pos{2, 3}, Message: "m"}
	want := "f.yaml:1:1: error: m\n   1 | a: |  \n     | ^~~~\n"
	want = strings.Replace(want, "|  \n", "|\n", 1)
	if got := text(t, "a: |  \n  x\n", TextOptions{}, d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTextShowsHintAndRelatedPlaces(t *testing.T) {
	d := Diagnostic{
		File: "f.yaml", Pos: Pos{2, 1}, End: Pos{2, 2}, Severity: Warning, Code: "c", Message: "again", Hint: "rename it",
		Related: []Related{{Pos: Pos{1, 1}, Message: "the first is here"}, {File: "g.yaml", Message: "elsewhere"}},
	}
	want := `f.yaml:2:1: warning: again [c]
   2 | b: 2
     | ^
     = hint: rename it
  f.yaml:1:1: note: the first is here
   1 | a: 1
     | ^
  g.yaml: note: elsewhere
`
	if got := text(t, "a: 1\nb: 2\n", TextOptions{}, d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTextWithoutASourceHasNoSnippet(t *testing.T) {
	d := Diagnostic{File: "other.yaml", Pos: Pos{1, 1}, Message: "m", Hint: "h"}
	want := "other.yaml:1:1: error: m\n  = hint: h\n"
	if got := text(t, "", TextOptions{}, d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTextIsColouredOnlyWhenAsked(t *testing.T) {
	d := Diagnostic{File: "f.yaml", Pos: Pos{1, 1}, Code: "c", Message: "m", Hint: "h"}
	plain, colored := text(t, "abc", TextOptions{}, d), text(t, "abc", TextOptions{Color: true}, d)
	if strings.Contains(plain, "\x1b") {
		t.Errorf("colours that nobody asked for: %q", plain)
	}
	if !strings.Contains(colored, "\x1b[1;31merror:\x1b[0m") {
		t.Errorf("no colours: %q", colored)
	}
	if stripped := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colored, ""); stripped != plain {
		t.Errorf("without its colours it is\n%swant\n%s", stripped, plain)
	}
}

func TestTextCutsLongLinesAroundThePlace(t *testing.T) {
	line := strings.Repeat("0123456789", 500_000) // 5 MB
	source := "x" + line
	var ds []Diagnostic
	for i := range 2000 {
		ds = append(ds, Diagnostic{File: "f.yaml", Pos: Pos{1, 2 + i*2400}, End: Pos{1, 5 + i*2400}, Message: "m"})
	}
	out := text(t, source, TextOptions{}, ds...)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 3*len(ds) {
		t.Fatalf("%d lines for %d problems", len(lines), len(ds))
	}
	for i := range ds {
		code, mark := []rune(lines[3*i+1]), []rune(lines[3*i+2])
		if len(code) > 140 {
			t.Fatalf("problem %d shows %d columns", i, len(code))
		}
		at := strings.IndexRune(string(mark), '^')
		if got := string(code[at : at+3]); got != "012" || string(mark[at:]) != "^~~" {
			t.Fatalf("problem %d marks %q with %q", i, got, string(mark[at:]))
		}
	}
}

func TestJSONHasStableFields(t *testing.T) {
	var out bytes.Buffer
	err := WriteJSON(&out, []Diagnostic{
		{File: "a.yaml", Pos: Pos{1, 2}, End: Pos{1, 5}, Code: "c", Message: "<m>", Hint: "h",
			Related: []Related{{Pos: Pos{3, 4}, Message: "r"}}},
		{Severity: Warning, Message: "w"},
		{Severity: Info, Message: "i"},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "diagnostics": [
    {
      "file": "a.yaml",
      "line": 1,
      "column": 2,
      "endLine": 1,
      "endColumn": 5,
      "severity": "error",
      "code": "c",
      "message": "<m>",
      "hint": "h",
      "related": [
        {
          "file": "a.yaml",
          "line": 3,
          "column": 4,
          "message": "r"
        }
      ]
    },
    {
      "severity": "warning",
      "code": "",
      "message": "w"
    },
    {
      "severity": "info",
      "code": "",
      "message": "i"
    }
  ],
  "errors": 1,
  "warnings": 1,
  "infos": 1
}
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
	out.Reset()
	if err := WriteJSON(&out, nil, 0); err != nil || !strings.Contains(out.String(), `"diagnostics": []`) {
		t.Errorf("without problems: %v\n%s", err, out.String())
	}
}

// TestSARIFHasWhatTheStandardRequires checks the properties that section 3 of
// SARIF 2.1.0 requires, and those that code scanning reads.
func TestSARIFHasWhatTheStandardRequires(t *testing.T) {
	var out bytes.Buffer
	ds := []Diagnostic{
		{File: "dir/a b.yaml", Pos: Pos{1, 2}, End: Pos{1, 5}, Code: Codes[3].Code, Message: "m", Hint: "h",
			Related: []Related{{Pos: Pos{3, 4}, Message: "r"}}},
		{File: "/abs/b.yaml", Severity: Info, Code: "not-in-the-table", Message: "i"},
		{Severity: Warning, Code: Codes[0].Code, Message: "w"},
	}
	if err := WriteSARIF(&out, ds, 0, "1.2.3", "https://github.com/mcpgraph/mcpgraph"); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	get := func(path ...any) any {
		var v any = doc
		for _, step := range path {
			switch step := step.(type) {
			case string:
				m, ok := v.(map[string]any)
				if !ok {
					t.Fatalf("no map at %v of %v", step, path)
				}
				v = m[step]
			case int:
				l, ok := v.([]any)
				if !ok || step >= len(l) {
					t.Fatalf("no element %v of %v", step, path)
				}
				v = l[step]
			}
		}
		return v
	}
	first := []any{"runs", 0, "results", 0}
	in := func(more ...any) []any { return slices.Concat(first, more) }
	region := in("locations", 0, "physicalLocation", "region")
	for _, tt := range []struct {
		path []any
		want any
	}{
		{[]any{"version"}, "2.1.0"},
		{[]any{"runs", 0, "tool", "driver", "name"}, "mcpgraph"},
		{[]any{"runs", 0, "tool", "driver", "version"}, "1.2.3"},
		{[]any{"runs", 0, "columnKind"}, "unicodeCodePoints"},
		{[]any{"runs", 0, "tool", "driver", "rules", 3, "id"}, Codes[3].Code},
		{[]any{"runs", 0, "tool", "driver", "rules", 3, "shortDescription", "text"}, Codes[3].Summary},
		{in("ruleId"), Codes[3].Code},
		{in("ruleIndex"), 3.0},
		{in("level"), "error"},
		{in("message", "text"), "m. h"},
		{in("locations", 0, "physicalLocation", "artifactLocation", "uri"), "dir/a%20b.yaml"},
		{append(region, "startLine"), 1.0},
		{append(region, "startColumn"), 2.0},
		{append(region, "endLine"), 1.0},
		{append(region, "endColumn"), 5.0},
		{in("relatedLocations", 0, "message", "text"), "r"},
		{in("relatedLocations", 0, "physicalLocation", "region", "startLine"), 3.0},
		{[]any{"runs", 0, "results", 1, "level"}, "note"},
		{[]any{"runs", 0, "results", 1, "ruleIndex"}, nil},
		{[]any{"runs", 0, "results", 1, "locations", 0, "physicalLocation", "artifactLocation", "uri"}, "file:///abs/b.yaml"},
		{[]any{"runs", 0, "results", 1, "locations", 0, "physicalLocation", "region"}, nil},
		{[]any{"runs", 0, "results", 2, "level"}, "warning"},
		{[]any{"runs", 0, "results", 2, "locations"}, nil},
	} {
		if got := get(tt.path...); got != tt.want {
			t.Errorf("%v is %v, want %v", tt.path, got, tt.want)
		}
	}
	if n := len(get("runs", 0, "tool", "driver", "rules").([]any)); n != len(Codes) {
		t.Errorf("%d rules are listed, want all %d", n, len(Codes))
	}
}

func TestGitHubCommandsAreEscaped(t *testing.T) {
	var out bytes.Buffer
	err := WriteGitHub(&out, []Diagnostic{
		{File: "a,b:c%.yaml", Pos: Pos{1, 2}, End: Pos{1, 5}, Code: "c", Message: "50%\r\nof: a, b", Hint: "h"},
		{File: "a.yaml", Pos: Pos{1, 2}, End: Pos{3, 1}, Severity: Warning, Message: "m"},
		{Severity: Info, Message: "m"},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := `::error file=a%2Cb%3Ac%25.yaml,line=1,endLine=1,col=2,endColumn=4,title=c::50%25%0D%0Aof: a, b. h
::warning file=a.yaml,line=1,endLine=3::m
::notice::m
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
