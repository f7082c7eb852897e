package upstream

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// faulty returns a pool with the server as fake, whose calls are tried up to
// three times with next to no delay.
func faulty(t testing.TB, f *mcptest.Faulty, change ...func(*config.Upstream)) *Pool {
	u := &config.Upstream{
		Name: "fake", Transport: config.HTTP, URL: f.URL,
		ConnectTimeout: testTimeout, Timeout: testTimeout, MaxMessageBytes: config.DefaultMaxMessageBytes,
	}
	thrice(u)
	for _, c := range change {
		c(u)
	}
	return start(t, Options{}, u)
}

func thrice(u *config.Upstream) {
	u.Retry = &config.Retry{MaxAttempts: 3, InitialDelay: time.Millisecond, MaxDelay: 5 * time.Second, Backoff: 1}
}

func ask(p *Pool, tool string, args value.Value) (Reply, error) {
	return p.CallTool(context.Background(), nil, "fake", tool, args)
}

// What each misbehaviour of a server leads to: how often it is asked, by a call
// of a tool that is not marked and by one of a tool that may be repeated, and
// what the error says. A fault comes twice; what is tried again succeeds then.
func TestEachFaultOfAServer(t *testing.T) {
	t.Parallel()
	for _, c := range []faultCase{
		{"reset after the request", mcptest.Reset, nil, once, tried, []string{"connection reset by peer", "it may have acted on the call", "mcpServers.fake.retryUnsafe: true"}},
		{"closed after the request", mcptest.Close, nil, once, tried, []string{"EOF"}},
		{"closed after the request, retryUnsafe", mcptest.Close, func(u *config.Upstream) { u.RetryUnsafe = true }, tried, tried, nil},
		{"401", mcptest.Status(401), nil, once, once, []string{"HTTP 401 Unauthorized", "mcpServers.fake.headers"}},
		{"403", mcptest.Status(403), nil, once, once, []string{"HTTP 403 Forbidden"}},
		{"400", mcptest.Status(400), nil, once, once, []string{"HTTP 400 Bad Request", "as told"}},
		{"408", mcptest.Status(408), nil, once, tried, []string{"HTTP 408", "it may have acted on the call", "mcpServers.fake.retryUnsafe: true"}},
		{"408, retryUnsafe", mcptest.Status(408), func(u *config.Upstream) { u.RetryUnsafe = true }, tried, tried, nil},
		{"429", mcptest.Status(429), nil, tried, tried, nil},
		{"429 with Retry-After beyond the limit", mcptest.Status(429, "Retry-After", "60"), nil, once, once, []string{"HTTP 429 Too Many Requests (Retry-After: 60)", "asks for a wait of 1m0s (Retry-After)"}},
		{"500", mcptest.Status(500), nil, once, once, []string{"HTTP 500 Internal Server Error"}},
		{"500 in retryOn", mcptest.Status(500), func(u *config.Upstream) { u.Retry.RetryOn = []string{"500"} }, tried, tried, nil},
		{"502", mcptest.Status(502), nil, once, tried, []string{"HTTP 502", "it may have acted on the call", "mcpServers.fake.retryUnsafe: true"}},
		{"502, retryUnsafe", mcptest.Status(502), func(u *config.Upstream) { u.RetryUnsafe = true }, tried, tried, nil},
		{"503", mcptest.Status(503), nil, tried, tried, nil},
		{"503 in skipOn", mcptest.Status(503), func(u *config.Upstream) { u.Retry.SkipOn = []string{"5xx"} }, once, once, []string{"HTTP 503"}},
		{"504", mcptest.Status(504), nil, once, tried, []string{"HTTP 504", "it may have acted on the call", "mcpServers.fake.retryUnsafe: true"}},
		{"504, retryUnsafe", mcptest.Status(504), func(u *config.Upstream) { u.RetryUnsafe = true }, tried, tried, nil},
		{"invalid arguments", mcptest.ErrorCode(-32602), nil, once, once, []string{"as told (JSON-RPC error -32602)"}},
		{"error in retryOn", mcptest.ErrorCode(-32050), func(u *config.Upstream) { u.Retry.RetryOn = []string{"-32050"} }, tried, tried, nil},
		{"half a message", mcptest.Half, nil, once, tried, nil},
		{"half an event", mcptest.HalfStream, nil, once, tried, nil},
		{"garbage", mcptest.Garbage, nil, once, once, []string{"not JSON-RPC", "Traceback"}},
		{"garbage in retryOn", mcptest.Garbage, func(u *config.Upstream) { u.Retry.RetryOn = []string{"malformed"} }, once, tried, nil},
		{"web page", mcptest.Page, nil, once, once, []string{`content type "text/html"`}},
		{"huge", mcptest.Huge(2 << 20), small, once, once, []string{"the answer is longer than 1048576 bytes", "mcpServers.fake.maxMessageBytes"}},
		{"wrong id", mcptest.WrongID, nil, once, once, []string{"not JSON-RPC", `an id that no request waits for: "\"nobody\""`}},
	} {
		for _, tool := range faultyTools {
			t.Run(c.name+"/"+tool, func(t *testing.T) {
				t.Parallel()
				f := mcptest.NewFaulty(t)
				c.test(t, f, faulty(t, f, c.changes()...), tool)
			})
		}
	}
	t.Run("hang", func(t *testing.T) { // once in real time
		t.Parallel()
		f := mcptest.NewFaulty(t)
		f.Next(mcptest.Hang)
		if _, err := ask(faulty(t, f, soon), mcptest.FaultyWrite, value.Undef); err == nil || !strings.Contains(err.Error(), "timed out") {
			t.Error(err)
		}
	})
}

