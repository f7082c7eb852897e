package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// hearing is how a session hears what its server says unasked.
type hearing struct {
	listens  <-chan struct{}      // closed once the server can speak on a stream of its own; nil where there is none
	level    atomic.Int32         // index of the lowest level of log messages asked for so far, from 1
	setting  chan struct{}        // held while the level is set
	messages chan json.RawMessage // log messages on their way to our log
	gone     []departed           // guarded by session.mu, in the order in which they ended
}

// hearer is who hears what a server says while it works on a call of the tool.
type hearer struct {
	*Listener // nil where nobody listens
	tool      string
}

// wantsLog reports whether log messages of some level are wanted.
func (h hearer) wantsLog() bool {
	return h.tool != "" && h.Listener != nil && h.Notify != nil && slices.Contains(logLevels, h.LogLevel)
}

// departed is a call that is over and whose log messages may still come, because
// the server can send them on another stream than the answer and nothing orders
// the two. Servers made with the TypeScript SDK do.
type departed struct {
	hearer
	at time.Time
}

const (
	// maxMessages is how many log messages wait for a slow log before more of
	// them are dropped.
	maxMessages = 256
	// lateTime is how long log messages are waited for after the end of a call,
	// and maxGone for how many calls: each hears what its session hears.
	lateTime = 2 * time.Second
	maxGone  = 64
)

func newHearing() hearing {
	return hearing{setting: make(chan struct{}, 1), messages: make(chan json.RawMessage, maxMessages)}
}

// left is called at the end of a request, with the session locked.
func (h *hearing) left(f *flight) {
	if h.listens == nil || !f.wantsLog() {
		return
	}
	if len(h.gone) == maxGone {
		h.gone = slices.Delete(h.gone, 0, 1)
	}
	h.gone = append(h.gone, departed{f.hearer, time.Now()})
}

// notified takes a notification. It runs on the reading goroutine and must not
// block.
func (s *session) notified(origin, method string, params json.RawMessage) {
	switch method {
	case MethodProgress:
		progress, _ := value.ParseStrict(string(params)) // undefined where it is no such JSON
		token := progress.Get("progressToken").Str()     // another token than a string is none of ours
		s.mu.Lock()
		f := s.calls[token]
		s.mu.Unlock()
		if f == nil {
			return
		}
		f.alive()
		if f.Listener != nil && f.Notify != nil {
			if v, ok := s.heardText(params); ok {
				s.tell(f.hearer, method, v)
			}
		}
	case MethodMessage:
		select {
		case s.messages <- params:
		default:
		}
		if all := s.concerned(origin); len(all) > 0 {
			s.tellLog(all, params)
		}
	case string(mcp.MethodNotificationToolsListChanged):
		s.directory.Store(nil)
		s.server.toolsChanged()
	}
}

// concerned returns who hears a log message: of the request that it came with,
// else of each that it may be about. Each listener hears it once.
func (s *session) concerned(origin string) []hearer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.calls[origin]; f != nil {
		if f.wantsLog() {
			return []hearer{f.hearer}
		}
		return nil
	}
	var all []hearer
	among := func(h hearer) int {
		return slices.IndexFunc(all, func(other hearer) bool { return other.Listener == h.Listener })
	}
	for _, f := range s.calls {
		if !f.wantsLog() {
			continue
		}
		if i := among(f.hearer); i < 0 {
			all = append(all, f.hearer)
		} else if all[i].tool != f.tool {
			all[i].tool = "" // it may be about either
		}
	}
	for _, d := range slices.Backward(s.gone) {
		if time.Since(d.at) > lateTime {
			break
		}
		if among(d.hearer) < 0 {
			all = append(all, d.hearer)
		}
	}
	return all
}

// tellLog passes a log message on to those who want its level.
func (s *session) tellLog(all []hearer, params json.RawMessage) {
	v, ok := s.heardText(params)
	if !ok {
		return
	}
	level := slices.Index(logLevels, v.Get("level").Str())
	for _, h := range all {
		if level >= slices.Index(logLevels, h.LogLevel) {
			s.tell(h, MethodMessage, v)
		}
	}
}

// heardText reads the params of a notification, without secrets.
func (s *session) heardText(params json.RawMessage) (value.Value, bool) {
	v, err := value.Parse(s.link.seen().redact.text(string(params)))
	return v, err == nil
}

func (s *session) tell(h hearer, method string, params value.Value) {
	h.Notify(Notification{Server: s.server.entry.Name, Tool: h.tool, Method: method, Params: params})
}

// logMessages logs what the server sends as log messages, until the session is
// over.
func (s *session) logMessages() {
	d := s.link.seen()
	for {
		select {
		case m := <-s.messages:
			d.log.Debug("message of the server", "message", d.redact.text(string(m)))
		case <-s.link.over():
			s.kill(errOver)
			return
		case <-s.life.Done():
			return
		}
	}
}

// setLevel asks a server of an older revision for the log messages that the
// caller wants, unless it was asked for as many before.
func (s *session) setLevel(ctx context.Context) error {
	l := listenerOf(ctx)
	if l == nil || !s.peer.logs || s.peer.modern() {
		return nil
	}
	wanted := int32(slices.Index(logLevels, l.LogLevel)) + 1
	enough := func() bool {
		now := s.level.Load()
		return wanted == 0 || now != 0 && now <= wanted
	}
	if enough() {
		return nil
	}
	select {
	case s.setting <- struct{}{}:
		defer func() { <-s.setting }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if enough() {
		return nil
	}
	s.heard(ctx)
	_, err := s.request(ctx, &outgoing{
		method: string(mcp.MethodSetLogLevel), params: json.RawMessage(`"level":"` + l.LogLevel + `"`),
	}, s.server.entry.Timeout)
	var rpc *RPCError
	if errors.As(err, &rpc) {
		err = nil // the call is worth more than its log
	}
	if err == nil {
		s.level.Store(wanted)
	}
	return err
}

// listenTime bounds the wait for a server to let us listen.
const listenTime = 2 * time.Second

// hear makes the server's notifications come where nothing else does, until
// the session ends: over streamable HTTP the server can speak unasked only where
// we listen. Where it may ask us something while it works on a call, it has to
// be able to before the first one.
func (s *session) hear(ctx context.Context) {
	over, ok := s.link.(*httpLink)
	switch {
	case !s.peer.modern() && ok:
		s.listens = over.listen(s.life, s.peer.revision)
		if len(s.server.answers) > 0 {
			s.heard(ctx)
		}
	case s.peer.modern() && s.peer.listChanged:
		go s.subscribe()
	}
}

// heard waits until the server can speak unasked, where it does so on a stream
// of its own. What it says before that is lost.
func (s *session) heard(ctx context.Context) {
	if s.listens == nil || isClosed(s.listens) {
		return
	}
	timer := time.NewTimer(listenTime)
	defer timer.Stop()
	select {
	case <-s.listens:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// subscribe holds a subscription to changes of the list of tools (MCP of
// 2026-07-28, subscriptions/listen) and renews it when it ends.
func (s *session) subscribe() {
	params := json.RawMessage(`"notifications":{"toolsListChanged":true}`)
	var pause pause
	for {
		_, err := s.request(s.life, &outgoing{method: string(mcp.MethodSubscriptionsListen), params: params}, 0)
		var rpc *RPCError
		if s.life.Err() != nil || isClosed(s.link.over()) || errors.As(err, &rpc) {
			return // it will not have us
		}
		if !pause.wait(s.life, 0) {
			return
		}
	}
}
