package mcpgraph_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// soakVariable says how many calls the soak makes; `make soak` sets it.
const soakVariable = "MCPGRAPH_SOAK"

// soakPhases is how often the process is measured.
const soakPhases = 10

var soakFile = `version: "1.0"
server: {name: soak, version: "1"}
mcpServers:
  child: {command: %q, env: {` + fakeServer + `: "1"}}
  mortal: {command: %q, env: {` + fakeServer + `: "1"}}
  faulty: {url: %q, retry: {maxAttempts: 2, initialDelayMs: 1}}
tools:
  - {name: own, description: Calls nothing, inputSchema: {type: object, required: [n]}, nodes: [
      {id: entry, type: entry, next: twice}, {id: twice, type: transform, transform: {expr: '{"n": $.entry.n, "twice": 2 * $.entry.n}'}, next: exit}, {id: exit, type: exit}]}
` + soakTool("copies", "child", "echo", `{n: {expr: $.entry.n}}`) +
	soakTool("fails", "child", "fail", `{text: {expr: '"failed " & $.entry.n'}}`) +
	soakTool("talks", "child", "progress", `{count: 3}`) +
	soakTool("waits", "child", "hang", `{}`) +
	soakTool("dies", "mortal", "exit", `{code: 1}`) +
	soakTool("reads", "faulty", mcptest.FaultyRead, `{}`)

func soakTool(name, server, tool, args string) string {
	return "  - {name: " + name + ", description: Calls a server, inputSchema: {type: object}, nodes: [\n" +
		"      {id: entry, type: entry, next: call}, {id: call, type: mcp, server: " + server + ", tool: " + tool + ", args: " + args + ", next: exit}, {id: exit, type: exit}]}\n"
}

// soakCall returns the n-th call: a tool, whether it is cancelled, and what the
// answer has to have in it.
func soakCall(n int) (tool string, cancelled bool, want string) {
	mark := fmt.Sprintf(`"n":%d`, n)
	switch {
	case n%50_000 == 99: // more often, and its server would not be started again so soon
		return "dies", false, `"isError":true`
	case n%20 == 3:
		return "waits", true, ""
	case n%20 == 7:
		return "fails", false, fmt.Sprintf("failed %d", n)
	case n%20 == 11:
		return "talks", false, "done"
	case n%20 == 13:
		return "nobody", false, "unknown tool"
	case n%50 == 17:
		return "reads", false, `"result"`
	case n%4 == 0:
		return "copies", false, mark
	}
	return "own", false, mark + fmt.Sprintf(`,"twice":%d`, 2*n)
}

