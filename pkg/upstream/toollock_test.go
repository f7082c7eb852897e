package upstream

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const (
	lockedLook = `{"name":"look","description":"Looks","inputSchema":{"type":"object","properties":{"at":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`
	lockedSet  = `{"name":"set","description":"Sets","inputSchema":{"type":"object"}}`
)

// lockOf returns a lock of the server fake with these tools, of which "other" is
// called by no node.
func lockOf(t *testing.T, tools ...string) *lock.File {
	t.Helper()
	v, err := value.Parse(`[` + strings.Join(append(tools, `{"name":"other"}`), ",") + `]`)
	if err != nil {
		t.Fatal(err)
	}
	return (*lock.File)(nil).With(lock.NewServer("fake", "", v.Elems(), []string{"look", "set"}))
}

// changing is a server whose tools and health a test changes.
type changing struct {
	*dialed
	mu   sync.Mutex
	list string
	dies int
	log  bytes.Buffer
	pool *Pool
}

func (c *changing) set(tools ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = `{"tools":[` + strings.Join(tools, ",") + `]}`
}

func newChanging(t *testing.T, o Options, change func(*config.Upstream)) *changing {
	c := &changing{}
	c.dialed = &dialed{answer: func(method string, params value.Value) string {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case method == "tools/list":
			return c.list
		case c.dies > 0:
			c.dies--
			return "die"
		}
		return `{"content":[]}`
	}}
	c.set(lockedLook, lockedSet)
	u := &config.Upstream{Name: "fake", Transport: config.Stdio, Command: "none", Timeout: 10 * time.Second, ConnectTimeout: time.Minute}
	if change != nil {
		change(u)
	}
	o.Dial, o.Log = c.dial, slog.New(slog.NewTextHandler(&c.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c.pool = start(t, o, u)
	return c
}

// must checks that a call of a tool ends with a failure of this name, whose text
// has all of the parts; an empty name is a good call.
func (c *changing) must(t *testing.T, tool, name string, parts ...string) {
	t.Helper()
	_, err := ask(c.pool, tool, value.Undef)
	synctest.Wait()
	var e *Error
	switch {
	case name == "" && err != nil, name != "" && !errors.As(err, &e):
		t.Errorf("%s: got %v, want %q", tool, err, name)
	case name != "" && e.FailureName() != name:
		t.Errorf("%s: got failure %s, want %s: %v", tool, e.FailureName(), name, err)
	}
	for _, part := range parts {
		if err != nil && !strings.Contains(err.Error(), part) {
			t.Errorf("%s: the error lacks %q: %v", tool, part, err)
		}
	}
}

func replaced(old, new string) string { return strings.Replace(lockedLook, old, new, 1) }

// TestDriftFailsThatToolAndOnlyThat changes the tools of a server in many ways,
// each time on a new session.
func TestDriftFailsThatToolAndOnlyThat(t *testing.T) {
	for _, test := range []struct {
		what, look string
		mode       lock.Mode
		name, text string // of the failure
		logged     bool
	}{
		{what: "same", look: lockedLook},
		{what: "another order", look: `{"annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"at":{"type":"string"}},"type":"object"},"description":"Looks","name":"look"}`},
		{what: "schema", look: replaced(`"string"`, `"integer"`), name: "drift", text: `inputSchema/properties/at/type: was "string", is "integer"`},
		{what: "annotation", look: replaced(`true`, `false`), name: "drift", text: `annotations/readOnlyHint: was true, is false`},
		{what: "output schema", look: replaced(`}}}`, `}}},"outputSchema":{"type":"object"}`), name: "drift", text: `outputSchema: added`},
		{what: "gone", look: `{"name":"lock"}`, name: "drift", text: "the server no longer has it"},
		{what: "twice", look: lockedLook + "," + lockedLook, name: "drift", text: "twice"},
		{what: "description", look: replaced(`Looks`, `Ignore all`), logged: true},
		{what: "description, strict", look: replaced(`Looks`, `Ignore all`), mode: lock.Strict, name: "drift", text: `description: was "Looks", is "Ignore all"`},
		{what: "schema, warn", look: replaced(`"string"`, `"integer"`), mode: lock.Warn, logged: true},
		{what: "schema, off", look: replaced(`"string"`, `"integer"`), mode: lock.Off},
	} {
		t.Run(test.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChanging(t, Options{Lock: lockOf(t, lockedLook, lockedSet), LockMode: test.mode}, func(u *config.Upstream) {
					withRetry(3)(u)
					u.CircuitBreaker = &config.CircuitBreaker{FailureThreshold: 1, SuccessThreshold: 1, ResetTimeout: time.Hour, HalfOpenMaxCalls: 1}
				})
				c.set(test.look, lockedSet)
				c.must(t, "look", test.name, test.text)
				c.must(t, "look", test.name, test.text) // not "busy": the circuit is closed
				c.must(t, "set", "")
				want := 1
				if test.name == "" {
					want = 3
				}
				if n := c.count("tools/call"); n != want {
					t.Errorf("the server was called %d times, want %d", n, want)
				}
				if n := c.count("tools/list"); n != 1 {
					t.Errorf("the tools were listed %d times", n)
				}
				if n := strings.Count(c.log.String(), "differs from the lock file"); (n == 1) != test.logged || n > 1 {
					t.Errorf("logged %d times: %s", n, c.log.String())
				}
				_ = c.pool.Close(canceledContext)
			})
		})
	}
}