func TestEachFaultThatTakesTime(t *testing.T) {
	t.Parallel()
	for _, c := range []faultCase{
		{"hang", mcptest.Hang, short, once, tried, []string{"timed out: no answer and no progress for 5s", "mcpServers.fake.timeoutMs"}},
		{"drip that takes too long", mcptest.Drip(100 * time.Millisecond), short, once, tried, []string{"timed out"}},
	} {
		for _, tool := range faultyTools {
			t.Run(c.name+"/"+tool, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					f := mcptest.NewFaultyHandler(t)
					c.test(t, f, virtualWeb(t, config.HTTP, f, append([]func(*config.Upstream){thrice}, c.changes()...)...), tool)
				})
			})
		}
	}
}

var faultyTools = []string{mcptest.FaultyWrite, mcptest.FaultyRead, mcptest.FaultySet}

// faultCase is a fault and what it leads to.
type faultCase struct {
	name        string
	fault       mcptest.Fault
	change      func(*config.Upstream)
	write, read int      // attempts of a call
	want        []string // in the error
}

// Attempts of a call.
const once, tried = 1, 3

func (c *faultCase) changes() []func(*config.Upstream) {
	if c.change == nil {
		return nil
	}
	return []func(*config.Upstream){c.change}
}

// test calls the tool of f, whose pool is p.
func (c *faultCase) test(t *testing.T, f *mcptest.Faulty, p *Pool, tool string) {
	want := c.read
	if tool == mcptest.FaultyWrite {
		want = c.write
	}
	f.Next(c.fault, c.fault)
	r, err := ask(p, tool, value.Undef)
	if n := f.Calls(); n != want || r.Sent != want {
		t.Errorf("the server was asked %d times, attempts %d; want %d: %v", n, r.Sent, want, err)
	}
	if (err == nil) != (want == tried) {
		t.Errorf("%+v, %v", r, err)
	}
	if err != nil {
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
	}
	f.Always(mcptest.Good)
	f.Next(mcptest.Good)
	for range 2 { // what is left of the faults, and then a good answer
		if r, err = ask(p, tool, value.Undef); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// What a client has to bear is no failure.
func TestOddAnswersThatAreGood(t *testing.T) {
	for name, fault := range map[string]mcptest.Fault{
		"drip": mcptest.Drip(time.Millisecond), "large": mcptest.Huge(8 << 20), "error of the tool": mcptest.ToolError,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := mcptest.NewFaulty(t)
			f.Next(fault)
			r, err := ask(faulty(t, f), mcptest.FaultyRead, value.Undef)
			if err != nil || r.Sent != 1 || f.Calls() != 1 {
				t.Errorf("%d calls, attempts %d: %v", f.Calls(), r.Sent, err)
			}
		})
	}
}

func TestFirstOfTwoAnswersCounts(t *testing.T) {
	f := mcptest.NewFaulty(t)
	f.Next(mcptest.Twice)
	p := faulty(t, f)
	for _, want := range []string{"call 1, first answer", "call 2"} {
		r, err := ask(p, mcptest.FaultyWrite, value.Undef)
		if err != nil || text(r.Value) != want {
			t.Errorf("%s, %v; want %q", r.Value.JSON(), err, want)
		}
	}
}

