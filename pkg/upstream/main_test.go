package upstream

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestMain(m *testing.M) {
	if scenario := os.Getenv(scenarioVariable); scenario != "" {
		os.Exit(conformanceClient(scenario, os.Args[len(os.Args)-1]))
	}
	// Most of these tests wait for processes and connections, so more of them
	// than there are processors can run at once.
	_ = flag.Set("test.parallel", "16")
	if script := os.Getenv(serverVariable); script != "" {
		os.Exit(serveScript(script))
	}
	if err := mcptest.UseProgram(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child returns an entry named fake whose process serves the script.
func child(s mcptest.Script, change ...func(*config.Upstream)) *config.Upstream {
	command, args, env := s.Command()
	u := &config.Upstream{
		Name: "fake", Transport: config.Stdio, Command: command, Args: args, InheritEnv: config.Inherit{All: true},
		ConnectTimeout: testTimeout, Timeout: testTimeout, MaxMessageBytes: config.DefaultMaxMessageBytes,
	}
	for name, v := range env {
		u.Env = append(u.Env, config.EnvVar{Name: name, Value: v})
	}
	for _, f := range change {
		f(u)
	}
	return u
}

// start returns a pool of the entries that is closed with the test.
func start(t testing.TB, o Options, entries ...*config.Upstream) *Pool {
	t.Helper()
	p := New(entries, o)
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// call calls a tool of the server fake; args is JSON.
func call(t testing.TB, p *Pool, tool, args string) (value.Value, error) {
	t.Helper()
	a, err := value.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.CallTool(context.Background(), nil, "fake", tool, a)
	return r.Value, err
}

// mustCall is call where the call has to succeed; it returns the text.
func mustCall(t testing.TB, p *Pool, tool, args string) value.Value {
	t.Helper()
	reply, err := call(t, p, tool, args)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return reply
}

// mustFail is call where the call has to fail.
func mustFail(t testing.TB, p *Pool, tool, args string) *Error {
	t.Helper()
	reply, err := call(t, p, tool, args)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: got %s and error %v, want an *Error", tool, reply.JSON(), err)
	}
	return e
}

func text(reply value.Value) string { return reply.Get("content").Elems()[0].Get("text").Str() }

// testTimeout is how long tests wait for what has to come, which on a busy machine
// may take long.
const testTimeout = 3 * time.Minute

// eventually waits until ok, which something else brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(testTimeout); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("still waiting for: " + what)
		}
	}
}
