package cli

import "testing"

func TestQuestionsCannotMoveTheCursorOrTurnText(t *testing.T) {
	for text, want := range map[string]string{
		"Delete \x1b[2Ka\r?":                   "Delete  [2Ka ?",
		"Delete \u202egpj.exe\u2066":           "Delete  gpj.exe ",
		"Löschen\t\U0001f469\u200d\U0001f4bb?": "Löschen\t\U0001f469\u200d\U0001f4bb?",
	} {
		if got := visible(text); got != want {
			t.Errorf("%q is shown as %q, expected %q", text, got, want)
		}
	}
}
