package upstream

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// frameCounter is a wire that notes who calls it.
type frameCounter struct {
	wire.Link
	frames []string // of the latest request for a tool, from the wire outwards
}

func (l *frameCounter) Request(ctx context.Context, m *wire.Message) (json.RawMessage, error) {
	if m.Method == "tools/call" {
		pcs := make([]uintptr, 100)
		all := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
		l.frames = nil
		for {
			f, more := all.Next()
			l.frames = append(l.frames, f.Function)
			if !more || strings.HasSuffix(f.Function, "(*Pool).CallTool") {
				break
			}
		}
	}
	return l.Link.Request(ctx, m)
}

// maxFrames is how deep the stack of a call may be from Pool.CallTool to the wire, both
// included, with all layers on.
const maxFrames = 14

func TestFewFramesFromPoolToWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := mcptest.Script{}
		u := child(script)
		withRetry(3)(u)
		withBreaker(u)
		u.Cache = &config.Cache{TTL: time.Minute, MaxEntries: 10, Tools: []string{"*"}}
		u.RateLimit = &config.RateLimit{Limit: 1000, Period: time.Second}
		u.MaxConcurrency = 2
		p := start(t, Options{Dial: func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) { return script.Dial(ctx) }}, u)
		call := func(n int64) {
			if _, err := p.CallTool(t.Context(), nil, u.Name, "echo", value.ObjectOf("n", value.FromInt(n))); err != nil {
				t.Fatal(err)
			}
		}
		call(1)
		synctest.Wait() // nothing is read from the wire beside the call
		session := p.servers[u.Name].slots[""].current
		seen := &frameCounter{Link: session.link}
		session.link = seen
		call(2)
		if n := len(seen.frames); n > maxFrames || n < 5 || !strings.HasSuffix(seen.frames[n-1], "(*Pool).CallTool") {
			t.Errorf("%d frames, want at most %d:\n%s", n, maxFrames, strings.Join(seen.frames, "\n"))
		}
		for _, f := range seen.frames {
			if !strings.Contains(f, "/pkg/upstream") && !strings.Contains(f, "/internal/upstream") {
				t.Errorf("%s is not of this package", f)
			}
		}
	})
}

// slotIsFree reports whether a request of another call gets a slot at once.
func slotIsFree(t *testing.T, p *Pool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	release, err := p.servers["fake"].layers.Admit(ctx, &Call{Info: callinfo.None, Method: policy.MethodCall, Name: "other"}, true)
	if err == nil {
		release()
	}
	return err == nil
}

func oneSlot(u *config.Upstream) { u.MaxConcurrency = 1 }

func TestNothingIsHeldWhileASessionOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opening, script := make(chan struct{}), mcptest.Script{}
		u := &config.Upstream{Name: "fake", ConnectTimeout: testTimeout, Timeout: testTimeout, MaxConcurrency: 1}
		p := start(t, Options{Dial: func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) {
			<-opening
			return script.Dial(ctx)
		}}, u)
		called := make(chan error)
		go func() {
			_, err := p.CallTool(t.Context(), nil, "fake", "echo", value.Undef)
			called <- err
		}()
		synctest.Wait()
		if !slotIsFree(t, p) {
			t.Error("a slot is held while the session opens")
		}
		close(opening)
		if err := <-called; err != nil {
			t.Error(err)
		}
	})
}

func TestNothingIsHeldWhileAPersonAnswers(t *testing.T) {
	for name, h := range map[string]http.Handler{
		"call": inputServer(`{"q":{"method":"elicitation/create","params":{"message":"Name?"}}}`),
		"task": &mcptest.Web{Script: taskScript(&mcptest.Tasks{States: []string{"input_required", "completed"}}), Modern: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := make(chan struct{})
				asked := make(chan struct{})
				o := Options{Answers: map[string]Answer{"elicitation/create": func(ctx context.Context, server string, params value.Value) (value.Value, error) {
					close(asked)
					<-answer
					return answersYes(ctx, server, params)
				}}}
				p := virtualWebWith(t, o, config.HTTP, h, oneSlot)
				called := make(chan error)
				go func() {
					_, err := p.CallTool(t.Context(), nil, "fake", "research", value.Undef)
					called <- err
				}()
				<-asked
				if !slotIsFree(t, p) {
					t.Error("the slot is held while a person answers")
				}
				close(answer)
				if err := <-called; err != nil {
					t.Error(err)
				}
				if !slotIsFree(t, p) {
					t.Error("the slot is held after the call")
				}
			})
		})
	}
}

// What stands for a server and passes a call on holds no slot either, and its calls count
// once for the rate limit.
func TestStandInThatPassesOnTakesOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := mcptest.Script{}
		u := &config.Upstream{
			Name: "fake", ConnectTimeout: testTimeout, Timeout: testTimeout, MaxConcurrency: 1,
			RateLimit: &config.RateLimit{Limit: 1, Period: time.Hour},
		}
		opening := make(chan struct{})
		p := start(t, Options{
			Dial: func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) {
				<-opening
				return script.Dial(ctx)
			},
			Intercept: func(ctx context.Context, _ Exchange, next func(context.Context) (value.Value, error)) (value.Value, error) {
				return next(ctx)
			},
		}, u)
		called := make(chan error)
		go func() {
			_, err := p.CallTool(t.Context(), nil, "fake", "echo", value.Undef)
			called <- err
		}()
		synctest.Wait()
		release, err := p.servers["fake"].layers.Admit(t.Context(), &Call{Method: policy.MethodCall}, false)
		if err != nil {
			t.Fatal(err)
		}
		release()
		close(opening)
		if err := <-called; err != nil {
			t.Error(err)
		}
		if n := p.Stats()[0].RateLimitWaits; n != 0 {
			t.Errorf("%d waits for the rate limit", n)
		}
	})
}
