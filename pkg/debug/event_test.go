package debug_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestReadersReadAtTheirOwnPace has readers that begin at once, and one that begins when
// the first events are gone.
func TestReadersReadAtTheirOwnPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": strings.Replace(mapped, "maxConcurrency: 1", "maxConcurrency: 8", 1)}), &upstream{})
		list := make([]int, 2500) // of which each has four events
		s := start(t, e, "t", map[string]any{"list": list}, debug.Options{StartPaused: true})
		pausedAt(t, s, "start entry")
		var readers sync.WaitGroup
		for range 5 {
			readers.Go(func() {
				last := 0
				for ev := range s.Events(t.Context(), 0) {
					if ev.Type == debug.Gap { // it was too slow
						last = ev.Number
						continue
					}
					if ev.Number != last+1 {
						t.Errorf("event %d follows %d", ev.Number, last)
					}
					last = ev.Number
				}
				if last != s.State().Last {
					t.Errorf("a reader ends at %d", last)
				}
			})
		}
		must(t, s.Resume())
		result(t, s)
		readers.Wait()
		end := s.State().Last
		if end <= debug.MaxEvents {
			t.Fatalf("only %d events", end)
		}
		got := slices.Collect(s.Events(t.Context(), 0))
		if got[0].Type != debug.Gap || got[0].Number != end-debug.MaxEvents || len(got) != debug.MaxEvents+1 {
			t.Errorf("%d events, the first is %+v", len(got), got[0])
		}
		if last := got[len(got)-1]; last.Type != debug.Ended || last.Status != debug.StatusDone || last.Number != end {
			t.Errorf("the last is %+v", last)
		}
		if _, err := s.Next(t.Context(), end); err != io.EOF {
			t.Errorf("behind the end: %v", err)
		}
		if _, err := s.Next(t.Context(), end+100); err != io.EOF {
			t.Errorf("far behind the end: %v", err)
		}
	})
}

func TestReadersThatLeave(t *testing.T) {
	e := load(t, tools(map[string]string{"t": straight}), &upstream{})
	s := start(t, e, "t", map[string]any{"n": 1}, debug.Options{StartPaused: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	for after := 0; ; {
		list, err := s.Next(ctx, after)
		if err != nil {
			if !errors.Is(err, gone) {
				t.Errorf("the error is %v", err)
			}
			break
		}
		after = list[len(list)-1].Number
	}
	must(t, s.Resume())
	for range s.Events(t.Context(), 0) {
		break
	}
}

// TestLongTextsAreCut has messages that are too long, and too many of them.
func TestLongTextsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": mapped}), &upstream{})
		list := make([]string, 3000)
		for i := range list {
			list[i] = "1"
		}
		s := start(t, e, "t", map[string]any{"list": list}, debug.Options{Breakpoints: []debug.Breakpoint{{Node: "more", Log: "{$pad('', 9000, 'é')}"}}, Pins: map[string]value.Value{"twice": parse(t, `{"n": 1}`)}})
		result(t, s)
		bytes, logs := 0, 0
		for e := range s.Events(t.Context(), 0) {
			bytes += len(e.Text)
			if e.Type == debug.Log {
				logs++
				if len(e.Text) > 5000 || !strings.HasSuffix(e.Text, "é…") {
					t.Fatalf("a text has %d bytes and ends with %q", len(e.Text), e.Text[len(e.Text)-8:])
				}
			}
		}
		if bytes > 8<<20 || logs < 100 {
			t.Errorf("%d texts of %d bytes are kept", logs, bytes)
		}
	})
}

// reporting reports progress and a log message during each call.
type reporting struct{ upstream }

func (u *reporting) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	for method, params := range map[string]string{
		callinfo.MethodProgress: `{"progress": 1, "total": 4, "message": "a quarter"}`,
		callinfo.MethodMessage:  `{"level": "warning", "data": {"why": "slow"}}`,
	} {
		v, _ := value.Parse(params)
		info.Listener.Notify(callinfo.Notification{Server: server, Tool: tool, Method: method, Params: v})
	}
	return u.upstream.CallTool(ctx, info, server, tool, args)
}

func TestReportsOfServersAreEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := mcpgraph.LoadBytes("tools.yaml", []byte(tools(map[string]string{"t": strings.Replace(straight, `{expr: "$.one.n + 1"}`, `{expr: "$.one.n"}`, 1)})), mcpgraph.WithCaller(&reporting{}))
		must(t, err)
		defer e.Close()
		var heard []string
		info := &callinfo.Info{Listener: &callinfo.Listener{Notify: func(n callinfo.Notification) { heard = append(heard, n.Method) }}}
		s, err := e.Debug(t.Context(), "t", map[string]any{"n": 1}, mcpgraph.WithCallInfo(info))
		must(t, err)
		result(t, s)
		var got []string
		for e := range s.Events(t.Context(), 0) {
			switch e.Type {
			case debug.Progress:
				got = append(got, fmt.Sprintf("%s.%s %v of %v: %s", e.Server, e.Tool, e.Progress, e.Total, e.Text))
			case debug.Log:
				got = append(got, fmt.Sprintf("%s.%s %s: %s", e.Server, e.Tool, e.Level, e.Text))
			}
		}
		slices.Sort(got)
		if want := []string{"up.echo 1 of 4: a quarter", `up.echo warning: {"why":"slow"}`}; !slices.Equal(got, want) {
			t.Errorf("events %q", got)
		}
		if !slices.Equal(heard, []string{callinfo.MethodProgress}) { // it asked for no log messages
			t.Errorf("the listener of the call heard %v", heard)
		}
	})
}

// TestMessagesOfExpressions are those of the operator log of rules.
func TestMessagesOfExpressions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": `
- {id: entry, type: entry, next: way}
- {id: way, type: switch, conditions: [{rule: {log: {var: $.entry.n}}, next: exit}], next: exit}
- {id: exit, type: exit}
`}), &upstream{})
		s := start(t, e, "t", map[string]any{"n": "hello"}, debug.Options{})
		result(t, s)
		for e := range s.Events(t.Context(), 0) {
			if e.Type == debug.Log {
				if e.Node != "way" || e.Text != `"hello"` || e.Level != "info" {
					t.Errorf("the event is %+v", e)
				}
				return
			}
		}
		t.Error("no event")
	})
}

const asking = `
- {id: entry, type: entry, next: sure}
- {id: sure, type: ask, message: Sure?, timeoutMs: 60000, schema: {type: object, properties: {why: {type: string}}}, next: exit}
- {id: exit, type: exit}
`

func answer(action, why string) value.Value {
	return mcpgraph.Answer(action, value.FromEntries([]value.Entry{{Key: "why", Value: value.FromString(why)}}))
}

func TestQuestionsAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": asking}), &upstream{})
		s := start(t, e, "t", nil, debug.Options{})
		synctest.Wait()
		st := s.State()
		if st.Status != debug.StatusWaiting || len(st.Questions) != 1 || !slices.Contains(st.Can, debug.CanAnswer) || st.Questions[0].Value.Get("message").Str() != "Sure?" {
			t.Fatalf("the state is %+v", st)
		}
		id := st.Questions[0].ID
		must(t, s.Pause()) // it only waits, so that is at once
		pausedAt(t, s, "pause sure")
		for want, err := range map[string]error{
			`the run does not ask "x"; it asks "` + id + `"`:   s.Answer("x", answer("accept", "")),
			`has no action of "accept", "decline" or "cancel"`: s.Answer(id, value.NullValue),
			`why: expected a string, found the number 5`:       s.Answer(id, mcpgraph.Answer("accept", value.FromEntries([]value.Entry{{Key: "why", Value: value.FromInt(5)}}))),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		must(t, s.Answer(id, answer("accept", "because")))
		synctest.Wait()
		if st := s.State(); st.Status != debug.StatusPaused || len(st.Questions) != 0 {
			t.Errorf("after the answer it is %s with %v", st.Status, st.Questions)
		}
		must(t, s.Resume())
		if got := result(t, s); got != `{"why":"because"}` {
			t.Errorf("the result is %s", got)
		}
		if err := s.Answer(id, answer("accept", "")); err == nil || !strings.Contains(err.Error(), "it asks nothing now") {
			t.Errorf("at the end: %v", err)
		}
		if list := events(t, s); !slices.Contains(list, "ask sure") || !slices.Contains(list, "answered sure") {
			t.Errorf("events %v", list)
		}
	})
}

// TestQuestionsAreAlsoAskedElsewhere asks a function beside the session; the first answer
// counts.
func TestQuestionsAreAlsoAskedElsewhere(t *testing.T) {
	for _, elsewhere := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			e := load(t, tools(map[string]string{"t": asking}), &upstream{})
			s, err := e.Debug(t.Context(), "t", nil, mcpgraph.WithAsk(func(ctx context.Context, q executor.Question) (value.Value, error) {
				if elsewhere {
					return answer("accept", "elsewhere"), nil
				}
				<-ctx.Done()
				return value.Undef, ctx.Err()
			}))
			must(t, err)
			want := `{"why":"elsewhere"}`
			if !elsewhere {
				synctest.Wait()
				must(t, s.Answer(s.Questions()[0].ID, answer("accept", "here")))
				want = `{"why":"here"}`
			}
			if got := result(t, s); got != want {
				t.Errorf("the result is %s, want %s", got, want)
			}
		})
	}
}
