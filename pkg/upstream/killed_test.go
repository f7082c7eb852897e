package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// serverVariable makes the test binary a server of a script at an address.
const serverVariable = "UPSTREAM_TEST_SERVER"

// servedScript is what serverVariable holds, as JSON.
type servedScript struct {
	Way, Address string
	Script       mcptest.Script
}

// serveScript is the main function of such a server.
func serveScript(text string) int {
	var s servedScript
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	handlers := map[string]http.Handler{
		"http":       &mcptest.Web{Script: s.Script},
		"2026-07-28": &mcptest.Web{Script: s.Script, Modern: true},
		"sse":        &sseServer{script: s.Script},
		"websocket":  socketServer(s.Script),
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(s.Address, handlers[s.Way]))
	return 1
}

// served is a server in a process of its own.
type served struct {
	t   *testing.T
	env string
	url string
	cmd *exec.Cmd
}

// newServed starts a server that serves the script in one of the ways.
func newServed(t *testing.T, way string, script mcptest.Script) *served {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	text, err := json.Marshal(servedScript{way, address, script})
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, env: serverVariable + "=" + string(text), url: "http://" + address + "/mcp"}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *served) start() {
	s.t.Helper()
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append(os.Environ(), s.env)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
	eventually(s.t, "the server to listen", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

func (s *served) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// A server that is killed while it works and comes back loses no call of a tool
// that only reads, whatever the transport.
func TestKilledServerLosesNoCallOfAReadOnlyTool(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	script := mcptest.Script{ReadOnly: []string{"echo"}}
	transports := map[string]string{"http": config.HTTP, "2026-07-28": config.HTTP, "sse": config.SSE, "websocket": config.WebSocket, "stdio": config.Stdio}
	for way, transport := range transports {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			u := child(script)
			kill := func(p *Pool) {
				if process, err := os.FindProcess(pid(t, p, "process")); err == nil {
					_ = process.Kill()
				}
			}
			if transport != config.Stdio {
				s := newServed(t, way, script)
				u.Transport, u.URL = transport, s.url
				if transport == config.WebSocket {
					u.URL = strings.Replace(u.URL, "http", "ws", 1)
				}
				kill = func(*Pool) {
					s.kill()
					time.Sleep(time.Second)
					s.start()
				}
			}
			u.Retry = &config.Retry{MaxAttempts: 60, InitialDelay: 100 * time.Millisecond, MaxDelay: time.Second, Backoff: 1}
			p := start(t, Options{}, u)
			mustCall(t, p, "echo", `{}`)
			var done, again atomic.Int64
			stop := make(chan struct{})
			var wait sync.WaitGroup
			for caller := range 6 {
				wait.Go(func() {
					for n := 0; ; n++ {
						select {
						case <-stop:
							return
						default:
						}
						a := mustParse(t, fmt.Sprintf(`{"tag":"%d-%d","ms":20}`, caller, n))
						r, err := p.CallTool(context.Background(), nil, "fake", "echo", a)
						if err != nil || !value.Equal(r.Value.Get("structuredContent"), a) {
							t.Errorf("%s was lost: %s, %v", a.JSON(), r.Value.JSON(), err)
						}
						done.Add(1)
						if r.Sent > 1 {
							again.Add(1)
						}
					}
				})
			}
			enough := func(n int64) {
				from := done.Load()
				eventually(t, "calls", func() bool { return done.Load() >= from+n })
			}
			enough(30)
			for range 2 {
				kill(p)
				enough(30)
			}
			close(stop)
			wait.Wait()
			if again.Load() == 0 {
				t.Error("no call was under way when the server was killed")
			}
			t.Logf("%d calls, %d of them after more than one attempt, none lost", done.Load(), again.Load())
		})
	}
}