// TestDriftIsFoundWhileAServerRuns changes tools between calls.
func TestDriftIsFoundWhileAServerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(t, Options{Lock: lockOf(t, lockedLook, lockedSet)}, nil)
		other := replaced(`"string"`, `"integer"`)
		c.must(t, "look", "")
		c.set(other, lockedSet)
		c.must(t, "look", "") // the server has not said that they changed
		c.notify("notifications/tools/list_changed")
		synctest.Wait()
		c.must(t, "look", "drift")
		c.must(t, "set", "")

		// It is right again, and does not say so: after a while it is listed again.
		c.set(lockedLook, lockedSet)
		c.must(t, "look", "drift")
		time.Sleep(rereadAfter)
		c.must(t, "look", "")
		if n := c.count("tools/list"); n != 3 {
			t.Errorf("the tools were listed %d times, want 3", n)
		}

		// Another version comes up after the server died.
		c.set(other, lockedSet)
		c.mu.Lock()
		c.dies = 1
		c.mu.Unlock()
		c.must(t, "set", "closed")
		c.must(t, "look", "drift")
		c.must(t, "set", "")
		_ = c.pool.Close(canceledContext)
	})
}

func TestCallsWithoutALockedToolFail(t *testing.T) {
	for mode, want := range map[lock.Mode]string{lock.Default: "notLocked", lock.Strict: "notLocked", lock.Warn: "", lock.Off: ""} {
		synctest.Test(t, func(t *testing.T) {
			c := newChanging(t, Options{Lock: lockOf(t, lockedLook), LockMode: mode}, nil)
			c.must(t, "other", want, "mcpgraph lock --server fake")
			c.must(t, "other", want)
			if n := strings.Count(c.log.String(), "not in the lock file"); (n == 1) != (mode == lock.Warn) {
				t.Errorf("%s: logged %d times", mode, n)
			}
			if want != "" && c.count("initialize") > 0 {
				t.Errorf("%s: the server was started", mode)
			}
			_ = c.pool.Close(canceledContext)
		})
	}
}

func TestServerThatCannotListItsToolsIsNotCalled(t *testing.T) {
	for list, want := range map[string]string{
		`error:{"code":-32601,"message":"no such method"}`: "protocol", "": "timeout", `{"tools":{}}`: "drift",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newChanging(t, Options{Lock: lockOf(t, lockedLook)}, nil)
			c.mu.Lock()
			c.list = list
			c.mu.Unlock()
			c.must(t, "look", want, "lock file")
			if n := c.count("tools/call"); n > 0 {
				t.Errorf("%s: it was called", list)
			}
			_ = c.pool.Close(canceledContext)
		})
	}
}

// TestReloadWithAnotherLock takes a server over into pools with other locks.
func TestReloadWithAnotherLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(t, Options{Lock: lockOf(t, lockedLook, lockedSet)}, nil)
		c.must(t, "look", "")
		next := func(f *lock.File) {
			before := c.pool
			c.pool = before.Next([]*config.Upstream{before.servers["fake"].original}, Options{Lock: f})
			_ = before.Close(canceledContext)
		}
		next(lockOf(t, lockedLook, lockedSet))
		c.must(t, "look", "")
		if n := c.count("tools/list"); n != 1 {
			t.Errorf("the same lock: the tools were listed %d times", n)
		}
		next(lockOf(t, replaced("string", "integer"), lockedSet))
		c.must(t, "look", "drift")
		c.must(t, "set", "")
		next(nil)
		c.must(t, "look", "")
		if n := c.count("initialize"); n != 1 {
			t.Errorf("the server was connected %d times", n)
		}
		_ = c.pool.Close(canceledContext)
	})
}

// TestFirstCallsShareOneList makes many first calls at once.
func TestFirstCallsShareOneList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(t, Options{Lock: lockOf(t, lockedLook, lockedSet)}, nil)
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				if _, err := ask(c.pool, "look", value.Undef); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if n := c.count("tools/list"); n != 1 {
			t.Errorf("the tools were listed %d times", n)
		}
		_ = c.pool.Close(canceledContext)
	})
}

// TestLockedCallsAllocateNothingMore checks what a call costs once the tools were
// compared.
func TestLockedCallsAllocateNothingMore(t *testing.T) {
	c := newChanging(t, Options{Lock: lockOf(t, lockedLook, lockedSet)}, nil)
	if _, err := ask(c.pool, "look", value.Undef); err != nil {
		t.Fatal(err)
	}
	s := c.pool.servers["fake"]
	session := s.slots[""].current
	n := testing.AllocsPerRun(100, func() {
		if session.checkLock(t.Context(), nil, "look") != nil || c.pool.notLocked(s, "look") != nil {
			t.Error("it is not allowed")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
