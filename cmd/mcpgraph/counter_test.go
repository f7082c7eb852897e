package main

import (
	"bufio"
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// The tools of a counter.
const (
	repeatable = "set"  // marked idempotentHint
	single     = "once" // may not be repeated
)

// counter is an upstream server that counts calls and their idempotency keys.
type counter struct {
	url string

	mu          sync.Mutex
	keys        map[callOfRun][]string // of each call that has arrived
	peers       map[string]bool        // workers that made calls
	count       int                    // calls that have been answered
	first, last time.Time              // the first arrival, the last answer
}

type callOfRun struct{ run, n int }

// newCounter starts one whose calls take so long.
func newCounter(t *testing.T, pause time.Duration) *counter {
	c := &counter{peers: map[string]bool{}}
	c.forget()
	s := server.NewMCPServer("counter", "1")
	for _, tool := range []mcp.Tool{mcp.NewTool(repeatable, mcp.WithIdempotentHintAnnotation(true)), mcp.NewTool(single)} {
		s.AddTool(tool, func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			n := r.GetInt("n", 0)
			key := ""
			if m := r.Params.Meta; m != nil {
				key, _ = m.AdditionalFields["mcpgraph/idempotencyKey"].(string)
			}
			c.arrive(callOfRun{r.GetInt("run", 0), n}, key, r.Header.Get("Worker"))
			time.Sleep(pause)
			c.answered()
			return mcp.NewToolResultText(strconv.Itoa(n)), nil
		})
	}
	listener := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(listener.Close)
	c.url = listener.URL + "/mcp"
	return c
}

func (c *counter) arrive(call callOfRun, key, worker string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keys) == 0 {
		c.first = time.Now()
	}
	c.keys[call] = append(c.keys[call], key)
	c.peers[worker] = true
}

func (c *counter) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	c.last = time.Now()
}

// forget makes it count from 0.
func (c *counter) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys, c.count = map[callOfRun][]string{}, 0
}

// workers returns how many workers have made calls.
func (c *counter) workers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.peers)
}

// peer returns a worker that has made calls.
func (c *counter) peer() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.peers {
		return name
	}
	return ""
}

// rate returns how many calls a second it has answered.
func (c *counter) rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(c.count) / c.last.Sub(c.first).Seconds()
}

// sums says what became of the calls of some runs.
type sums struct{ lost, repeated, unknown int }

// check compares the results of runs with the calls that have arrived. A call has the
// same key each time, and no other call has it.
func (c *counter) check(t *testing.T, results [][]any, calls int) (s sums) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	owners := map[string]callOfRun{}
	for call, keys := range c.keys {
		for _, key := range keys {
			if owner, ok := owners[key]; key == "" || ok && owner != call || key != keys[0] {
				t.Errorf("call %v has the keys %q; %v has the first, too", call, keys, owner)
			}
			owners[key] = call
		}
	}
	for run, items := range results {
		if len(items) != calls {
			t.Errorf("run %d has %d results", run, len(items))
		}
		for n := 1; n <= calls; n++ {
			made := len(c.keys[callOfRun{run, n}])
			switch {
			case n > len(items):
				s.lost++
			case items[n-1] == "unknown":
				s.unknown++
			case items[n-1] != float64(n) || made == 0:
				t.Errorf("run %d has %v for call %d, which was made %d times", run, items[n-1], n, made)
				s.lost++
			}
			if made > 1 {
				s.repeated++
			}
		}
	}
	return s
}

// temporalServer returns the address of the Temporal server that MCPGRAPH_TEMPORAL
// names. Without it, it builds the one of testdata/temporalserver and starts it.
func temporalServer(t *testing.T) string {
	t.Helper()
	if os.Getenv(chaosVariable) == "" {
		t.Skip(chaosVariable + " is not set")
	}
	if address := os.Getenv("MCPGRAPH_TEMPORAL"); address != "" {
		return address
	}
	program := filepath.Join(t.TempDir(), "temporalserver")
	build := exec.Command("go", "build", "-C", "../../testdata/temporalserver", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var said bytes.Buffer
	for range 3 { // another process can take one of its ports before it does
		cmd := exec.Command(program)
		cmd.Stderr = &said
		in, out := mcptest.Pipes(t, cmd)
		address, err := bufio.NewReader(out).ReadString('\n')
		if err == nil {
			t.Cleanup(func() {
				in.Close()
				_ = cmd.Wait()
			})
			return strings.TrimSpace(address)
		}
		_ = cmd.Wait()
	}
	t.Fatalf("the Temporal server does not start:\n%s", &said)
	return ""
}
