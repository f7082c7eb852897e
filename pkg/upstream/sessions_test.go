package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// refuseAs refuses sessions that do not exist with a JSON-RPC error.
func refuseAs(status, code int, message string) func(http.ResponseWriter, json.RawMessage) {
	return func(w http.ResponseWriter, id json.RawMessage) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
	}
}

// However a server says that it has forgotten the session, one session is
// opened for all calls that wait, on the HTTP client that is there.
func TestForgottenSessionIsOpenedOnceForAllCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		refuse func(http.ResponseWriter, json.RawMessage)
	}{
		{"404", nil},
		{"404 with an error", refuseAs(404, -32001, "Session not found")},
		{"-32600", refuseAs(200, -32600, "session terminated")},
		{"-32000", refuseAs(400, -32000, "Bad Request: No valid session ID provided")},
	} {
		t.Run(c.name, func(t *testing.T) {
			// What comes as a proper answer may have been written by a tool.
			w := &mcptest.Web{Refuse: c.refuse, Script: mcptest.Script{ReadOnly: []string{"echo"}}}
			p := start(t, Options{}, web(t, config.HTTP, w))
			mustCall(t, p, "echo", `{}`)
			if n := w.Sessions(); n != 1 {
				t.Fatalf("%d sessions for the first call", n)
			}
			w.Forget()
			var wait sync.WaitGroup
			for i := range 100 {
				wait.Go(func() {
					a, _ := value.Parse(fmt.Sprintf(`{"n":%d}`, i))
					r, err := p.CallTool(context.Background(), nil, "fake", "echo", a)
					if err != nil || !value.Equal(r.Value.Get("structuredContent"), a) {
						t.Errorf("call %d: %s, %v", i, r.Value.JSON(), err)
					}
				})
			}
			wait.Wait()
			if n := p.servers["fake"].clients.Load(); n != 1 {
				t.Errorf("%d HTTP clients", n)
			}
			if n := w.Sessions(); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestServerThatForgetsEverySessionIsAskedTwice(t *testing.T) {
	w := &mcptest.Web{}
	var forgetful http.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("tools/call")) {
			w.Forget()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.ServeHTTP(rw, r)
	})
	p := start(t, Options{}, web(t, config.HTTP, forgetful))
	if e := mustFail(t, p, "echo", `{}`); !strings.Contains(e.Error(), "HTTP 404") {
		t.Error(e)
	}
	if n := len(w.Arrivals("tools/call")); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestErrorsThatAreNotAboutTheSessionDoNotOpenAnother(t *testing.T) {
	w := &mcptest.Web{}
	p := start(t, Options{}, web(t, config.HTTP, w))
	mustFail(t, p, "rpcerror", `{"code":-32000,"message":"the disk is full"}`)
	mustFail(t, p, "rpcerror", `{"code":-32050,"message":"the session of parliament was not found"}`)
	if n := w.Sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// A process whose server forgets its session is not started again.
func TestForgottenSessionOverStdioIsOpenedOnTheSameProcess(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}))
	before := mustCall(t, p, "process", `{}`).Get("structuredContent").Get("pid").Float()
	mustFail(t, p, "rpcerror", `{"code":-32600,"message":"session terminated"}`)
	if after := mustCall(t, p, "process", `{}`).Get("structuredContent").Get("pid").Float(); after != before {
		t.Errorf("process %v, then %v", before, after)
	}
	if n := p.servers["fake"].opened.Load(); n != 2 {
		t.Errorf("%d sessions were opened", n)
	}
}

func TestSessionIsResumedAfterARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sessions.json")
	w := &mcptest.Web{}
	u := web(t, config.HTTP, w, func(u *config.Upstream) { u.Session = &config.Session{Store: "file", Path: file} })
	for range 3 {
		p := New([]*config.Upstream{u}, Options{})
		mustCall(t, p, "echo", `{}`)
		if err := p.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.Sessions(); n != 1 {
		t.Errorf("%d sessions for three runs", n)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	w.Forget()
	p := start(t, Options{}, u)
	mustCall(t, p, "echo", `{}`)
	if n := w.Sessions(); n != 2 {
		t.Errorf("%d sessions after it was forgotten", n)
	}

	// A session is for the server that gave it.
	other := &mcptest.Web{}
	moved := web(t, config.HTTP, other, func(v *config.Upstream) { v.Session = u.Session })
	mustCall(t, start(t, Options{}, moved), "echo", `{}`)
	for _, a := range other.Arrivals("initialize") {
		if a.Header.Get("Mcp-Session-Id") != "" {
			t.Error("it got the session of another server")
		}
	}
	if other.Sessions() != 1 {
		t.Error("no session was opened")
	}
}

// memoryStore is a store that a program brings along.
type memoryStore struct {
	mu       sync.Mutex
	sessions map[SessionKey]SavedSession
	err      error
}

func (m *memoryStore) Load(_ context.Context, key SessionKey) (SavedSession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[key], m.err
}

func (m *memoryStore) Save(_ context.Context, key SessionKey, s SavedSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[key] = s
	return m.err
}

func (m *memoryStore) Delete(_ context.Context, key SessionKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, key)
	return m.err
}

