package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// 64 overlapping calls on one connection, mixed tools, each gets its own answer.
func TestOverlappingCallsGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, child(mcptest.Script{}))
	var wait sync.WaitGroup
	for caller := range 64 {
		wait.Go(func() {
			for round := range 10 {
				tag := fmt.Sprintf("%d-%d", caller, round)
				var tool, args, want string
				switch caller % 4 {
				case 0:
					tool, args = "echo", fmt.Sprintf(`{"tag":%q,"ms":%d}`, tag, (caller*7+round*13)%20)
				case 1:
					tool, args = "reply", fmt.Sprintf(`{"ms":%d,"result":{"content":[],"tag":%q}}`, (caller*3+round*5)%20, tag)
				case 2:
					tool, args = "fail", fmt.Sprintf(`{"text":%q}`, tag)
				case 3:
					tool, args, want = "rpcerror", fmt.Sprintf(`{"code":-32050,"message":%q}`, tag), tag
				}
				a, _ := value.Parse(args)
				r, err := p.CallTool(context.Background(), nil, "fake", tool, a)
				var rpc *RPCError
				switch caller % 4 {
				case 0:
					if got := r.Value.Get("structuredContent"); err != nil || !value.Equal(got, a) {
						t.Errorf("%s: %s, %v", args, got.JSON(), err)
					}
				case 1:
					if got := r.Value.Get("tag"); err != nil || got.Str() != tag {
						t.Errorf("%s: %s, %v", args, r.Value.JSON(), err)
					}
				case 2:
					if err != nil || text(r.Value) != tag || !r.Value.Get("isError").Bool() {
						t.Errorf("%s: %s, %v", args, r.Value.JSON(), err)
					}
				case 3:
					if !errors.As(err, &rpc) || rpc.Code != -32050 || rpc.Message != want {
						t.Errorf("%s: %v", args, err)
					}
				}
			}
		})
	}
	wait.Wait()
}

func TestOneProcessServesAllCallersAndStartsOnlyWhenCalled(t *testing.T) {
	var dials atomic.Int32
	dial := func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) {
		dials.Add(1)
		return mcptest.Script{}.Dial(ctx)
	}
	p := start(t, Options{Dial: dial}, &config.Upstream{Name: "fake"})
	if n := dials.Load(); n != 0 {
		t.Fatalf("%d connections before the first call", n)
	}
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			if _, err := p.CallTool(context.Background(), nil, "fake", "echo", value.Undef); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections for 50 calls", n)
	}
	mustFail(t, p, "exit", `{}`)
	mustCall(t, p, "echo", `{}`)
	if n := dials.Load(); n != 2 {
		t.Errorf("%d connections after the first had ended", n)
	}
}

func TestArgumentsAndResultsTravelAsTheyAre(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}))
	for _, exact := range []string{
		`{"z":9007199254740993,"a":123456789012345678901234567890,"m":-0.1e-7}`,
		`{"content":[{"type":"hologram","depth":3}],"unknown":{"b":1,"a":[]}}`,
		`{"content":[],"structuredContent":{"zero":0,"no":false,"empty":"","none":null,"list":[]}}`,
		`{"no content":true}`,
		`{"text":"\u2028 \ud83d\ude00 \"quoted\" \\ \n"}`,
		`{"big":[` + strings.Repeat(`{"n":9007199254740993},`, 100) + `0]}`,
	} {
		want, err := value.Parse(exact)
		if err != nil {
			t.Fatal(err)
		}
		if got := mustCall(t, p, "reply", `{"result":{"content":[],"exact":`+exact+`}}`); got.JSON() != `{"content":[],"exact":`+want.JSON()+`}` {
			t.Errorf("result: got %s, want %s", got.JSON(), want.JSON())
		}
		if got := mustCall(t, p, "echo", exact).Get("structuredContent"); got.JSON() != want.JSON() {
			t.Errorf("arguments: got %s, want %s", got.JSON(), want.JSON())
		}
	}
}

func TestArgumentsAreAlwaysAnObject(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}))
	for _, args := range []value.Value{value.Undef, value.NullValue, value.FromInt(1), value.FromArray(nil)} {
		r, err := p.CallTool(context.Background(), nil, "fake", "echo", args)
		if got := r.Value.Get("structuredContent").JSON(); err != nil || got != "{}" {
			t.Errorf("%s: the server got %s, %v", args.JSON(), got, err)
		}
	}
}

func TestFiveMegabytesTravel(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, child(mcptest.Script{}))
	long := strings.Repeat(strings.Repeat("0123456789", 100)+"ä\n\"\\", 5<<20/1000)
	args := value.FromEntries([]value.Entry{{Key: "long", Value: value.FromString(long)}})
	r, err := p.CallTool(context.Background(), nil, "fake", "echo", args)
	if err != nil || r.Value.Get("structuredContent").Get("long").Str() != long {
		t.Errorf("it came back changed, or %v", err)
	}
}

