package redact

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"
)

func TestRedactorLearnsAndForgets(t *testing.T) {
	r := New([]string{"first-secret"})
	r.Learn("second-secret", "x") // too short to be one
	if got := r.Text("first-secret second-secret x"); got != "[redacted] [redacted] x" {
		t.Errorf("got %q", got)
	}
	child := r.With([]string{"third-secret"})
	r.Learn("fourth-secret")
	if got := child.Text("first-secret second-secret third-secret fourth-secret"); got != "[redacted] [redacted] [redacted] [redacted]" {
		t.Errorf("got %q", got)
	}
	if got := r.Text("third-secret"); got != "third-secret" {
		t.Errorf("got %q", got)
	}
	for n := range 10 * maxLearned {
		r.Learn(fmt.Sprintf("secret-%05d", n))
	}
	if got := r.Text("first-secret"); got != Mark {
		t.Errorf("what was there from the start is forgotten: %q", got)
	}
	if len(r.tokens) != maxLearned {
		t.Errorf("%d secrets are learned, want %d", len(r.tokens), maxLearned)
	}
	r.Learn("token-in-use")
	for n := range 3 * maxLearned {
		r.LearnArguments(fmt.Sprintf("argument-%05d", n))
		if n < maxLearned-1 {
			r.Learn(fmt.Sprintf("token-%05d", n))
		} else {
			r.Learn("token-in-use", fmt.Sprintf("token-%05d", n))
		}
	}
	if got := r.Text("token-in-use argument-00191 argument-00000"); got != Mark+" "+Mark+" argument-00000" {
		t.Errorf("after many arguments and tokens: %q", got)
	}
}

func TestSecretsThatContainOthersAreTakenOutWhole(t *testing.T) {
	own := New([]string{"sk-1234567890", "tok"})
	caller := own.With([]string{"sk-", "tok-of-the-caller"})
	for _, c := range []struct{ text, want string }{
		{"a sk-1234567890 b", "a " + Mark + " b"},
		{"a tok-of-the-caller b", "a " + Mark + " b"},
		{"a later-secret-1 b", "a later-secret-1 b"},
	} {
		if got := caller.Text(c.text); got != c.want {
			t.Errorf("%q became %q", c.text, got)
		}
	}
	own.Learn("later-secret-1")
	if got := caller.Text("a later-secret-1 b"); got != "a "+Mark+" b" {
		t.Errorf("what the server's redactor learnt later stayed: %q", got)
	}
}

// Each part of a URL has an encoding of its own, and errors show an address in whatever form
// they got it.
func TestSecretsAreTakenOutOfURLs(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"tok/en va;lue+1", "a&b=c<d>,e", "ключ-secret", "already%2Fencoded%20token", "100%-secret", `back\slash"quote`, "user@host:pass",
	} {
		r := New([]string{secret})
		decoded, err := url.PathUnescape(secret)
		if err != nil {
			decoded = secret
		}
		u := &url.URL{Scheme: "https", Host: "a.test", Path: "/" + secret + "/mcp", Fragment: secret}
		texts := []string{
			u.String(), u.EscapedPath(), percentSigns.ReplaceAllStringFunc(u.EscapedPath(), strings.ToLower), "https://a.test/" + url.PathEscape(secret), fmt.Sprintf("%q", "/"+secret),
			"https://a.test/?k=" + url.QueryEscape(secret), (&url.URL{Scheme: "https", Host: "a.test", User: url.UserPassword("u", secret)}).String(),
			"the path " + decoded, "https://a.test/" + url.PathEscape(decoded),
		}
		if parsed, err := url.Parse("https://a.test/" + secret + "/mcp"); err == nil {
			texts = append(texts, parsed.String(), parsed.Path, parsed.EscapedPath())
		} else {
			texts = append(texts, err.Error())
		}
		for _, text := range texts {
			if got := r.Text(text); !strings.Contains(got, Mark) || leaks(got, secret) || leaks(got, decoded) {
				t.Errorf("%q leaves %q", secret, got)
			}
		}
	}
}

// leaks reports whether a run of letters of the secret is in the text.
func leaks(text, secret string) bool {
	for word := range strings.FieldsFuncSeq(secret, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(word) > 4 && strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
			return true
		}
	}
	return false
}

// A server may repeat the mark of a cut text: no part of the text is looked at again for it.
func TestMarksThatAServerRepeatsCostNothing(t *testing.T) {
	r := New([]string{"a-secret-of-ours"})
	said := strings.Repeat("x"+CutMark, 1<<20)
	if got := r.Text(said + "a-secret-of" + CutMark); got != said+Mark+CutMark {
		t.Errorf("%d bytes became %d, which end with %q", len(said), len(got), got[len(got)-40:])
	}
}

// Short secrets are words where texts are compared.
func TestWordsAreNoSecrets(t *testing.T) {
	r := New([]string{"read", "long-secret"})
	for text, want := range map[string]string{"read_file": "read_file", "x long-secret": "x " + Mark} {
		if got := r.Word(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