func TestServerThatRefusesConnections(t *testing.T) {
	f := mcptest.NewFaulty(t)
	p := faulty(t, f)
	f.Refuse()
	for range 2 { // at the handshake
		r, err := ask(p, mcptest.FaultyWrite, value.Undef)
		if err == nil || r.Sent != 3 {
			t.Fatalf("attempts %d: %v", r.Sent, err)
		}
		for _, want := range []string{"connection refused", "it was tried 3 times", "mcpServers.fake.url"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
	}
	f.Accept()
	if r, err := ask(p, mcptest.FaultyWrite, value.Undef); err != nil || r.Sent != 1 {
		t.Fatalf("attempts %d: %v", r.Sent, err)
	}
	f.Refuse() // within a session
	if r, err := ask(p, mcptest.FaultyWrite, value.Undef); err == nil || r.Sent != 3 || !strings.Contains(err.Error(), "connection refused") {
		t.Fatalf("attempts %d: %v", r.Sent, err)
	}
	f.Accept()
	if r, err := ask(p, mcptest.FaultyWrite, value.Undef); err != nil || r.Sent != 1 {
		t.Fatalf("attempts %d: %v", r.Sent, err)
	}
	if n := f.Calls(); n != 2 {
		t.Errorf("the server has seen %d calls, want the two good ones", n)
	}
}

// awaitHints waits until a pool has read the hints of its server's tools, which it does
// from the connect on.
func awaitHints(t *testing.T, p *Pool) {
	t.Helper()
	eventually(t, "the list of tools", func() bool {
		return p.servers["fake"].isRepeatable(context.Background(), &Call{Name: mcptest.FaultyRead, As: &Credential{}}, policy.Failure{})
	})
}

// A request so long that it cannot have been sent before the connection was
// reset: the server has not got it, so any tool may be tried again.
func TestConnectionResetBeforeTheRequestWasSent(t *testing.T) {
	t.Parallel()
	f := mcptest.NewFaulty(t)
	p := faulty(t, f)
	if _, err := ask(p, mcptest.FaultyWrite, value.Undef); err != nil {
		t.Fatal(err)
	}
	awaitHints(t, p)
	f.ResetBefore(2)
	args := value.FromEntries([]value.Entry{{Key: "text", Value: value.FromString(strings.Repeat("x", 16<<20))}})
	r, err := ask(p, mcptest.FaultyWrite, args)
	if err != nil || r.Sent != 3 || f.Resets() != 2 || f.Calls() != 2 {
		t.Errorf("attempts %d, %d resets, %d calls: %v", r.Sent, f.Resets(), f.Calls(), err)
	}
}

// A short request may have been on its way: only a tool that may be repeated is
// tried again for sure.
func TestConnectionResetWhileTheRequestWasSent(t *testing.T) {
	f := mcptest.NewFaulty(t)
	p := faulty(t, f)
	if _, err := ask(p, mcptest.FaultyRead, value.Undef); err != nil {
		t.Fatal(err)
	}
	awaitHints(t, p)
	f.ResetBefore(2)
	r, err := ask(p, mcptest.FaultyRead, value.Undef)
	if err != nil || r.Sent != 3 || f.Resets() != 2 || f.Calls() != 2 {
		t.Errorf("attempts %d, %d resets, %d calls: %v", r.Sent, f.Resets(), f.Calls(), err)
	}
}

func TestRetryAfterOfARealAnswerIsObeyed(t *testing.T) {
	t.Parallel()
	f := mcptest.NewFaulty(t)
	f.Next(mcptest.Status(429, "Retry-After", "1"), mcptest.Status(503, "Retry-After", time.Now().Add(2*time.Second).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")))
	p := faulty(t, f)
	began := time.Now()
	r, err := ask(p, mcptest.FaultyWrite, value.Undef)
	if err != nil || r.Sent != 3 || time.Since(began) < time.Second {
		t.Errorf("attempts %d after %v: %v", r.Sent, time.Since(began), err)
	}
}

func TestBreakerKeepsCallsFromAServerThatFails(t *testing.T) {
	f := mcptest.NewFaulty(t)
	f.Always(mcptest.Status(503))
	p := faulty(t, f, withBreaker)
	for range 3 {
		if _, err := ask(p, mcptest.FaultyWrite, value.Undef); err == nil || errors.Is(err, KindCircuitOpen) {
			t.Fatal(err)
		}
	}
	r, err := ask(p, mcptest.FaultyWrite, value.Undef)
	if !errors.Is(err, KindCircuitOpen) || r.Sent != 0 || f.Calls() != 9 || !strings.Contains(err.Error(), "HTTP 503") {
		t.Errorf("attempts %d, %d calls: %v", r.Sent, f.Calls(), err)
	}
	f.Always(mcptest.Good)
	if r, err := ask(p, mcptest.FaultyRead, value.Undef); err != nil || r.Sent != 1 {
		t.Errorf("another tool: %v", err)
	}
	got := p.servers["fake"].traffic()
	if got.Calls != 5 || got.Errors != 4 || got.Retries != 6 || len(got.Breakers) != 2 {
		t.Errorf("traffic %+v", got)
	}
}

func TestCachedAnswerNeedsNoServer(t *testing.T) {
	f := mcptest.NewFaulty(t)
	p := faulty(t, f, func(u *config.Upstream) {
		u.Cache = &config.Cache{TTL: time.Hour, MaxEntries: 10, Tools: []string{mcptest.FaultyRead}}
	})
	first, err := ask(p, mcptest.FaultyRead, value.Undef)
	if err != nil {
		t.Fatal(err)
	}
	f.Refuse()
	second, err := ask(p, mcptest.FaultyRead, value.Undef)
	if err != nil || !second.Cached || second.Sent != 0 || !value.Equal(first.Value, second.Value) {
		t.Errorf("%+v, %v", second, err)
	}
	if _, err := ask(p, mcptest.FaultyWrite, value.Undef); err == nil {
		t.Error("a tool that is not cached was answered without a server")
	}
}
