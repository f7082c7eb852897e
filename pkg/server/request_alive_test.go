package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// listening keeps the progress that a client gets.
type listening struct {
	nobody
	got []string
	at  []float64
}

func (l *listening) notify(_ string, params value.Value) {
	l.got = append(l.got, params.Get("message").Str())
	l.at = append(l.at, params.Get("progress").Float())
}

func reporterFor(t *testing.T, transport string) (*Reporter, *listening) {
	l := &listening{}
	meta, err := value.Parse(`{"progressToken":7}`)
	if err != nil {
		t.Fatal(err)
	}
	r := &Request{Transport: transport, session: newSession(""), peer: l}
	r.Meta = meta
	return newReporter(t.Context(), r), l
}

// A call with a progress token is never silent for longer than clients wait.
func TestCallsGiveSignsOfLife(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{Pipe, TCP} {
		synctest.Test(t, func(t *testing.T) {
			r, l := reporterFor(t, transport)
			time.Sleep(20 * time.Second)
			r.Step(3, "one")
			r.Doing(func() string { return "waiting" })
			time.Sleep(50 * time.Second)
			r.Progress("source", 1, 2, "half")
			time.Sleep(20 * time.Second)
			r.Step(2, "two")
			time.Sleep(time.Second)
			r.end()
			r.Step(1, "late")
			time.Sleep(time.Hour)
			const want = "still at work, one, waiting, waiting, waiting, half, waiting, two"
			if got := strings.Join(l.got, ", "); got != want {
				t.Errorf("over %v: got  %s\nwant %s", transport, got, want)
			}
			for i := 1; i < len(l.at); i++ {
				if l.at[i] <= l.at[i-1] {
					t.Errorf("progress goes back: %v", l.at)
				}
			}
			if l.at[1] != 1 || l.at[len(l.at)-1] != 2 {
				t.Errorf("steps are no whole numbers: %v", l.at)
			}
		})
	}
}

// Over pipes no progress comes with the answer: some clients would take it for that of a
// call that they do not know.
func TestNoProgressComesWithTheAnswer(t *testing.T) {
	t.Parallel()
	for transport, want := range map[string]string{Pipe: "[0 1 2 3 4 5 6]", TCP: "[0 1 2 3 4 5 6 7 8 9 10 11]"} {
		synctest.Test(t, func(t *testing.T) {
			r, l := reporterFor(t, transport)
			for i := range 12 {
				r.Step(11-i, fmt.Sprint(i))
				time.Sleep(19 * time.Millisecond)
			}
			r.end()
			time.Sleep(time.Hour)
			if got := fmt.Sprint(l.got); got != want {
				t.Errorf("over %v: got %s, want %s", transport, got, want)
			}
		})
	}
}

// However long and many the messages are, few of them are held.
func TestHeldProgressIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, l := reporterFor(t, Pipe)
		for range 100 {
			r.Step(1, strings.Repeat("x", maxHeldBytes/10))
		}
		if len(l.got) < 90 || r.bytes > maxHeldBytes {
			t.Errorf("%d of 100 were sent, %d bytes are held", len(l.got), r.bytes)
		}
		r.Step(0, strings.Repeat("x", 2*maxHeldBytes))
		if len(l.got) != 101 || r.bytes != 0 || len(r.held) != 0 {
			t.Errorf("%d of 101 were sent, %d bytes are held", len(l.got), r.bytes)
		}
		r.end()
	})
}
