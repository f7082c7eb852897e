package server_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestURITemplates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ template, uri, want string }{
		{"report://{day}", "report://2026-01-01", `{"day":"2026-01-01"}`},
		{"report://{day}", "report://", `{"day":""}`},
		{"report://{day}", "report://a/b", ""},
		{"report://{day}", "report://a%2Fb", `{"day":"a/b"}`},
		{"report://{day}", "report://%2e%2e%2F%2E%2E", `{"day":"../.."}`},
		{"report://{+day}", "report://../../etc/passwd", `{"day":"../../etc/passwd"}`},
		{"report://{day}", "report://%", ""},
		{"report://{day}", "report://%2", ""},
		{"report://{day}", "report://%zz", ""},
		{"report://{day}", "report://%00", "{\"day\":\"\\u0000\"}"},
		{"report://{day}", "report://%ff", ""}, // no UTF-8
		{"report://{day}", "report://%C3%A9", `{"day":"é"}`},
		{"report://{day}", "report://é", ""}, // must be encoded
		{"report://{day}", "REPORT://x", ""},
		{"report://{day}", " report://x", ""},
		{"report://{day}", "report://x\n", ""},
		{"report://{day}", "", ""},
		{"file:///{dir}/{name}.txt", "file:///a/b.txt", `{"dir":"a","name":"b"}`},
		{"file:///{dir}/{name}.txt", "file:///a/b.md", ""},
		{"search://{?q,page}", "search://?q=a&page=2", `{"q":"a","page":"2"}`},
		{"search://{?q,page}", "search://?q=a%26page%3D7", `{"q":"a&page=7"}`},
		{"search://{?q,page}", "search://?page=2", `{"page":"2"}`},
		{"search://{?q,page}", "search://", `{}`},
		{"search://{?q,page}", "search://?q=a&more=2", ""},
		{"search://{?q,page}", "search://?q=a&q=b", ""},
		{"search://{?q}", "search://?q=a=b", `{"q":"a=b"}`},
		{"search://{?q*}", "search://?q=a&q=b", `{"q":["a","b"]}`},
		{"search://x{&q}", "search://x&q=", `{"q":""}`},
		{"search://x{;q,r}", "search://x;q;r=1", `{"q":"","r":"1"}`},
		{"a://b{/path*}", "a://b/c/d", `{"path":["c","d"]}`},
		{"a://b{/path*,name}", "a://b/c/d/e", `{"path":["c","d"],"name":"e"}`},
		{"a://b{/x,y}", "a://b/c", `{"x":"c"}`},
		{"a://b{/x,y}", "a://b/c/d/e", ""},
		{"a://{x,y}", "a://1,2", `{"x":"1","y":"2"}`},
		{"a://{x}", "a://1,2", `{"x":"1,2"}`},
		{"a://{+x,y}", "a://1,2,3", `{"x":"1","y":"2,3"}`},
		{"a://{x}/{x}", "a://1/1", `{"x":"1"}`},
		{"a://{x}/{x}", "a://1/2", ""},
		{"a://{x:2}{#y}", "a://ab#c/d", `{"x":"ab","y":"c/d"}`},
		{"a://{x:3}", "a://abc", `{"x":"abc"}`},
		{"a://{x:3}", "a://ab", `{"x":"ab"}`},
		{"a://{x:3}", "a://abcd", ""},
		{"a://{x:2}", "a://%C3%A9%F0%9F%8C%8D", `{"x":"é🌍"}`},
		{"a://{x:2}", "a://%C3%A9%C3%A9%C3%A9", ""},
		{"a://{x:2}", "a://%ff%ff", ""},
		{"a://{x:2}{y}", "a://abcd", `{"x":"ab","y":"cd"}`},
		{"a://{x:2,y:1}", "a://ab,c", `{"x":"ab","y":"c"}`},
		{"a://{x:2,y:1}", "a://ab,cd", ""},
		{"a://b{?x:2}", "a://b?x=ab", `{"x":"ab"}`},
		{"a://b{?x:2}", "a://b?x=abc", ""},
		{"a://{x:900}", "a://" + strings.Repeat("x", 901), ""},
		{"a://b{/x:1,x}", "a://b/v/value", `{"x":"value"}`}, // RFC 6570, 3.2.6
		{"a://b{/x:1,x}", "a://b/w/value", ""},
		{"a://{x}/{x:2}", "a://abc/ab", `{"x":"abc"}`},
		{"a://{x:1}/{x:2}", "a://a/ab", `{"x":"ab"}`},
		{"a://{x:1}/{x:2}", "a://b/ab", ""},
		{"a://b{.ext}", "a://b.txt", `{"ext":"txt"}`},
	} {
		v, ok, err := server.MatchTemplate(test.template, test.uri)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if ok {
			got = v.JSON()
		}
		if got != test.want {
			t.Errorf("%s in %s: %q, want %q", test.uri, test.template, got, test.want)
		}
	}
	for _, wrong := range []string{"a://{", "a://}", "a://{}", "a://{a b}", "a://{=a}"} {
		if _, err := server.New(named(server.Options{Resources: []server.Resource{{URI: wrong, Template: true, Name: "x"}}})); err == nil {
			t.Errorf("%s is a template", wrong)
		}
	}
}

// The time to match is bounded, whatever somebody sends.
func TestHostileURIs(t *testing.T) {
	t.Parallel()
	hostile := map[string]string{
		"a://{a}{b}{c}{d}{e}{f}!":             "a://" + strings.Repeat("x", 8000),
		"a://{+a}{+b}{+c}{+d}!x":              "a://" + strings.Repeat("!", 8000),
		"a://{a,b,c,d,e,f,g,h,i,j}":           "a://" + strings.Repeat(",", 8000),
		"a://{/a*}{/b*}{/c*}/{d}/{e}":         "a://" + strings.Repeat("/", 8000),
		"a://{?a*,b*,c*}":                     "a://?" + strings.Repeat("a=1&", 2000),
		"a://{a}":                             "a://" + strings.Repeat("%41", 2600),
		"a://{a}/":                            "a://" + strings.Repeat("x", 10<<20),
		"a://{a}" + strings.Repeat("{b}", 20): "a://" + strings.Repeat("%C3%A9", 1300) + "%",
	}
	for template, uri := range hostile {
		began := time.Now()
		_, ok, err := server.MatchTemplate(template, uri)
		if took := time.Since(began); err != nil || took > time.Second {
			t.Errorf("%s: %v after %v", template, err, took)
		}
		if ok && len(uri) > 8<<10 {
			t.Errorf("%s takes a URI of %d bytes", template, len(uri))
		}
	}
}

func FuzzMatchTemplate(f *testing.F) {
	f.Add("a://{b}", "a://c")
	f.Add("a://{+b}{/c*}{?d,e}", "a://%41/x/y?d=1&e=%20")
	f.Add("{a:3}{#b}", "abc#d")
	f.Fuzz(func(t *testing.T, template, uri string) {
		if len(template) > 200 || len(uri) > 1000 {
			return
		}
		v, ok, err := server.MatchTemplate(template, uri)
		if err != nil || !ok {
			return
		}
		if v.Kind() != value.Object {
			t.Fatalf("%s in %s gives %s", uri, template, v.JSON())
		}
		for _, e := range v.Entries() {
			for _, one := range append(e.Value.Elems(), e.Value) {
				if one.Kind() == value.String && !utf8.ValidString(one.Str()) {
					t.Fatalf("%q is no UTF-8", one.Str())
				}
			}
		}
	})
}