func TestEveryRevisionWithAHandshakeIsSpoken(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		p := start(t, Options{}, child(mcptest.Script{Protocol: revision}))
		mustCall(t, p, "echo", `{}`)
	}
}

func TestProgressIsASignOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mustCall(t, virtualPipe(t, mcptest.Script{}, short), "progress", `{"count":60,"ms":4900}`)
	})
}

// cancelHanging cancels a call at which the server works.
func cancelHanging(t *testing.T, p *Pool) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	result := make(chan error)
	go func() {
		_, err := p.CallTool(ctx, nil, "fake", "hang", value.Undef)
		result <- err
	}()
	eventually(t, "the call to arrive", func() bool {
		return mustCall(t, p, "calls", `{}`).Get("structuredContent").Get("hang").Float() == 1
	})
	cancel(errors.New("the run is over"))
	if err := <-result; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the run is over") {
		t.Error(err)
	}
}

func TestCancelledCallReturnsAtOnceAndTellsTheServer(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}))
	cancelHanging(t, p)
	eventually(t, "notifications/cancelled", func() bool {
		return mustCall(t, p, "cancelled", `{}`).Get("structuredContent").Get("ids").Len() == 1
	})
}

func TestCancelledCallDoesNotEndTheStartThatOthersAwait(t *testing.T) {
	release := make(chan struct{})
	dial := func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) {
		<-release
		return mcptest.Script{}.Dial(ctx)
	}
	p := start(t, Options{Dial: dial}, &config.Upstream{Name: "fake"})
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error)
	go func() {
		_, err := p.CallTool(ctx, nil, "fake", "echo", value.Undef)
		first <- err
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(release)
	mustCall(t, p, "echo", `{}`)
}

func TestMaxConcurrencyLetsFurtherCallsWait(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	script := mcptest.Script{Tools: []mcptest.Tool{{Name: "count", Func: func(json.RawMessage) (json.RawMessage, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond) // so that calls would overlap
		return mcptest.Text("counted"), nil
	}}}}
	dial := func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) { return script.Dial(ctx) }
	p := start(t, Options{Dial: dial}, &config.Upstream{Name: "fake", MaxConcurrency: 3})
	var wait sync.WaitGroup
	for range 30 {
		wait.Go(func() {
			if _, err := p.CallTool(context.Background(), nil, "fake", "count", value.Undef); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := most.Load(); n != 3 {
		t.Errorf("%d calls at once", n)
	}
}

func TestServersRequestsAreAnswered(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}))
	for method, want := range map[string]string{
		"ping":                   `{"id":1000,"result":{}}`,
		"roots/list":             `"code":-32601`,
		"sampling/createMessage": `"code":-32601`,
		"elicitation/create":     `"code":-32601`,
		"made/up":                `"code":-32601`,
	} {
		if got := text(mustCall(t, p, "ask", `{"method":"`+method+`"}`)); !strings.Contains(got, want) {
			t.Errorf("%s: answered %s, want %s", method, got, want)
		}
	}
}

func TestFloodOfLogMessagesDoesNotHoldUpTheAnswer(t *testing.T) {
	t.Parallel()
	var log logBuffer
	p := start(t, Options{Log: log.logger()}, child(mcptest.Script{}))
	mustCall(t, p, "log", `{"count":5000,"text":"busy"}`)
	if !strings.Contains(log.String(), "busy") {
		t.Error("no message was logged")
	}
}

func TestToolsKeepEveryKeywordOnAllPages(t *testing.T) {
	schema := `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","anyOf":[{"required":["b"]},{"required":["a"]}],"properties":{"b":{"type":"array","items":{"enum":[1,"x",null]}},"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"const":9007199254740993}},"if":true,"x-own":{"k":[]}}`
	script := mcptest.Script{PageSize: 2, Tools: []mcptest.Tool{{Name: "odd", InputSchema: []byte(schema)}, {Name: "second"}, {Name: "third"}}}
	p := start(t, Options{}, child(script))
	tools, err := p.Tools(context.Background(), nil, "fake")
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 + len(mcptest.Builtins); len(tools) != want {
		t.Errorf("%d tools, want %d", len(tools), want)
	}
	if got := tools[0].Get("inputSchema").JSON(); got != schema {
		t.Errorf("schema changed to %s", got)
	}
}

func TestNamePrefixIsPutBeforeTheNameOnTheWire(t *testing.T) {
	script := mcptest.Script{Tools: []mcptest.Tool{{Name: "ns_read", Result: mcptest.Text("prefixed")}}}
	p := start(t, Options{}, child(script, func(u *config.Upstream) { u.NamePrefix = "ns_" }))
	if got := text(mustCall(t, p, "read", `{}`)); got != "prefixed" {
		t.Error(got)
	}
}

