package cassette

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func parsed(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// exchange makes an exchange as the pool does.
func call(t testing.TB, tool, args string) upstream.Exchange {
	return upstream.Exchange{Info: callinfo.None, Server: "files", Tool: tool, Args: parsed(t, args)}
}

func replying(t testing.TB, text string) func(context.Context) (value.Value, error) {
	return func(context.Context) (value.Value, error) { return parsed(t, text), nil }
}

func failing(err error) func(context.Context) (value.Value, error) {
	return func(context.Context) (value.Value, error) { return value.Undef, err }
}

// failure makes the error that a pool makes of a failure.
func failure(t testing.TB, f *upstream.Failure) error {
	t.Helper()
	pool := upstream.New(nil, upstream.Options{})
	_, err := pool.CallTool(t.Context(), nil, "files", "list", value.Undef)
	var e *upstream.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	e.Message = f.Message
	return e
}

const recordedText = `{"arguments":{"path":"/srv","all":true},"reply":{"z":1,"content":[{"type":"text","text":"a\nb <c>"}],"n":12345678901234567890},"server":"files","test":"one","tool":"list"}
{"arguments":{},"failure":"503","final":true,"message":"it answered HTTP 503","retryAfterMs":2000,"server":"web","test":"one","tool":"get"}
{"arguments":{"path":"/srv","all":true},"reply":{"content":[]},"server":"files","tool":"list"}
`

func TestLinesStayAsTheyAre(t *testing.T) {
	const run = `{"arguments":{"b":1,"a":2},"config":"x/count.yaml","run":"count_files"}` + "\n"
	for _, text := range []string{"", recordedText, run + recordedText} {
		c, err := Parse("x.jsonl", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.Text()); got != text {
			t.Errorf("got\n%swant\n%s", got, text)
		}
	}
	c, _ := Parse("x.jsonl", run+"\n"+recordedText)
	x := c.Exchanges[1]
	if c.Run.Tool != "count_files" || c.Run.Config != "x/count.yaml" || x.Line != 4 || x.Failure.RetryAfter != 2*time.Second || !x.Failure.Final {
		t.Errorf("%+v, %+v", c.Run, x)
	}
}

func TestWrongLinesAreNamed(t *testing.T) {
	for text, says := range map[string]string{
		`{"server"`: "x.jsonl:1: not a line of a cassette",
		`[]`:        "expected an object",
		"\n" + `{"arguments":{},"server":"a","tool":"b","reply":{},"repy":1}`:              `x.jsonl:2: unknown key "repy"; expected "arguments"`,
		`{"arguments":[],"server":"a","tool":"b","reply":{}}`:                              `"arguments" has to be an object`,
		`{"arguments":{},"tool":"b","reply":{}}`:                                           `"server" has to be a string`,
		`{"arguments":{},"server":"a","tool":7,"reply":{}}`:                                `"tool" has to be a string`,
		`{"arguments":{},"server":"a","tool":"b"}`:                                         `expected either "reply" or "failure"`,
		`{"arguments":{},"server":"a","tool":"b","reply":{},"failure":"timeout"}`:          `expected either "reply" or "failure"`,
		`{"arguments":{},"server":"a","tool":"b","reply":"hi"}`:                            `"reply" has to be an object`,
		`{"arguments":{},"server":"a","tool":"b","failure":"timeot"}`:                      `did you mean "timeout"?`,
		`{"arguments":{},"server":"a","tool":"b","failure":"503","retryAfterMs":-1}`:       `"retryAfterMs" has to be`,
		`{"arguments":{},"server":"a","tool":"b","failure":"503","retryAfterMs":"1"}`:      `"retryAfterMs" has to be`,
		`{"arguments":{},"run":""}`:                                                        `"run" has to be a string`,
		`{"arguments":{},"run":"a","reply":{}}`:                                            `unknown key "reply"`,
		`{"arguments":{},"run":"a"}` + "\n" + `{"arguments":{},"run":"a"}`:                 `x.jsonl:2: "run" is expected in the first line only`,
		`{"arguments":{},"arguments":{},"server":"a","tool":"b","reply":{}}`:               "not a line of a cassette",
		"{\"arguments\":{},\"server\":\"a\",\"tool\":\"b\",\"reply\":{\"x\":\"\xff\"}}":    "not a line of a cassette",
		`{"arguments":{},"server":"a","tool":"b","reply":{}}{"arguments":{},"server":"a"}`: "not a line of a cassette",
	} {
		if _, err := Parse("x.jsonl", text); err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "x.jsonl:") {
			t.Errorf("%s\n%v, expected %q", text, err, says)
		}
	}
	if _, err := Parse("x.jsonl", strings.Repeat(" ", MaxBytes+1)); err == nil {
		t.Error("a file of any size is read")
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestRecordedCallsAreAnsweredInOrder(t *testing.T) {
	var r Recorder
	for _, c := range []struct {
		tool, args string
		next       func(context.Context) (value.Value, error)
	}{
		{"list", `{"path":"/a"}`, replying(t, `{"content":[1]}`)},
		{"list", `{"path":"/b"}`, replying(t, `{"content":[2]}`)},
		{"list", `{"path":"/a"}`, replying(t, `{"content":[3]}`)},
		{"list", `{"path":"/c"}`, failing(failure(t, &upstream.Failure{Message: "not there"}))},
		{"list", `{"path":"/d"}`, failing(errors.New("not of a server"))},
		{"none", `null`, replying(t, `{}`)},
	} {
		want, wantErr := c.next(t.Context())
		got, err := r.Intercept(t.Context(), call(t, c.tool, c.args), c.next)
		if !value.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("the recorder changed %s, %v", got.JSON(), err)
		}
	}
	recorded, err := r.Exchanges(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cassette{Path: filepath.Join(t.TempDir(), "x.jsonl")}
	c.Replace("one", recorded)
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	if c, err = Read(c.Path); err != nil || len(c.Exchanges) != 5 {
		t.Fatalf("%v, %s", err, c.Text())
	}
	p := c.Play("one", nil, nil)
	ask := func(tool, args string) (value.Value, error) {
		return p.Intercept(t.Context(), call(t, tool, args), nil)
	}
	for _, q := range [][3]string{
		{"list", `{"path":"/a"}`, `{"content":[1]}`}, {"list", `{"path":"/a"}`, `{"content":[3]}`},
		{"list", `{"path":"/b"}`, `{"content":[2]}`}, {"none", `{}`, `{}`},
	} {
		if v, err := ask(q[0], q[1]); err != nil || v.JSON() != q[2] {
			t.Errorf("%v: %s, %v", q, v.JSON(), err)
		}
	}
	if unused := p.Unused(); len(unused) != 1 || unused[0].Arguments.Get("path").Str() != "/c" || p.Stale() != nil {
		t.Errorf("unused: %v; %v", unused, p.Stale())
	}
	var f *upstream.Failure
	if _, err := ask("list", `{"path":"/c"}`); !errors.As(err, &f) || f.Message != "not there" {
		t.Error(err)
	}
	var stale *StaleError
	if _, err := ask("list", `{"path":"/a"}`); !errors.As(err, &stale) || !stale.Used || !strings.Contains(err.Error(), "more often than when it was recorded") {
		t.Error(err)
	}
	if p.Stale() != stale || stale.FailureName() != graph.FailInternal || !(&graph.Failure{Name: stale.FailureName()}).Reserved() {
		t.Errorf("%v", p.Stale())
	}
}

func TestStaleCassetteNamesTheNearest(t *testing.T) {
	c, err := Parse("x.jsonl", `{"arguments":{"path":"/a","depth":1},"reply":{},"server":"files","test":"one","tool":"list"}
{"arguments":{"path":"/b","depth":2},"reply":{},"server":"files","test":"one","tool":"list"}
{"arguments":{"path":"/b"},"reply":{},"server":"files","test":"one","tool":"read"}
{"arguments":{"path":"/x"},"reply":{},"server":"files","test":"two","tool":"list"}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		test, tool, args string
		line             int
	}{
		{"one", "list", `{"path":"/a","depth":2}`, 1},
		{"one", "list", `{"path":"/b","depth":9}`, 2},
		{"one", "read", `{}`, 3},
		{"one", "write", `{"path":"/b"}`, 2},
		{"one", "list", `{"path":"/x"}`, 1},
		{"two", "list", `{"path":"/y"}`, 4},
		{"three", "list", `{"path":"/x"}`, 0},
	} {
		_, err := c.Play(q.test, nil, nil).Intercept(t.Context(), call(t, q.tool, q.args), nil)
		var stale *StaleError
		if !errors.As(err, &stale) || (stale.Nearest == nil) != (q.line == 0) || stale.Nearest != nil && stale.Nearest.Line != q.line {
			t.Errorf("%v: %v", q, err)
		}
		if !strings.Contains(err.Error(), "the cassette x.jsonl is stale: ") || !strings.Contains(err.Error(), q.args) || !strings.Contains(err.Error(), "--record") {
			t.Errorf("%v", err)
		}
	}
}

func TestSecretsAreReplaced(t *testing.T) {
	secrets := upstream.Redactor([]string{"hunter2", "files"})
	hide := func(info *callinfo.Info, text string) string {
		return strings.ReplaceAll(secrets(text), info.Header.Get("X-Key")+"!", Placeholder)
	}
	paths, err := NewPaths([]string{"arguments.auth.code", "reply.content[type='text'].text", "**.stamp", "reply.`the id`", "arguments.none.there"})
	if err != nil {
		t.Fatal(err)
	}
	const args = `{"q":"is hunter2 it?","auth":{"code":4711,"kind":"totp"},"none":1,"key":"k9!"}`
	var r Recorder
	x := call(t, "list", args)
	x.Info = &callinfo.Info{Header: map[string][]string{"X-Key": {"k9"}}}
	reply := replying(t, `{"z":[1,{"stamp":"12:00","a":1}],"the id":{"x":1},"content":[{"type":"text","text":"now"},{"type":"image","text":"kept"}],"hunter2":12345678901234567890}`)
	if _, err := r.Intercept(t.Context(), x, reply); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Intercept(t.Context(), x, failing(failure(t, &upstream.Failure{Message: "no hunter2"}))); err != nil && strings.Contains(err.Error(), "redacted") {
		t.Error(err) // the graph sees what came
	}
	recorded, err := r.Exchanges(t.Context(), paths, hide)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cassette{Exchanges: recorded}
	const clean = `{"arguments":{"q":"is [redacted] it?","auth":{"code":"[redacted]","kind":"totp"},"none":1,"key":"[redacted]"},`
	want := clean + `"reply":{"z":[1,{"stamp":"[redacted]","a":1}],"the id":"[redacted]","content":[{"type":"text","text":"[redacted]"},{"type":"image","text":"kept"}],"[redacted]":12345678901234567890},"server":"files","tool":"list"}
` + clean + `"failure":"closed","message":"no [redacted]","server":"files","tool":"list"}
`
	if got := string(c.Text()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if c, err = Parse("x.jsonl", string(c.Text())); err != nil {
		t.Fatal(err)
	}
	for i, other := range []string{
		args,
		`{"auth":{"kind":"totp","code":1},"q":"is another it?","none":1,"key":"any"}`, // without the secret at hand
	} {
		if _, err := c.Play("t", paths, hide).Intercept(t.Context(), call(t, "list", other), nil); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	_, err = c.Play("t", paths, hide).Intercept(t.Context(), call(t, "list", `{"q":"was hunter2 it?","auth":{"kind":"totp","code":4711},"none":1,"key":"k"}`), nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "4711") {
		t.Error(err)
	}
}

func TestPlaceholderStandsForAnything(t *testing.T) {
	for _, c := range []struct {
		recorded, v string
		want        bool
	}{
		{`"[redacted]"`, `5`, true}, {`"[redacted]"`, `{"a":1}`, true},
		{`"Bearer [redacted]"`, `"Bearer "`, true}, {`"Bearer [redacted]"`, `"Basic x"`, false},
		{`"a[redacted]b[redacted]c"`, `"a1b2c"`, true}, {`"a[redacted]b[redacted]c"`, `"a12c"`, false},
		{`"a[redacted]b"`, `"ab"`, true}, {`"a[redacted]a"`, `"a"`, false}, {`"x[redacted]"`, `7`, false},
		{`{"a":["[redacted]",1]}`, `{"a":["s",1]}`, true}, {`{"a":["[redacted]",1]}`, `{"a":["s"]}`, false},
		{`{"a":"[redacted]"}`, `{}`, false}, {`{"a":"[redacted]"}`, `{"b":1}`, false},
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1}`, true}, {`{"a":1}`, `{"a":1,"b":2}`, false}, {`[1]`, `{}`, false},
		{`1`, `"1"`, false}, {`null`, `null`, true}, {`""`, `""`, true},
	} {
		if got := same(parsed(t, c.recorded), parsed(t, c.v)); got != c.want {
			t.Errorf("%s for %s: %v", c.v, c.recorded, got)
		}
	}
}

