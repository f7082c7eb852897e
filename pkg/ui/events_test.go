package ui

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// numbers returns the numbers of events.
func numbers(list []kept) string {
	var all []string
	for _, k := range list {
		all = append(all, strconv.FormatInt(k.n, 10))
	}
	return strings.Join(all, " ")
}

func TestEventsResume(t *testing.T) {
	t.Parallel()
	s := newEvents()
	for _, run := range []string{"a", "b", "a"} {
		s.add(event{Type: "record", Run: run})
	}
	s.add(event{Type: "servers"})
	a := &reader{runs: map[string]bool{"a": true}}
	for _, c := range []struct {
		after int64
		want  string
		gap   bool
	}{{0, "1 3 4", false}, {1, "3 4", false}, {3, "4", false}, {4, "", false}, {5, "1 3 4", true}} {
		if list, last, gap := s.since(a, c.after); numbers(list) != c.want || last != 4 || gap != c.gap {
			t.Errorf("after %d: %s, %d, %v; want %s, 4, %v", c.after, numbers(list), last, gap, c.want, c.gap)
		}
	}
	s.skip()
	if list, last, gap := s.since(a, 4); list != nil || last != 5 || !gap {
		t.Errorf("after what was not noted: %s, %d, %v", numbers(list), last, gap)
	}
}

func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	s := newEvents()
	all := &reader{}
	for range maxEvents + 10 {
		s.add(event{Type: "servers"})
	}
	if list, _, gap := s.since(all, 0); len(list) != maxEvents || !gap {
		t.Errorf("%d events are held, %v", len(list), gap)
	}
	if list, _, gap := s.since(all, 10); len(list) != maxEvents || gap {
		t.Errorf("%d events are held after the last that is lost, %v", len(list), gap)
	}
	for range 40 {
		s.add(event{Type: "log", Text: strings.Repeat("x", 1<<20)})
	}
	if s.bytes > maxEventBytes || len(s.held) == 0 {
		t.Errorf("%d bytes of %d events are held", s.bytes, len(s.held))
	}
	for i := range maxStreams + 1 {
		var refused *apiError
		if err := s.join(&reader{}); errors.As(err, &refused) != (i == maxStreams) {
			t.Errorf("stream %d: %v", i, err)
		}
	}
}

// stream opens a stream on virtual time.
func stream(t *testing.T, query string) (*Page, *bufio.Reader, func()) {
	t.Helper()
	page := New(Options{Path: "none.yaml", Log: slog.New(slog.DiscardHandler)})
	l := newPipes()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- page.Serve(ctx, l) }()
	c := l.dial()
	if _, err := io.WriteString(c, "GET /api/events"+query+" HTTP/1.1\r\nHost: 127.0.0.1:7000\r\nAuthorization: Bearer "+page.token+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return page, bufio.NewReader(answer.Body), func() {
		c.Close()
		page.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	for {
		text, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
}

func TestStreamIsBatchedAndKeptOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page, r, end := stream(t, "?runs=a")
		defer end()
		if got := line(t, r); got != ": open" {
			t.Fatal(got)
		}
		began := time.Now()
		synctest.Wait()
		page.events.add(event{Type: "log", Run: "a", Text: "one"})
		page.events.add(event{Type: "log", Run: "b", Text: "of another run"})
		if got := line(t, r); got != "id: 2" || time.Since(began) != 0 {
			t.Errorf("%s after %v", got, time.Since(began))
		}
		if got := line(t, r); !strings.Contains(got, `"text":"one"`) {
			t.Error(got)
		}
		synctest.Wait()
		for _, text := range []string{"two", "three"} {
			page.events.add(event{Type: "log", Run: "a", Text: text})
		}
		if got := line(t, r); got != "id: 4" || time.Since(began) != batchTime {
			t.Errorf("%s after %v", got, time.Since(began))
		}
		for _, want := range []string{"two", "id: 5", "three"} {
			if got := line(t, r); !strings.Contains(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		for i := 1; i < 3; i++ {
			if got := line(t, r); got != ":" || time.Since(began) != time.Duration(i)*commentTime {
				t.Errorf("%s after %v", got, time.Since(began))
			}
		}
	})
}

func TestSlowReaderIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page, r, end := stream(t, "")
		defer end()
		line(t, r)
		began := time.Now()
		for range 100 { // the reader takes nothing, and nobody waits for it
			page.events.add(event{Type: "log", Text: strings.Repeat("x", 1<<16)})
		}
		if time.Since(began) != 0 {
			t.Error("adding events took time")
		}
		time.Sleep(writeTime + time.Second)
		synctest.Wait()
		page.events.mu.Lock()
		readers := len(page.events.readers)
		page.events.mu.Unlock()
		if readers != 0 {
			t.Error("the reader is still there")
		}
	})
}