func soakMessage(id, n int, tool, meta string) string {
	if n%3 > 0 { // the others are answered with one message
		meta += fmt.Sprintf(`,"progressToken":%d`, n)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d},"_meta":{%s}}}`, id, tool, n, strings.TrimPrefix(meta, ","))
}

// TestSoak has clients of every kind make calls of every kind, and measures what
// the process holds when they have gone.
func TestSoak(t *testing.T) {
	total := testscale.Of(500, 2000)
	if text := os.Getenv(soakVariable); text != "" {
		var err error
		if total, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s=%s: %v", soakVariable, text, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	faulty := mcptest.NewFaulty(t)
	engine := mustLoad(t, fmt.Sprintf(soakFile, self, self, faulty.URL), mcpgraph.WithExposedRuns())
	l := loopbackListener(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.ServeHTTP(ctx, l, server.HTTPOptions{}) }()
	s := &soak{t: t, engine: engine, url: "http://" + l.Addr().String() + server.Path, faulty: faulty, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	began := time.Now()
	var first, last soakHoldings
	for phase := range soakPhases {
		s.left.Store(int64(total / soakPhases))
		var all sync.WaitGroup
		for _, client := range []func(){s.stdio, s.stdio, s.session, s.session, s.session, s.modern, s.modern, s.modern} {
			all.Go(client)
		}
		all.Wait()
		s.client.CloseIdleConnections()
		last = s.settled(first)
		if phase == 0 {
			first = last
		}
		t.Logf("%7d calls in %6.1f s: %v", s.made.Load(), time.Since(began).Seconds(), last)
	}
	if last.more(first) {
		t.Errorf("after a tenth of the calls the process held %v, at the end %v", first, last)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// soakHoldings are what a process that leaks has more and more of.
type soakHoldings struct {
	goroutines, descriptors int
	heap                    int64
}

func (h soakHoldings) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %.1f MB of heap", h.goroutines, h.descriptors, float64(h.heap)/(1<<20))
}

// more reports whether there is more than before, but for what comes and goes:
// connections to servers that were called, and what is kept of the last calls.
func (h soakHoldings) more(before soakHoldings) bool {
	return h.goroutines > before.goroutines+10 || h.descriptors > before.descriptors+10 || h.heap > before.heap+(2<<20)
}

// settled measures when clients have gone, which their server may learn later.
func (s *soak) settled(first soakHoldings) (h soakHoldings) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		heap := testscale.Heap()
		open, _ := os.ReadDir("/proc/self/fd") // none where there is no /proc
		next := soakHoldings{runtime.NumGoroutine(), len(open), heap}
		calm := next.goroutines >= h.goroutines && next.descriptors >= h.descriptors && h.goroutines > 0
		h = next
		if time.Now().After(deadline) || calm && (first.goroutines == 0 || !h.more(first)) {
			return h
		}
	}
}

// soak is what the clients share.
type soak struct {
	t      *testing.T
	engine *mcpgraph.Engine
	url    string
	client *http.Client
	faulty *mcptest.Faulty
	left   atomic.Int64 // calls of the phase
	made   atomic.Int64
}

// next returns the number of a call to make; false where the phase is over.
func (s *soak) next() (int, bool) {
	if s.left.Add(-1) < 0 {
		return 0, false
	}
	n := int(s.made.Add(1)) - 1
	if n%200 == 0 {
		s.faulty.Next(mcptest.Reset, mcptest.Good, mcptest.ToolError, mcptest.Garbage)
	}
	return n, true
}

func (s *soak) check(n int, tool, answer, want string) {
	if !strings.Contains(answer, want) || strings.Contains(answer, "goroutine ") {
		s.t.Errorf("call %d of %s: %.500s", n, tool, answer)
	}
}

// soakLife is how many calls a client makes before it goes and comes again.
const soakLife = 100

// stdio is a client on pipes with several calls under way.
func (s *soak) stdio() {
	for over := false; !over && !s.t.Failed(); {
		over = s.stdioOnce()
	}
}

func (s *soak) stdioOnce() (over bool) {
	inR, in := io.Pipe()
	outR, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.engine.ServeStdio(context.Background(), inR, out)
		out.Close()
		ended <- err
	}()
	var mu sync.Mutex
	waiting := map[string]chan string{} // by id
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for lines := bufio.NewReader(outR); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			_, id, _ := strings.Cut(line, `"id":`)
			id, _, _ = strings.Cut(id, ",")
			mu.Lock()
			if answer := waiting[id]; answer != nil && !strings.Contains(line, `"method"`) {
				delete(waiting, id)
				answer <- line
			}
			mu.Unlock()
		}
	}()
	ask := func(id int, message string) string {
		answer := make(chan string, 1)
		mu.Lock()
		waiting[strconv.Itoa(id)] = answer
		mu.Unlock()
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			return err.Error()
		}
		select {
		case line := <-answer:
			return line
		case <-time.After(time.Minute):
			return "no answer"
		}
	}
	s.check(-1, "initialize", ask(0, costHello), `"result"`)
	var workers sync.WaitGroup
	var left atomic.Int64
	left.Store(soakLife)
	for range 8 {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				n, ok := s.next()
				if !ok {
					left.Store(-1)
					return
				}
				tool, cancelled, want := soakCall(n)
				if cancelled {
					if _, err := fmt.Fprintf(in, "%s\n"+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", soakMessage(n+1, n, tool, ""), n+1); err != nil {
						s.t.Error(err)
					}
					continue
				}
				s.check(n, tool, ask(n+1, soakMessage(n+1, n, tool, "")), want)
			}
		})
	}
	workers.Wait()
	in.Close()
	<-gone
	if err := <-ended; err != nil {
		s.t.Error(err)
	}
	return s.left.Load() <= 0
}

// post sends a message over HTTP.
func (s *soak) post(ctx context.Context, message string, headers ...string) (http.Header, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(message))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for ; len(headers) > 0; headers = headers[2:] {
		r.Header.Set(headers[0], headers[1])
	}
	response, err := s.client.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	return response.Header, body.String(), err
}

// call makes one call over HTTP, which may have to be cancelled: by its session
// or, if there is none, by going away.
func (s *soak) call(n int, meta string, headers []string, cancel func()) {
	tool, cancelled, want := soakCall(n)
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	answered := make(chan struct{})
	if cancelled {
		if cancel == nil {
			cancel = leave
		}
		go func() {
			// The call has to have begun: what says so comes with no answer.
			for tick := time.NewTicker(5 * time.Millisecond); ; {
				select {
				case <-answered:
					tick.Stop()
					return
				case <-tick.C:
					cancel()
				}
			}
		}()
	}
	if meta != "" {
		headers = append(headers[:len(headers):len(headers)], "Mcp-Method", "tools/call", "Mcp-Name", tool)
	}
	_, answer, err := s.post(ctx, soakMessage(n+1, n, tool, meta), headers...)
	close(answered)
	switch {
	case cancelled && err == nil:
		if strings.Contains(answer, `"result"`) || strings.Contains(answer, `"error"`) {
			s.t.Errorf("call %d of %s was cancelled, and answered: %.500s", n, tool, answer)
		}
	case !cancelled && err != nil:
		s.t.Errorf("call %d of %s: %v", n, tool, err)
	case !cancelled:
		s.check(n, tool, answer, want)
	}
}

// modern is a client of revision 2026-07-28.
func (s *soak) modern() {
	meta := "," + strings.TrimSuffix(strings.TrimPrefix(costModern, `,"_meta":{`), "}")
	for {
		n, ok := s.next()
		if !ok || s.t.Failed() {
			return
		}
		s.call(n, meta, []string{"Mcp-Protocol-Version", "2026-07-28"}, nil)
		if n%soakLife == 0 {
			s.client.CloseIdleConnections()
		}
	}
}

// session is a client of revision 2025-11-25.
func (s *soak) session() {
	for !s.t.Failed() && s.left.Load() > 0 {
		header, answer, err := s.post(context.Background(), costHello)
		if err != nil {
			s.t.Error(err)
			return
		}
		s.check(-1, "initialize", answer, `"result"`)
		headers := []string{"Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", header.Get("Mcp-Session-Id")}
		for range soakLife {
			n, ok := s.next()
			if !ok {
				break
			}
			s.call(n, "", headers, func() {
				_, _, _ = s.post(context.Background(), fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n+1), headers...)
			})
		}
		r, err := http.NewRequest(http.MethodDelete, s.url, nil)
		if err != nil {
			s.t.Error(err)
			return
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		response, err := s.client.Do(r)
		if err != nil {
			s.t.Error(err)
			return
		}
		response.Body.Close()
	}
}
