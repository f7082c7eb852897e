package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// optionsFor returns the options of a link to what the handler serves.
func optionsFor(t *testing.T, h http.HandlerFunc, budget *memory.Budget) HTTPOptions {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return HTTPOptions{
		Client: s.Client(), URL: s.URL, Limit: 1 << 20, Life: t.Context(),
		Credentials: func(context.Context) (http.Header, error) { return nil, nil },
		Log:         &PeerLog{Redact: redact.New(nil), Log: slog.New(slog.DiscardHandler), Budget: budget},
	}
}

// What a stream of events has taken of the memory is given back where it breaks in the
// middle of an event, or does not begin well.
func TestBrokenStreamsOfEventsHoldNoMemory(t *testing.T) {
	t.Parallel()
	half := "data: " + strings.Repeat("x", 300_000) + "\n"
	for name, body := range map[string]string{"half an event": half, "others first": half + "\n" + half + "\n" + half} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			budget := memory.New(memory.MinLimit)
			o := optionsFor(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, body)
			}, budget)
			for range 3 {
				if _, err := OpenSSE(t.Context(), o); err == nil || !strings.Contains(err.Error(), `does not begin with the event "endpoint"`) {
					t.Fatal(err)
				}
			}
			if n := budget.Held(); n != 0 {
				t.Errorf("%d bytes are held", n)
			}
			account := budget.Account("")
			r := &receiver{limit: 1 << 20, account: account, unexpected: func(string) {}}
			_, _ = readEvents(strings.NewReader(half), r, &cursor{}, func() bool { return false }) // the end is no error
			if n := budget.Held(); n != 0 {
				t.Errorf("%d bytes are held for half an event", n)
			}
		})
	}
}

// A server that is gone is not asked in a loop, whatever it asked for before.
func TestListeningToADeadServerWaitsLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var attempts atomic.Int64
		o := HTTPOptions{
			Client: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
				if attempts.Add(1) > 1 {
					return nil, errors.New("there is nobody")
				}
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
					Body: io.NopCloser(strings.NewReader("retry: 10\ndata: {}\n\n")),
				}, nil
			})},
			URL: "http://nowhere.test", Limit: 1000, Life: t.Context(),
			Credentials: func(context.Context) (http.Header, error) { return nil, nil },
			Log:         &PeerLog{Redact: redact.New(nil), Log: slog.New(slog.DiscardHandler)},
		}
		l := OpenHTTP(t.Context(), o)
		l.Listen(t.Context(), "2025-11-25")
		time.Sleep(5 * time.Minute)
		if n := attempts.Load(); n < 10 || n > 20 {
			t.Errorf("asked %d times in 5 minutes", n)
		}
		l.Close(t.Context())
	})
}

// A server whose stream ends at once is not asked in a loop, whatever it asks for.
func TestListeningToEmptyStreamsWaitsLonger(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stream  string
		lasts   time.Duration
		atLeast int64 // requests in 5 minutes
		most    int64
	}{
		{"retry: 0\n\n", 0, 10, 20},
		{"", 0, 10, 20},
		{"retry: 1\nid: 7\ndata:\n\n", 0, 20, 30},
		{"retry: 1\ndata: {}\n\n", 0, 250, 320},
		{"retry: 5000\n\n", 0, 60, 62},                // as it asked
		{"retry: 100\n\n", 2 * time.Second, 140, 150}, // a stream that is cut now and then
	} {
		synctest.Test(t, func(t *testing.T) {
			var attempts atomic.Int64
			l := OpenHTTP(t.Context(), HTTPOptions{
				Client: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
					attempts.Add(1)
					body, w := io.Pipe()
					go func() {
						_, _ = io.WriteString(w, test.stream)
						time.Sleep(test.lasts)
						w.Close()
					}()
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
				})},
				URL: "http://nowhere.test", Limit: 1000, Life: t.Context(),
				Credentials: func(context.Context) (http.Header, error) { return nil, nil },
				Log:         &PeerLog{Redact: redact.New(nil), Log: slog.New(slog.DiscardHandler)},
			})
			l.Listen(t.Context(), "2025-11-25")
			time.Sleep(5 * time.Minute)
			if n := attempts.Load(); n < test.atLeast || n > test.most {
				t.Errorf("%q for %v: asked %d times in 5 minutes, want %d to %d", test.stream, test.lasts, n, test.atLeast, test.most)
			}
			l.Close(t.Context())
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A server cannot make our answers long by the ids of its requests.
func TestRequestsWithLongIDsAreNotAnswered(t *testing.T) {
	t.Parallel()
	var odd []string
	var replies int
	r := &receiver{limit: 1 << 30, unexpected: func(what string) { odd = append(odd, what) }, reply: func([]byte) { replies++ }}
	readAll(t, r, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%q,\"method\":\"ping\"}\n\n", strings.Repeat("x", 100_000)))
	if replies != 0 || len(odd) != 1 || !strings.Contains(odd[0], "an id of 100002 bytes") {
		t.Errorf("%d replies, %q", replies, odd)
	}
	readAll(t, r, "data: {\"jsonrpc\":\"2.0\",\"id\":\"short\",\"method\":\"ping\"}\n\n")
	if replies != 1 {
		t.Errorf("%d replies", replies)
	}
}

func readAll(t *testing.T, r *receiver, events string) {
	t.Helper()
	if _, err := readEvents(strings.NewReader(events), r, &cursor{}, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
}

// A flood of requests does not make as many posts at once.
func TestFloodOfPingsOverHTTPIsBounded(t *testing.T) {
	t.Parallel()
	var posts, most atomic.Int64
	release := make(chan struct{})
	o := optionsFor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			most.Store(max(most.Load(), posts.Add(1)))
			<-release
			posts.Add(-1)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range 5 * maxPostedReplies {
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n")
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, nil)
	l := OpenHTTP(t.Context(), o)
	l.Listen(t.Context(), "2025-11-25")
	for n := 0; n == 0; n, _ = o.Log.Unexpected() {
		time.Sleep(time.Millisecond)
	}
	if n := l.replying.Load(); n > maxPostedReplies {
		t.Errorf("%d answers at once", n)
	}
	close(release)
	l.Close(t.Context())
}

// Requests of ours that wait for a slow server do not count as answers that it does not
// read.
func TestManyRequestsOfOursAreNoUnreadReplies(t *testing.T) {
	t.Parallel()
	in, server := io.Pipe()
	out, ours := io.Pipe() // nobody reads out
	defer out.Close()
	defer server.Close()
	s := newLineConn(in, ours, 1<<20, nil, func(string) {})
	broken := make(chan error, 1)
	s.broken = func(err error) { broken <- err }
	for i := range 2 * maxUnreadReplies {
		if err := s.Notify(t.Context(), &Message{Method: fmt.Sprint("n", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for range maxUnreadReplies {
		s.reply([]byte("{}"))
	}
	select {
	case err := <-broken:
		t.Fatal(err)
	default:
	}
	s.reply([]byte("{}"))
	s.reply([]byte("{}"))
	if err := <-broken; !strings.Contains(err.Error(), "does not read our answers") {
		t.Error(err)
	}
}
