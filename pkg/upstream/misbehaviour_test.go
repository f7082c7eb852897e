package upstream

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Whatever a tool does, the call's error says so and the next call works.
func TestNextCallWorksAfterMisbehaviour(t *testing.T) {
	t.Parallel()
	for _, c := range []misbehaviour{
		{name: "exit mid-call", tool: "exit", args: `{"code":7,"text":"out of memory"}`, dead: true,
			want: []string{`server "fake", tool "exit"`, "it exited (code 7) before it had answered", "mcpServers.fake.retry tries again", "retryUnsafe: true", "\n  | out of memory"}},
		{name: "silent exit", tool: "exit", args: `{"code":0}`, dead: true, want: []string{"it exited (code 0) before it had answered"}},
		{name: "torn answer", tool: "torn", args: `{"code":1}`, dead: true,
			want: []string{"exited (code 1)", "it wrote something that is not JSON-RPC", "ends in its middle"}},
		{name: "broken answer", tool: "half", args: `{}`, want: []string{"it wrote something that is not JSON-RPC", `"type\":\"te`}},
		{name: "broken result", tool: "reply", args: `{"result":[1,2]}`, want: []string{"a result that is not an object: \"[1,2]\""}},
		{name: "content that is no list", tool: "reply", args: `{"result":{"content":17}}`, want: []string{"it answered a result whose content is not a list: 17"}},
		{name: "content that is no block", tool: "reply", args: `{"result":{"content":[{"type":"text","text":"a"},"b"]}}`, want: []string{`content that is not a block: "b"`}},
		{name: "isError that is neither true nor false", tool: "reply", args: `{"result":{"content":[],"isError":"maybe"}}`,
			want: []string{`it answered a result whose isError is not a boolean: "maybe"`}},
		{name: "no content", tool: "reply", args: `{"result":{}}`, want: []string{"it answered a result without content and structuredContent"}},
		{name: "null members", tool: "reply", args: `{"result":{"content":null,"isError":null}}`},
		{name: "a result for null", tool: "garbage", args: `{"text":"{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{\"content\":[]}}"}`, want: []string{"a result without an id"}},
		{name: "an error for null", tool: "garbage", args: `{"text":"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}"}`, want: []string{"what? (JSON-RPC error -32700)"}},
		{name: "answer over the limit", tool: "huge", args: `{"bytes":2000000}`, change: small,
			want: []string{"the answer is longer than 1048576 bytes", "mcpServers.fake.maxMessageBytes"}},
		{name: "answer over the limit with the id at its end", tool: "hugelate", args: `{"bytes":2000000}`, change: small,
			want: []string{"the answer is longer than 1048576 bytes"}},
		{name: "JSON-RPC error", tool: "rpcerror", args: `{"code":-32050,"message":"no such thing"}`, want: []string{"no such thing (JSON-RPC error -32050)"}},
		{name: "text between the messages", tool: "chatter", args: `{"text":"debugging"}`},
		{name: "two answers", tool: "twice", args: `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.dead {
				c.test(t, start(t, Options{}, child(mcptest.Script{})))
				return
			}
			synctest.Test(t, func(t *testing.T) { c.test(t, virtualPipe(t, mcptest.Script{}, c.changes()...)) })
		})
	}
	// Once each in real time, and through the pipes of a process.
	for _, c := range []misbehaviour{
		{name: "answer in pieces", tool: "drip", args: `{"ms":1}`},
		{name: "60 MB", tool: "huge", args: `{"bytes":60000000}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, start(t, Options{}, child(mcptest.Script{})))
		})
	}
	t.Run("no answer", func(t *testing.T) {
		t.Parallel()
		misbehaviour{tool: "hang", args: `{}`, want: []string{"timed out"}}.test(t, start(t, Options{}, child(mcptest.Script{}, soon)))
	})
}

func TestNextCallWorksAfterATimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []misbehaviour{
		{name: "garbage instead of an answer", tool: "garbage", args: `{"text":"Traceback: boom"}`, change: short,
			want: []string{"timed out: no answer and no progress for 5s", `it wrote something that is not JSON-RPC: "Traceback: boom"`, "mcpServers.fake.timeoutMs"}},
		{name: "JSON that is not JSON-RPC", tool: "garbage", args: `{"text":"{\"level\":\"info\"}"}`, change: short,
			want: []string{"timed out", `not JSON-RPC: "{\"level\":\"info\"}"`}},
		{name: "no answer", tool: "hang", args: `{}`, change: short, want: []string{"timed out: no answer and no progress for 5s"}},
		{name: "wrong id", tool: "wrongid", args: `{}`, change: short, want: []string{"timed out", `an id that no request waits for: "\"nobody\""`}},
		{name: "too slow in spite of progress", tool: "progress", args: `{"count":1000,"ms":20}`,
			change: func(u *config.Upstream) { u.MaxCallTime = 4 * time.Second },
			want:   []string{"it took longer than 4s to answer", "mcpServers.fake.maxCallTimeMs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { c.test(t, virtualPipe(t, mcptest.Script{}, c.changes()...)) })
		})
	}
}

