package redact

import (
	"fmt"
	"testing"
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
	if len(r.learned) != maxLearned {
		t.Errorf("%d secrets are learned, want %d", len(r.learned), maxLearned)
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
