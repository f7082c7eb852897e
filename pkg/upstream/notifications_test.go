package upstream

import (
	"context"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/virtualtime"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Nothing orders the stream on which a server logs and that of the answer.
func TestLogMessagesAfterTheAnswerReachTheCaller(t *testing.T) {
	w := &mcptest.Web{}
	p := start(t, Options{}, web(t, config.HTTP, w))
	all, errors, nothing := &notificationLog{}, &notificationLog{}, &notificationLog{}
	for _, ctx := range []context.Context{all.listen("info"), errors.listen("error"), nothing.listen("")} {
		if _, err := p.CallTool(ctx, nil, "fake", "echo", value.Undef); err != nil {
			t.Fatal(err)
		}
	}
	for _, level := range []string{"info", "error", "debug", "info"} {
		w.Notify(callinfo.MethodMessage, map[string]any{"level": level, "data": "late"})
	}
	eventually(t, "the log messages", func() bool { return len(all.all()) == 3 })
	if n := all.all()[0]; n.Tool != "echo" || n.Server != "fake" || n.Params.Get("data").Str() != "late" {
		t.Errorf("%+v", n)
	}
	if got := errors.all(); len(got) != 1 || got[0].Params.Get("level").Str() != "error" {
		t.Errorf("asked for errors, heard %v", got)
	}
	if got := nothing.all(); len(got) != 0 {
		t.Errorf("asked for nothing, heard %v", got)
	}
}

// A listener may keep the request alive that it is for.
func TestEndedCallsAreForgotten(t *testing.T) {
	t.Parallel()
	err := virtualtime.Run(func() {
		s := &session{notifications: notifications{listening: make(chan struct{})}}
		late := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.late)
		}
		end := func(n int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			for range n {
				s.requestEnded(&pendingRequest{subscriber: subscriber{&callinfo.Listener{Notify: func(callinfo.Notification) {}, LogLevel: "info"}, "echo", true}})
			}
		}
		wait := func(d time.Duration, want int) {
			time.Sleep(d)
			if n := late(); n != want || len(s.subscribersOf("")) != want {
				t.Errorf("%d calls are waited for, want %d", n, want)
			}
		}
		end(3)
		wait(lateLogTime/2, 3)
		end(2)
		wait(lateLogTime*3/4, 2)
		end(1000)
		wait(lateLogTime/2, maxLateSubscribers)
		wait(lateLogTime, 0)
		end(1)
		wait(lateLogTime/2, 1)
		wait(lateLogTime, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The first message of a session is not said before we listen.
func TestLogMessagesOfTheFirstCall(t *testing.T) {
	t.Parallel()
	for range 20 {
		heard := &notificationLog{}
		p := start(t, Options{}, web(t, config.HTTP, &mcptest.Web{Events: true}))
		args, _ := value.Parse(`{"count":3,"text":"first"}`)
		if _, err := p.CallTool(heard.listen("debug"), nil, "fake", "log", args); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the log messages", func() bool { return len(heard.all()) == 3 })
	}
}

func TestOneListenerOfSeveralCallsHearsALogMessageOnce(t *testing.T) {
	heard, other := &notificationLog{}, &notificationLog{}
	p := start(t, Options{}, child(mcptest.Script{}))
	ctx, cancel := context.WithCancel(heard.listen("info"))
	defer cancel()
	done := make(chan error, 3)
	for _, tool := range []string{"hang", "hang", "echo"} {
		go func() {
			args, _ := value.Parse(`{"ms":60000}`)
			_, err := p.CallTool(ctx, nil, "fake", tool, args)
			done <- err
		}()
	}
	eventually(t, "the calls to arrive", func() bool {
		counts := mustCall(t, p, "calls", `{}`).Get("structuredContent")
		return counts.Get("hang").Float() == 2 && counts.Get("echo").Float() == 1
	})
	args, _ := value.Parse(`{"count":1,"text":"busy"}`)
	if _, err := p.CallTool(other.listen("info"), nil, "fake", "log", args); err != nil {
		t.Fatal(err)
	}
	if got := heard.all(); len(got) != 1 || got[0].Tool != "" {
		t.Errorf("one listener of calls of two tools heard %v", got)
	}
	if got := other.all(); len(got) != 1 || got[0].Tool != "log" {
		t.Errorf("the other heard %v", got)
	}
	cancel()
	for range cap(done) {
		<-done
	}
}
