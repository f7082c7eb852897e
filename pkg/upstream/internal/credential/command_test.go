package credential

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestParseToken(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for out, want := range map[string]Token{
		"abc\n":            {Value: "abc"},
		" a.b-c_d~+/== ":   {Value: "a.b-c_d~+/=="},
		`{"token": "abc"}`: {Value: "abc"},
		`{"token": "abc", "expiresAt": null, "more": 1}`:            {Value: "abc"},
		`{"token": "abc", "expiresAt": "2030-01-02T03:04:05Z"}`:     {Value: "abc", ExpiresAt: at},
		fmt.Sprintf(`{"token": "abc", "expiresAt": %d}`, at.Unix()): {Value: "abc", ExpiresAt: at},
	} {
		got, err := parseToken([]byte(out))
		if err != nil || got.Value != want.Value || !got.ExpiresAt.Equal(want.ExpiresAt) {
			t.Errorf("%s: got %+v, %v", out, got, err)
		}
	}
	for out, says := range map[string]string{
		"":                        "no token",
		"\n":                      "no token",
		`{"expiresAt": 1}`:        "no token",
		`{"token": `:              "an object that is not",
		"top-secret\nmore":        "several lines",
		"top secret":              "blanks",
		"top-secret\x1b[0m":       "cannot be a token",
		`{"token": "top secret"}`: "blanks",
		`{"token": "top-secret", "expiresAt": "soon"}`: "expiresAt",
	} {
		_, err := parseToken([]byte(out))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want an error that says %q and nothing of the token", out, err, says)
		}
	}
}