// misbehaviour is a call of a tool that does something wrong.
type misbehaviour struct {
	name, tool, args string
	change           func(*config.Upstream)
	want             []string // in the error; none: the call succeeds
	dead             bool     // the process has to be started again
}

func (c misbehaviour) changes() []func(*config.Upstream) {
	if c.change == nil {
		return nil
	}
	return []func(*config.Upstream){c.change}
}

func (c misbehaviour) test(t *testing.T, p *Pool) {
	process := func() float64 { return mustCall(t, p, "process", `{}`).Get("structuredContent").Get("pid").Float() }
	before := process()
	if c.want == nil {
		mustCall(t, p, c.tool, c.args)
	} else {
		e := mustFail(t, p, c.tool, c.args)
		for _, want := range c.want {
			if !strings.Contains(e.Error(), want) {
				t.Errorf("error %q does not say %q", e, want)
			}
		}
	}
	if after := process(); (before != after) != c.dead {
		t.Errorf("process %v, then %v; want a new one: %v", before, after, c.dead)
	}
	if opened := p.servers["fake"].opened.Load(); (opened > 1) != c.dead {
		t.Errorf("%d sessions were opened; want another one: %v", opened, c.dead)
	}
}

// short is a timeout in virtual time, soon is one in real time.
func short(u *config.Upstream) { u.Timeout = 5 * time.Second }
func soon(u *config.Upstream)  { u.Timeout = 2 * time.Second }
func small(u *config.Upstream) { u.MaxMessageBytes = 1 << 20 }

func TestServerThatDoesNotStartSaysWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		entry *config.Upstream
		op    string
		want  []string
		is    error
	}{
		{"exits", child(mcptest.Script{Start: mcptest.StartExit}), "handshake",
			[]string{"it exited (code 3) before the handshake was complete", "mcpServers.fake.command", "exiting at start as told"}, nil},
		{"refuses", child(mcptest.Script{Start: mcptest.StartRefuse}), "handshake", []string{"the handshake failed", "refusing the handshake as told"}, nil},
		{"unknown revision", child(mcptest.Script{Protocol: "1999-01-01"}), "handshake",
			[]string{`it speaks revision "1999-01-01" of MCP`, "2024-11-05", "2025-11-25"}, nil},
		{"no program", &config.Upstream{Name: "fake", Transport: config.Stdio, Command: "no-such-program-here"}, "start",
			[]string{`there is no program "no-such-program-here" on the PATH`, "mcpServers.fake.command"}, exec.ErrNotFound},
		{"no file", &config.Upstream{Name: "fake", Transport: config.Stdio, Command: "./no/such/file"}, "start",
			[]string{"could not be started", "./no/such/file"}, fs.ErrNotExist},
		{"no directory", child(mcptest.Script{}, func(u *config.Upstream) { u.Cwd = "/no/such/directory" }), "start",
			[]string{"/no/such/directory", "mcpServers.fake.cwd"}, fs.ErrNotExist},
		{"other transport", &config.Upstream{Name: "fake", Transport: "pigeon"}, "start",
			[]string{`transport "pigeon": there is no such transport`}, nil},
		{"nobody listens for WebSockets", &config.Upstream{Name: "fake", Transport: config.WebSocket, URL: "ws://127.0.0.1:1/"}, "start",
			[]string{"could not be reached", "mcpServers.fake.url"}, syscall.ECONNREFUSED},
		{"nobody listens for events", &config.Upstream{Name: "fake", Transport: config.SSE, URL: "http://127.0.0.1:1/"}, "start",
			[]string{"could not be reached", "mcpServers.fake.url"}, syscall.ECONNREFUSED},
		{"nobody listens for HTTP", &config.Upstream{Name: "fake", Transport: config.HTTP, URL: "http://127.0.0.1:1/"}, "handshake",
			[]string{"could not be reached", "mcpServers.fake.url"}, syscall.ECONNREFUSED},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, Options{}, c.entry)
			e := mustFail(t, p, "echo", `{}`)
			if e.Op != c.op || e.Tool != "echo" {
				t.Errorf("op %q, tool %q", e.Op, e.Tool)
			}
			for _, want := range c.want {
				if !strings.Contains(e.Error(), want) {
					t.Errorf("error %q does not say %q", e, want)
				}
			}
			if c.is != nil && !errors.Is(e, c.is) {
				t.Errorf("%v is not %v", e, c.is)
			}
		})
	}
}

func TestServerThatNeverAnswersTheHandshakeSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start mcptest.Start
		want  string
	}{
		"garbage": {mcptest.StartGarbage, `it wrote something that is not JSON-RPC: "Welcome to the fake server!"`},
		"mute":    {mcptest.StartMute, "mcpServers.fake.connectTimeoutMs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := virtualPipe(t, mcptest.Script{Start: c.start}, func(u *config.Upstream) { u.ConnectTimeout = 5 * time.Second })
				e := mustFail(t, p, "echo", `{}`)
				if e.Op != "handshake" || e.Tool != "echo" || !errors.Is(e, context.DeadlineExceeded) {
					t.Errorf("op %q, tool %q, %v", e.Op, e.Tool, e.Err)
				}
				for _, want := range []string{"did not complete the handshake within 5s", c.want} {
					if !strings.Contains(e.Error(), want) {
						t.Errorf("error %q does not say %q", e, want)
					}
				}
			})
		})
	}
}

func TestBannerOnStdoutIsOnlyWarnedOf(t *testing.T) {
	var log logBuffer
	p := start(t, Options{Log: log.logger()}, child(mcptest.Script{Start: mcptest.StartBanner}))
	mustCall(t, p, "echo", `{}`)
	if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "Welcome to the fake server!") {
		t.Errorf("log: %s", got)
	}
}

func TestServerThatStopsReadingHoldsUpNobody(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, child(mcptest.Script{Start: mcptest.StartDeaf}, soon))
	e := mustFail(t, p, "echo", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	if !errors.Is(e, context.DeadlineExceeded) || !strings.Contains(e.Error(), "timed out") {
		t.Fatal(e)
	}
}

func TestEachCallToAServerThatStopsReadingTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := virtualPipe(t, mcptest.Script{Start: mcptest.StartDeaf}, short)
		for range 3 {
			began := time.Now()
			e := mustFail(t, p, "echo", `{}`)
			if !errors.Is(e, context.DeadlineExceeded) || !strings.Contains(e.Error(), "timed out") {
				t.Fatal(e)
			}
			if took := time.Since(began); took != 5*time.Second {
				t.Errorf("it took %v", took)
			}
		}
	})
}

func TestDeathFailsAllCallsInFlightAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, child(mcptest.Script{}))
	mustCall(t, p, "echo", `{}`)
	failed := make(chan *Error, 20)
	for range cap(failed) {
		go func() {
			_, err := p.CallTool(context.Background(), nil, "fake", "hang", value.Undef)
			e, _ := err.(*Error)
			failed <- e
		}()
	}
	eventually(t, "the calls to arrive", func() bool {
		return mustCall(t, p, "calls", `{}`).Get("structuredContent").Get("hang").Float() == float64(cap(failed))
	})
	began := time.Now()
	mustFail(t, p, "exit", `{"code":9,"text":"that was all"}`)
	for range cap(failed) {
		if e := <-failed; e == nil || !strings.Contains(e.Error(), "exited (code 9)") || e.Stderr[len(e.Stderr)-1] != "that was all" {
			t.Error(e)
		}
	}
	if took := time.Since(began); took > testTimeout/2 {
		t.Errorf("it took %v", took)
	}
}

func TestServerThatKeepsDyingIsStartedAgainWithGrowingDelay(t *testing.T) {
	t.Parallel()
	s := &sessionSlot{server: &mcpServer{connector: &connector{faults: &faults{entry: &config.Upstream{}}}}}
	var delays []time.Duration
	for range 9 {
		s.discard(time.Second, false)
		delays = append(delays, s.startDelay())
	}
	if delays[0] != 0 || delays[1] != firstStartDelay || delays[8] != maxStartDelay {
		t.Errorf("delays: %v", delays)
	}
	for i := 2; i < len(delays); i++ {
		if delays[i] < delays[i-1] || delays[i] > 2*delays[i-1] {
			t.Errorf("delays: %v", delays)
		}
	}
	if s.discard(time.Hour, false); s.startDelay() != 0 {
		t.Errorf("after a good session: %v", s.startDelay())
	}

	p := start(t, Options{}, child(mcptest.Script{}))
	for range 3 {
		mustFail(t, p, "exit", `{}`)
	}
	// A server that has answered is started again after the first delay.
	for range 4 {
		mustCall(t, p, "echo", `{}`)
		mustFail(t, p, "exit", `{}`)
	}
	mustCall(t, p, "echo", `{}`)
	slot := p.servers["fake"].slots[""]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	slot.discard(time.Second, slot.current.used.Load())
	if d := slot.startDelay(); d != firstStartDelay {
		t.Errorf("the next delay is %v, want %v", d, firstStartDelay)
	}
}
