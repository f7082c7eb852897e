package framing

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/creachadair/jrpc2/channel"
)

func TestFrameGuardPassesSensibleFramesAlone(t *testing.T) {
	frame := func(s string) string { return "content-length:" + strconv.Itoa(len(s)) + "\r\n\r\n" + s }
	long := strings.Repeat("x", 101)
	in := "nonsense\r\n" + frame("one") + "Content-Length: ten\r\n\r\n" + frame(long) + frame("two") +
		strings.Repeat("y", maxHeader+10) + "\n" + "Content-Type: application/json\r\n" + frame("three") + "Content-Length: -1\r\n\r\n" + frame("") + frame("four")
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.DataErrReader(strings.NewReader(in))} {
		var problems []string
		guard := New(r, 100, func(p string) { problems = append(problems, p) })
		c := channel.LSP(guard, writeCloser{io.Discard})
		var got []string
		for {
			text, err := c.Recv()
			if err != nil {
				break
			}
			got = append(got, string(text))
		}
		if s := strings.Join(got, " "); s != "one two three  four" {
			t.Errorf("got %q", s)
		}
		if len(problems) != 5 {
			t.Errorf("%q", problems)
		}
		if guard.err != io.EOF {
			t.Error(guard.err)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 99999999\r\nx\r\n\r\n{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		guard := New(bytes.NewReader(in), 100, func(string) {})
		c := channel.LSP(guard, writeCloser{io.Discard})
		for n := 0; guard.err == nil; n++ {
			text, _ := c.Recv()
			if len(text) > 100 {
				t.Fatalf("a message of %d bytes", len(text))
			}
			if n > len(in) {
				t.Fatal("it does not end")
			}
		}
	})
}

// writeCloser is a Writer whose Close does nothing.
type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }
