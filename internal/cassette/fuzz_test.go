package cassette

import "testing"

// FuzzParse reads any text. What it takes for a cassette is the same after it was
// written and read again.
func FuzzParse(f *testing.F) {
	f.Add(recordedText)
	f.Add(`{"arguments":{},"config":"x.yaml","run":"a"}` + "\n" + `{"arguments":{"a":1e400},"failure":"-32001","server":"a","tool":"b"}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("x.jsonl", text)
		if err != nil {
			return
		}
		again, err := Parse("x.jsonl", string(c.Text()))
		if err != nil || string(again.Text()) != string(c.Text()) {
			t.Errorf("%s\n%v", c.Text(), err)
		}
	})
}
