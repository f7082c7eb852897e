package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// replies keeps what is written, until the writer ends.
type replies struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *replies) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *replies) Close() error { return nil }

func (r *replies) has(text string) bool { return r.count(text) > 0 }

func (r *replies) count(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Count(r.text.String(), text)
}

// A server that asks for more than there is memory for is not answered, and what it asked
// is counted until it is answered.
func TestRequestsOfServersDrawOnTheMemory(t *testing.T) {
	t.Parallel()
	const size, asked = 1 << 20, 36 // each refusal takes a tenth of a second
	budget := memory.New(memory.MinLimit)
	in, server := io.Pipe()
	var out replies
	var refused atomic.Int64
	s := newLineConn(in, &out, 2*size, budget.Account(""), func(string) { refused.Add(1) })
	let, answered := make(chan struct{}), make(chan struct{}, asked)
	var running atomic.Int64
	s.Attach(&Handler{Budget: budget, Asked: func(*memory.Account, string, json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
		running.Add(1)
		<-let
		answered <- struct{}{}
		return []byte("{}"), nil
	}})
	s.start()
	write := func(message string) {
		if _, err := io.WriteString(server, message+"\n"); err != nil {
			t.Error(err)
		}
	}
	write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"odd","method":"%s"}`, strings.Repeat("x", size)))
	for i := range asked {
		write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list","params":{"x":"%s"}}`, i, strings.Repeat("x", size)))
	}
	write(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	for !out.has(`"last"`) {
		time.Sleep(time.Millisecond)
	}
	said := int(refused.Load()) + out.count("not enough memory for the request")
	for int(running.Load())+said < asked {
		time.Sleep(time.Millisecond)
	}
	n := running.Load()
	if said == 0 || n*size > memory.MinLimit/2 || budget.Held() < n*size {
		t.Errorf("%d requests of 1 MiB are under way, %d are refused, %d bytes are counted", n, said, budget.Held())
	}
	if !out.has(`"id":"odd","error":{"code":-32601,"message":"unknown method with a name of 1048576 bytes"}`) {
		t.Error("a long method is not refused")
	}
	close(let)
	for range n {
		<-answered
	}
	server.Close()
	<-s.done
	for budget.Held() > 0 { // the last of them are about to return
		time.Sleep(time.Millisecond)
	}
}
