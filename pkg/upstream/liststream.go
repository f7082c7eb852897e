package upstream

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// changingLists returns the lists whose changes the server announces, as
// subscriptions/listen names them.
func (p *peer) changingLists() (lists []string) {
	for name, changes := range map[string]bool{
		"toolsListChanged": p.listChanged, "promptsListChanged": p.has(promptsChange), "resourcesListChanged": p.has(resourcesChange),
	} {
		if changes {
			lists = append(lists, `"`+name+`":true`)
		}
	}
	slices.Sort(lists)
	return lists
}

// listenToLists holds a subscription to changes of lists (MCP of 2026-07-28,
// subscriptions/listen) and renews it when it ends.
func (s *session) listenToLists(lists []string) {
	params := json.RawMessage(`"notifications":{` + strings.Join(lists, ",") + `}`)
	var pause wire.Backoff
	var accepted atomic.Bool // by the server, at least once
	for {
		f := &pendingRequest{touch: func() {}}
		var once sync.Once
		f.acknowledged = func(value.Value) {
			once.Do(func() {
				if accepted.Swap(true) {
					s.missedLists()
				}
			})
		}
		_, err := s.send(s.life, f, &wire.Message{Method: string(mcp.MethodSubscriptionsListen), Params: params}, 0)
		var rpc *RPCError
		switch {
		case s.life.Err() != nil || isClosed(s.link.Done()):
			return
		case errors.As(err, &rpc) && !accepted.Load():
			return // it will not have us
		case isUnknownMethod(err):
			s.missedLists() // it is another version, which does not announce changes
			return
		}
		if !pause.Wait(s.life, 0, wire.Silent) {
			return
		}
	}
}

// missedLists treats the lists whose changes the server announces as changed: what it
// announced while no stream was open is lost.
func (s *session) missedLists() {
	if s.peer.listChanged {
		s.toolHeaders.Store(nil)
		s.server.toolsChanged()
	}
	s.server.listsChanged(ListChange{Prompts: s.peer.has(promptsChange), Resources: s.peer.has(resourcesChange)})
}

// streamResumed is called when the stream of notifications (GET) is open again. There
// may have been changes in between.
func (s *session) streamResumed() {
	s.missedUpdates()
	s.missedLists()
}