// TestLiveRunIsWatched attaches to a run of somebody else while it is under way.
func TestLiveRunIsWatched(t *testing.T) {
	s := serve(t, strings.ReplaceAll(tools, "tool: fail,", "tool: hold,"), nil)
	events := s.follow("")
	over := make(chan error, 1)
	go func() {
		_, err := s.engine.Load().Call(t.Context(), "fails", nil)
		over <- err
	}()
	id := until(t, events, func(e value.Value) bool { return e.Get("run").Get("state").Str() == "running" }).Get("run").Get("id").Str()
	told := s.follow("?after=0&runs=" + id)
	until(t, told, func(e value.Value) bool {
		return e.Get("type").Str() == "record" && e.Get("record").Get("key").Str() == "fails#entry"
	})
	until(t, told, func(e value.Value) bool {
		return e.Get("type").Str() == "task" && e.Get("active").Get("key").Str() == "fails#stop"
	})
	v := s.get("/api/runs/" + id)
	if a := v.Get("run").Get("active").Elems(); len(a) != 1 || a[0].Get("tool").Str() != "hold" || v.Get("records").Len() != 1 {
		t.Errorf("the run under way is %s", v.JSON())
	}
	if v := s.post("/api/runs/"+id+"/eval", `{"expression":"$keys($)"}`); v.Get("value").JSON() != `"entry"` {
		t.Errorf("its document has %s", v.JSON())
	}
	if status, code := s.code("POST", "/api/sessions/"+id+"/stop", `{}`); status != 404 || code != "not_found" {
		t.Errorf("a run of somebody else can be stopped: %d %s", status, code)
	}
	held <- struct{}{}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	until(t, told, func(e value.Value) bool { return e.Get("record").Get("key").Str() == "fails#exit" })
	inState(t, told, id, "done")
}

// TestRunsOfOthersAreSeen attaches to a run that somebody else called.
func TestRunsOfOthersAreSeen(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	engine := s.engine.Load()
	if _, err := engine.Call(t.Context(), "sizes", map[string]any{"names": []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	begun := until(t, events, func(e value.Value) bool { return e.Get("type").Str() == "run" })
	id := begun.Get("run").Get("id").Str()
	if run := begun.Get("run"); run.Get("state").Str() != "done" || run.Get("session").Bool() || run.Has("args") {
		t.Errorf("the run is told as %s", run.JSON())
	}
	if v := s.get("/api/runs?tool=sizes&state=done"); v.Get("runs").Len() != 1 || v.Get("runs").Elems()[0].Get("id").Str() != id {
		t.Errorf("the runs are %s", v.JSON())
	}
	if v := s.get("/api/runs?tool=fails"); v.Get("runs").Len() != 0 {
		t.Errorf("the runs are %s", v.JSON())
	}
	v := s.get("/api/runs/" + id)
	var keys []string
	for _, rec := range v.Get("records").Elems() {
		keys = append(keys, rec.Get("event").Str()+" "+rec.Get("key").Str())
	}
	const want = "done sizes#entry, opened sizes#each, done sizes#each[].info, done sizes#each[].info, done sizes#each, " +
		"opened sizes#twice, done double#entry, done double#times, done double#exit, done sizes#twice, done sizes#exit"
	if got := strings.Join(keys, ", "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if v := s.get("/api/runs/" + id + "/records?from=9").Get("records"); v.Len() != 2 {
		t.Errorf("the last records are %s", v.JSON())
	}
}

// TestFailuresOfLiveRunsAreRedacted has the log of a run under way, which is as the
// run has it, show a failure that was caught and whose message has a secret.
func TestFailuresOfLiveRunsAreRedacted(t *testing.T) {
	const stop = "      - {id: stop, type: mcp, server: files, tool: fail, args: {}, next: exit}\n"
	s := serve(t, strings.Replace(tools, stop, `      - {id: stop, type: transform, transform: {expr: "$error('no ' & $.entry.key)"}, next: exit, catch: [{next: on}]}
      - {id: on, type: mcp, server: files, tool: hold, args: {}, next: exit}
`, 1), nil)
	events := s.follow("")
	over := make(chan error, 1)
	go func() {
		_, err := s.engine.Load().Call(t.Context(), "fails", map[string]any{"key": secret})
		over <- err
	}()
	id := until(t, events, func(e value.Value) bool { return e.Get("run").Get("state").Str() == "running" }).Get("run").Get("id").Str()
	told := s.follow("?after=0&runs=" + id)
	rec := until(t, told, func(e value.Value) bool { return e.Get("record").Get("key").Str() == "fails#stop" }).Get("record")
	for _, rec := range []value.Value{rec, s.get("/api/runs/" + id).Get("records").Elems()[1]} {
		if text := rec.Get("error").Get("message").Str(); !strings.Contains(text, "no [redacted]") || strings.Contains(rec.JSON(), secret) {
			t.Errorf("the failure is %s", rec.JSON())
		}
	}
	held <- struct{}{}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
}