func TestProgramsBringTheirOwnSessionStore(t *testing.T) {
	w := &mcptest.Web{}
	u := web(t, config.HTTP, w, func(u *config.Upstream) {
		u.ForwardHeaders = []config.Forward{{From: "X-User", To: "X-User"}}
	})
	store := &memoryStore{sessions: map[SessionKey]SavedSession{}}
	for range 2 {
		p := New([]*config.Upstream{u}, Options{SessionStore: store})
		for _, user := range []string{"ada", "bob"} {
			ctx := withInfo(context.Background(), &callinfo.Info{Header: http.Header{"X-User": {user}}})
			if _, err := p.CallTool(ctx, nil, "fake", "echo", value.Undef); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if w.Sessions() != 2 || len(store.sessions) != 2 {
		t.Errorf("%d sessions, %d saved", w.Sessions(), len(store.sessions))
	}
	users := map[string]string{}
	for _, a := range w.Arrivals("tools/call") {
		id, user := a.Header.Get("Mcp-Session-Id"), a.Header.Get("X-User")
		if users[id] == "" {
			users[id] = user
		}
		if users[id] != user {
			t.Errorf("session %s carried %s and %s", id, users[id], user)
		}
	}
	// A store that fails is no reason to fail a call.
	store.err = errors.New("the store is broken")
	var log logBuffer
	mustCall(t, start(t, Options{SessionStore: store, Log: log.logger()}, web(t, config.HTTP, w)), "echo", `{}`)
	if !strings.Contains(log.String(), "the store is broken") {
		t.Error("nothing was logged")
	}
}

func TestFileOfSessionsIsSharedByServersAndBounded(t *testing.T) {
	t.Parallel()
	f := fileStore{filepath.Join(t.TempDir(), "s.json")}
	ctx := context.Background()
	all := savedFile{}
	for i := range maxSaved {
		name := fmt.Sprint("s", i%7)
		if all[name] == nil {
			all[name] = map[string]SavedSession{}
		}
		all[name][fmt.Sprint(i)] = SavedSession{ID: fmt.Sprint(i), Saved: time.Unix(int64(i), 0)}
	}
	text, _ := json.Marshal(all)
	if err := f.write(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(ctx, SessionKey{"new", "c"}, SavedSession{ID: "x", Saved: time.Unix(1e6, 0)}); err != nil {
		t.Fatal(err)
	}
	if s, _ := f.Load(ctx, SessionKey{"s0", "0"}); s.ID != "" {
		t.Error("the oldest is still there")
	}
	if s, _ := f.Load(ctx, SessionKey{"s1", "1"}); s.ID != "1" {
		t.Error("another than the oldest has gone")
	}
	if err := f.Delete(ctx, SessionKey{"new", "c"}); err != nil {
		t.Fatal(err)
	}
	if s, _ := f.Load(ctx, SessionKey{"new", "c"}); s.ID != "" {
		t.Error("deleted and still there")
	}
}

// A file that cannot be read is said, put aside and replaced.
func TestCorruptFileOfSessionsIsReplaced(t *testing.T) {
	for _, broken := range []string{"{broken", "", "null", "[]", `{"fake":{"":{"id":7}}}`, "mcpServers: {}"} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "sessions.json")
			if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
			w := &mcptest.Web{}
			u := web(t, config.HTTP, w, func(u *config.Upstream) { u.Session = &config.Session{Store: "file", Path: path} })
			var log logBuffer
			for range 2 {
				p := New([]*config.Upstream{u}, Options{Log: log.logger()})
				mustCall(t, p, "echo", `{}`)
				_ = p.Close(context.Background())
			}
			if n := w.Sessions(); n != 1 {
				t.Errorf("%d sessions for two runs", n)
			}
			if n := strings.Count(log.String(), "is not a file of sessions; it is renamed to sessions.json.corrupt and replaced"); n != 1 {
				t.Errorf("said %d times: %s", n, log.String())
			}
			if kept, err := os.ReadFile(path + ".corrupt"); err != nil || string(kept) != broken {
				t.Errorf("kept %q, %v", kept, err)
			}
			if s, err := (fileStore{path}).Load(context.Background(), SessionKey{Server: "fake"}); err != nil || s.ID == "" {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestSessionsOfCallersThatAreGoneAreEnded(t *testing.T) {
	s := newServer(&config.Upstream{Name: "fake"}, Options{Log: (&logBuffer{}).logger()})
	now := time.Now()
	for id, slot := range map[credential.Identity]*sessionSlot{
		"":       {usedAt: now.Add(-time.Hour)},
		"gone":   {usedAt: now.Add(-2 * idleTime)},
		"busy":   {usedAt: now.Add(-2 * idleTime), inUse: 1},
		"recent": {usedAt: now.Add(-idleTime / 2)},
	} {
		slot.server = s.mcpServer
		s.slots[id] = slot
	}
	if _, err := s.acquireSlot(&Call{As: &Credential{Identity: "new"}}); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[credential.Identity]bool{"": true, "gone": false, "busy": true, "recent": true, "new": true} {
		if _, ok := s.slots[id]; ok != want {
			t.Errorf("%q is kept: %v", id, ok)
		}
	}
}

func TestIdleSessionsOfManyCallersAreEnded(t *testing.T) {
	t.Parallel()
	w := &mcptest.Web{}
	p := start(t, Options{}, web(t, config.HTTP, w, func(u *config.Upstream) {
		u.ForwardHeaders = []config.Forward{{From: "X-User", To: "X-User"}}
	}))
	p.servers["fake"].maxSlots = 100
	for i := range 120 {
		ctx := withInfo(context.Background(), &callinfo.Info{Header: http.Header{"X-User": {fmt.Sprint(i)}}})
		if _, err := p.CallTool(ctx, nil, "fake", "echo", value.Undef); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.servers["fake"].slots); n != 100 {
		t.Errorf("%d sessions are kept", n)
	}
	eventually(t, "20 sessions to be ended", func() bool {
		n := 0
		for _, a := range w.Arrivals("") {
			if a.HTTPMethod == http.MethodDelete {
				n++
			}
		}
		return n == 20
	})
}