func TestUnknownServerIsNamedWithTheNearest(t *testing.T) {
	p := start(t, Options{}, &config.Upstream{Name: "files"}, &config.Upstream{Name: "mail"})
	_, err := p.CallTool(context.Background(), nil, "fiels", "read", value.Undef)
	if err == nil || !strings.Contains(err.Error(), `did you mean "files"?`) {
		t.Error(err)
	}
	_, err = p.CallTool(context.Background(), nil, "database", "read", value.Undef)
	if err == nil || !strings.Contains(err.Error(), `"files"`) || !strings.Contains(err.Error(), `"mail"`) {
		t.Error(err)
	}
}

func TestEagerServersStartWithThePoolAndDeadOnesDoNotStopTheOthers(t *testing.T) {
	good := child(mcptest.Script{}, func(u *config.Upstream) { u.Eager = true })
	bad := child(mcptest.Script{Start: mcptest.StartExit}, func(u *config.Upstream) { u.Name, u.Eager = "bad", true })
	lazy := child(mcptest.Script{Start: mcptest.StartExit}, func(u *config.Upstream) { u.Name = "lazy" })
	p := start(t, Options{}, bad, good, lazy)
	err := p.Start(context.Background())
	if err == nil || !strings.Contains(err.Error(), `server "bad"`) || strings.Contains(err.Error(), "lazy") {
		t.Error(err)
	}
	if p.servers["fake"].slots[""].current == nil {
		t.Error("the good server was not started")
	}
	mustCall(t, p, "echo", `{}`)
}

func TestClosedPoolRefusesCalls(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}))
	mustCall(t, p, "echo", `{}`)
	inFlight := make(chan error)
	go func() {
		_, err := p.CallTool(context.Background(), nil, "fake", "hang", value.Undef)
		inFlight <- err
	}()
	eventually(t, "the call to arrive", func() bool {
		return mustCall(t, p, "calls", `{}`).Get("structuredContent").Get("hang").Float() == 1
	})
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{<-inFlight, mustFail(t, p, "echo", `{}`)} {
		if err == nil || !strings.Contains(err.Error(), "closed for good") {
			t.Error(err)
		}
	}
}

func TestSecretsAppearInNoErrorAndNoLog(t *testing.T) {
	t.Parallel()
	const secret, second = `s3cr3t/"token"`, "line one of a key\nline two of a key"
	var log logBuffer
	p := start(t, Options{Log: log.logger()}, child(mcptest.Script{}, soon, func(u *config.Upstream) {
		u.Secrets = []string{secret, second, "", "s3cr3t"}
	}))
	quoted := value.FromString(secret).JSON()
	both := value.FromString(secret + " " + second).JSON()
	mustCall(t, p, "stderr", `{"text":`+both+`}`)
	mustCall(t, p, "log", `{"count":1,"text":`+both+`}`)
	said := mustFail(t, p, "rpcerror", `{"code":1,"message":`+both+`}`).Error() +
		mustFail(t, p, "garbage", `{"text":`+quoted+`}`).Error()
	e := mustFail(t, p, "exit", `{"text":`+both+`}`)
	said += e.Error() + strings.Join(e.Stderr, "\n") + log.String()
	for err := error(e); err != nil; err = errors.Unwrap(err) {
		said += err.Error()
	}
	for _, leak := range []string{"s3cr3t", "line one", "line two"} {
		if strings.Contains(said, leak) {
			t.Errorf("%q appears in:\n%s", leak, said)
		}
	}
	if !strings.Contains(said, redact.Mark) {
		t.Error("nothing was redacted")
	}
}

func TestLastHundredLinesOfStderrAreKept(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}))
	mustCall(t, p, "stderr", `{"text":"line","count":250}`)
	mustCall(t, p, "stderr", `{"text":"`+strings.Repeat("long", 20000)+`"}`)
	e := mustFail(t, p, "exit", `{"text":"end"}`)
	n := len(e.Stderr)
	if n != 100 || e.Stderr[n-1] != "end" || e.Stderr[0] != "line 153" || len(e.Stderr[n-2]) > 4<<10+10 {
		t.Errorf("%d lines, %.20q … %q", n, e.Stderr[0], e.Stderr[n-1])
	}
	if shown := strings.Count(e.Error(), "\n  | "); shown != shownLines {
		t.Errorf("the error shows %d lines", shown)
	}
}

func TestStderrDoesNothingToTheTerminal(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}, func(u *config.Upstream) { u.Secrets = []string{"hidden"} }))
	e := mustFail(t, p, "exit", `{"text":"\u001b[1;31mError:\u001b[0m\tit \u001b]0;title\u0007broke\r, hid\u001b[Kden\u0000"}`)
	if got, want := e.Stderr[len(e.Stderr)-1], "Error:\tit broke, "+redact.Mark; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