func TestPathsAreChecked(t *testing.T) {
	for path, says := range map[string]string{
		"": "does not end with the name of a field", "a[0]": "does not end with", "a.": "does not end with", "$sum(a)": "does not end with",
		"a[.b": "is not JSONata", "(a.b": "is not JSONata",
	} {
		if err := ParsePath(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", path, err)
		}
	}
	var r Recorder
	_, _ = r.Intercept(t.Context(), call(t, "list", `{}`), replying(t, `{"a":1}`))
	for path, says := range map[string]string{"reply": "replaces all of", "arguments": "replaces all of", "reply.$sum('x').a": "cannot be evaluated"} {
		paths, err := NewPaths([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Exchanges(t.Context(), paths, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if x, err := r.Exchanges(t.Context(), nil, nil); err != nil || len(x) != 1 {
		t.Error(x, err)
	}
}

func TestRecordingIsBounded(t *testing.T) {
	r := Recorder{limit: 1000}
	long := value.FromEntries([]value.Entry{{Key: "text", Value: value.FromString(strings.Repeat("x", 400))}})
	for range 3 {
		if v, err := r.Intercept(t.Context(), call(t, "list", `{}`), func(context.Context) (value.Value, error) { return long, nil }); err != nil || !value.Equal(v, long) {
			t.Fatal(err)
		}
	}
	if _, err := r.Exchanges(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "bound of a cassette") {
		t.Error(err)
	}
	c := &Cassette{Path: filepath.Join(t.TempDir(), "x.jsonl"), Exchanges: []Exchange{{Arguments: long, Reply: long}, {Arguments: long, Reply: long}}}
	if err := c.write(1000); err == nil || !strings.Contains(err.Error(), "a cassette may take") {
		t.Error(err)
	}
	if _, err := os.Stat(c.Path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestTestsAreReplacedInTheirPlace(t *testing.T) {
	c, err := Parse("x.jsonl", recordedText+strings.ReplaceAll(recordedText, `"one"`, `"two"`))
	if err != nil {
		t.Fatal(err)
	}
	names := func() string {
		var all []string
		for _, x := range c.Exchanges {
			all = append(all, x.Test+":"+x.Tool)
		}
		return strings.Join(all, " ")
	}
	fresh := []Exchange{{Server: "s", Tool: "new", Arguments: value.FromEntries(nil), Reply: value.FromEntries(nil)}}
	c.Replace("one", fresh)
	c.Replace("three", append(fresh[:0:0], fresh...))
	if want := "one:new :list two:list two:get :list three:new"; names() != want {
		t.Errorf("%s\nwant %s", names(), want)
	}
	c.Keep(func(test string) bool { return test != "two" })
	if want := "one:new :list :list three:new"; names() != want {
		t.Errorf("%s\nwant %s", names(), want)
	}
}

func TestFilesAreReplacedAsAWhole(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x.jsonl")
	if err := os.WriteFile(path, []byte("before"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link.jsonl")
	if err := os.Symlink("x.jsonl", link); err != nil {
		t.Skip(err)
	}
	c, _ := Parse(link, recordedText)
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	info, err := os.Stat(path)
	if string(text) != recordedText || err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%s, %v, %v", text, info.Mode(), err)
	}
	if files, _ := os.ReadDir(folder); len(files) != 2 {
		t.Errorf("left behind: %v", files)
	}
	c.Path = filepath.Join(folder, "none", "x.jsonl")
	if err := c.Write(); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestCallsAtTheSameTimeAreSorted(t *testing.T) {
	for range 3 {
		var r Recorder
		one := func(tool, args string, reply int, next func()) {
			_, _ = r.Intercept(t.Context(), call(t, tool, args), func(context.Context) (value.Value, error) {
				next()
				return value.FromEntries([]value.Entry{{Key: "n", Value: value.FromInt(int64(reply))}}), nil
			})
		}
		none := func() {}
		one("z", `{}`, 1, none)
		one("c", `{}`, 2, func() {
			one("a", `{"x":2}`, 3, none)
			one("a", `{"x":1}`, 4, none)
			one("a", `{"x":2}`, 5, none)
		})
		one("b", `{}`, 6, none)
		all, err := r.Exchanges(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		order := ""
		for _, x := range all {
			order += x.Reply.Get("n").JSON()
		}
		if order != "143526" {
			t.Errorf("order %s", order)
		}
	}
}
