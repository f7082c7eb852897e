package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// balancer is one address in front of processes, which get requests in turn.
type balancer struct {
	*httptest.Server
	next    atomic.Int64
	targets atomic.Pointer[[]*url.URL]
	absent  sync.RWMutex // locked while there is no process; requests wait
}

func newBalancer(t *testing.T, behind ...*web) *balancer {
	b := &balancer{}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, _ error) {
			// go-sdk asks for its stream again after a lost connection, and ends its session
			// after a status.
			if r.Method == http.MethodGet {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
		Rewrite: func(r *httputil.ProxyRequest) {
			all := *b.targets.Load()
			r.SetURL(all[int(b.next.Add(1))%len(all)])
		},
	}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Else a stream whose first event comes at once is cut now and then: the server
		// closes the request's body while the proxy still looks for its end.
		_ = http.NewResponseController(w).EnableFullDuplex()
		b.absent.RLock()
		//lint:ignore SA2001 it waits for a process
		b.absent.RUnlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(b.Close)
	b.use(t, behind...)
	return b
}

func (b *balancer) use(t *testing.T, behind ...*web) {
	var all []*url.URL
	for _, w := range behind {
		u, err := url.Parse(w.base)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
	b.targets.Store(&all)
}

// lasting is a client that has one session, and makes a call in it.
type lasting func(n int) error

// lastingClients are clients of three makers, each with a session of its own.
func lastingClients(t *testing.T, address string) map[string]lasting {
	all := map[string]lasting{}
	ofGo := func(c foreign) lasting {
		return func(n int) error {
			got, failed, err := c.call(context.Background(), "pair", map[string]any{"n": n}, "")
			if want := fmt.Sprintf(`{"n":%d}`, n); err == nil && (failed || got != want) {
				err = fmt.Errorf("got %s, want %s", got, want)
			}
			return err
		}
	}
	all["mcp-go"] = ofGo(connectMCPGo(t, address, legacyRevision, nil, nil, &heard{}))
	all["go-sdk"] = ofGo(connectGoSDK(t, address, legacyRevision, nil, nil, &heard{}))
	bin := mcptest.RealServers(t)
	place, err := json.Marshal(map[string]any{"url": address, "token": foreignToken})
	if err != nil {
		t.Fatal(err)
	}
	for _, generation := range []string{"sdk", "client"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "node"), "testdata/restart.mjs", filepath.Dir(bin), generation, legacyRevision, string(place))
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			_ = cmd.Wait()
		})
		lines := bufio.NewReader(out)
		all["TypeScript "+generation] = func(n int) error {
			if _, err := io.WriteString(in, fmt.Sprintln(n)); err != nil {
				return err
			}
			line, err := lines.ReadString('\n')
			if want := fmt.Sprintf(`{"n":%d,`, n); err == nil && !strings.HasPrefix(line, want) {
				err = fmt.Errorf("got %s", line)
			}
			return err
		}
	}
	return all
}

func TestClientsGoOnAfterARestart(t *testing.T) {
	t.Parallel()
	env := []string{"XDG_STATE_HOME=" + t.TempDir(), "UPSTREAM=http://127.0.0.1:1", "MCPGRAPH_AUTH_TOKENS=foreign " + foreignToken}
	start := func() *web { return serveWeb(t, env, "testdata/foreign.yaml", "--auth", "bearer") }
	now := start()
	front := newBalancer(t, now)
	clients := lastingClients(t, front.URL+"/mcp")
	for round := range 3 {
		for name, call := range clients {
			if err := call(round); err != nil {
				t.Errorf("round %d, %s: %v", round, name, err)
			}
		}
		func() {
			front.absent.Lock()
			defer front.absent.Unlock()
			// Killed once, ended by a signal the other time.
			if round == 0 {
				_ = now.cmd.Process.Kill()
				<-now.done
			} else {
				now.stop()
			}
			now = start()
			front.use(t, now)
		}()
	}
	now.stop()
}

func TestReplicasShareSessions(t *testing.T) {
	t.Parallel()
	var replicas []*web
	for range 2 {
		// Each has a state folder of its own: the key is all that they share.
		env := []string{"XDG_STATE_HOME=" + t.TempDir(), "MCPGRAPH_KEY=0123456789abcdef", "UPSTREAM=http://127.0.0.1:1", "MCPGRAPH_AUTH_TOKENS=foreign " + foreignToken}
		replicas = append(replicas, serveWeb(t, env, "testdata/foreign.yaml", "--auth", "bearer"))
	}
	front := newBalancer(t, replicas...)
	var all sync.WaitGroup
	for name, call := range lastingClients(t, front.URL+"/mcp") {
		all.Go(func() {
			for n := range 20 {
				if err := call(n); err != nil {
					t.Errorf("call %d, %s: %v", n, name, err)
				}
			}
		})
	}
	all.Wait()
	for _, w := range replicas {
		w.stop()
	}
}

// TestRestartsUnderLoad restarts the program while four clients call all the time. Calls
// that meet a restart may fail; afterwards each client goes on in its session.
func TestRestartsUnderLoad(t *testing.T) {
	t.Parallel()
	env := []string{"XDG_STATE_HOME=" + t.TempDir(), "UPSTREAM=http://127.0.0.1:1", "MCPGRAPH_AUTH_TOKENS=foreign " + foreignToken}
	start := func() *web { return serveWeb(t, env, "testdata/foreign.yaml", "--auth", "bearer") }
	now := start()
	front := newBalancer(t, now)
	ctx, cancel := context.WithCancel(t.Context())
	var calling sync.WaitGroup
	clients := lastingClients(t, front.URL+"/mcp")
	for name, call := range clients {
		calling.Go(func() {
			met := 0
			for n := 0; ctx.Err() == nil; n++ {
				if err := call(n); err != nil {
					met++
				}
			}
			t.Logf("%s: %d calls met a restart", name, met)
		})
	}
	for range 5 {
		next := start()
		front.use(t, next)
		_ = now.cmd.Process.Kill()
		<-now.done
		now = next
		time.Sleep(50 * time.Millisecond)
	}
	cancel()
	calling.Wait()
	for name, call := range clients {
		if err := call(1); err != nil {
			t.Errorf("%s does not go on: %v", name, err)
		}
	}
	now.stop()
}
