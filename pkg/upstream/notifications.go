package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// notifications are the messages that a server sends unasked, and their way to
// subscribers.
type notifications struct {
	listening    <-chan struct{}      // closed once the server can speak on a stream of its own; nil if there is none
	level        atomic.Int32         // index of the lowest level of log messages asked for so far, from 1
	settingLevel chan struct{}        // held while the level is set
	logQueue     chan json.RawMessage // log messages on their way to our log
	late         []lateSubscriber     // guarded by session.mu, in the order in which they ended; forgetLate drops them
}

// subscriber takes the notifications that belong to a request.
type subscriber struct {
	*callinfo.Listener        // nil if nobody listens
	tool               string // that is called; empty if it is no tool
	forCaller          bool   // the request is made for a caller
}

// wantsLog reports whether log messages of some level are wanted.
func (h subscriber) wantsLog() bool {
	return h.forCaller && h.Listener != nil && h.Notify != nil && slices.Contains(logLevels, h.LogLevel)
}

// lateSubscriber is a call that is over and whose log messages may still come, because
// the server can send them on another stream than the answer and nothing orders
// the two. Servers made with the TypeScript SDK do.
type lateSubscriber struct {
	subscriber
	at time.Time
}

const (
	// maxQueuedLogs is how many log messages wait for a slow log before more of
	// them are dropped.
	maxQueuedLogs = 256
	// maxQueuedLog is how many bytes of a log message our log shows.
	maxQueuedLog = 64 << 10
	// lateLogTime is how long log messages are waited for after the end of a call,
	// and maxLateSubscribers for how many calls.
	lateLogTime        = 2 * time.Second
	maxLateSubscribers = 64
)

func newNotifications() notifications {
	return notifications{settingLevel: make(chan struct{}, 1), logQueue: make(chan json.RawMessage, maxQueuedLogs)}
}

// requestEnded is called at the end of a request, with the session locked.
func (s *session) requestEnded(f *pendingRequest) {
	if s.listening == nil || !f.wantsLog() {
		return
	}
	if len(s.late) == 0 {
		time.AfterFunc(lateLogTime, s.forgetLate)
	} else if len(s.late) == maxLateSubscribers {
		s.late = slices.Delete(s.late, 0, 1)
	}
	s.late = append(s.late, lateSubscriber{f.subscriber, time.Now()})
}

// forgetLate drops the calls whose log messages nobody waits for any more: a listener
// may keep all of its request alive.
func (s *session) forgetLate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.late) > 0 {
		if left := lateLogTime - time.Since(s.late[0].at); left > 0 {
			time.AfterFunc(left, s.forgetLate)
			return
		}
		s.late = slices.Delete(s.late, 0, 1)
	}
	s.late = nil
}

// handleNotification takes a notification. It runs on the reading goroutine and must not
// block.
func (s *session) handleNotification(origin, method string, params json.RawMessage) {
	switch method {
	case callinfo.MethodProgress:
		progress, _ := value.ParseStrict(string(params)) // undefined if it is no such JSON
		token := progress.Get("progressToken").Str()     // another token than a string is none of ours
		s.mu.Lock()
		f := s.pending[token]
		s.mu.Unlock()
		if f == nil {
			return
		}
		f.touch()
		if f.Listener != nil && f.Notify != nil {
			if v, ok := s.cleanParams(params); ok {
				s.deliver(f.subscriber, method, v)
			}
		}
	case callinfo.MethodMessage:
		s.queueLog(params)
		if all := s.subscribersOf(origin); len(all) > 0 {
			s.deliverLog(all, params)
		}
	case string(mcp.MethodNotificationToolsListChanged):
		s.toolHeaders.Store(nil)
		s.server.toolsChanged()
	case string(mcp.MethodNotificationPromptsListChanged):
		s.server.listsChanged(ListChange{Prompts: true})
	case string(mcp.MethodNotificationResourcesListChanged):
		s.server.listsChanged(ListChange{Resources: true})
	case string(mcp.MethodNotificationResourceUpdated):
		v, _ := value.ParseStrict(string(params)) // undefined if it is no such JSON
		s.resourceUpdated(v.Get("uri").Str())
	case string(mcp.MethodNotificationSubscriptionsAcknowledged):
		v, _ := value.ParseStrict(string(params))
		s.mu.Lock()
		f := s.pending[subscriptionID(v, origin)]
		s.mu.Unlock()
		if f != nil && f.acknowledged != nil {
			f.acknowledged(v.Get("notifications"))
		}
	}
}

// subscriptionID returns the id of the request that a notification of a subscription
// belongs to, which came with the answer to the request origin.
func subscriptionID(params value.Value, origin string) string {
	id := params.Get("_meta").Get(mcp.MetaKeySubscriptionID)
	switch id.Kind() {
	case value.String:
		return id.Str()
	case value.Number:
		return id.JSON()
	}
	return origin
}

// queueLog takes a log message for our log, of a long one only the start.
func (s *session) queueLog(params json.RawMessage) {
	if len(s.logQueue) == cap(s.logQueue) {
		return
	}
	queued := bytes.Clone(params[:min(len(params), maxQueuedLog)]) // not with the whole message behind it
	if n := len(params); n > maxQueuedLog {
		queued = append(queued, fmt.Sprintf("%s%d bytes)", redact.CutMark, n)...)
	}
	select {
	case s.logQueue <- queued:
	default:
	}
}

// subscribersOf returns the subscribers of a log message: that of the request it
// came with, else those of all requests that it may be about, each listener once.
func (s *session) subscribersOf(origin string) []subscriber {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.pending[origin]; f != nil {
		if f.wantsLog() {
			return []subscriber{f.subscriber}
		}
		return nil
	}
	var all []subscriber
	among := func(h subscriber) int {
		return slices.IndexFunc(all, func(other subscriber) bool { return other.Listener == h.Listener })
	}
	for _, f := range s.pending {
		if !f.wantsLog() {
			continue
		}
		if i := among(f.subscriber); i < 0 {
			all = append(all, f.subscriber)
		} else if all[i].tool != f.tool {
			all[i].tool = "" // it may be about either
		}
	}
	for _, d := range slices.Backward(s.late) {
		if among(d.subscriber) < 0 {
			all = append(all, d.subscriber)
		}
	}
	return all
}

// deliverLog passes a log message on to those who want its level.
func (s *session) deliverLog(all []subscriber, params json.RawMessage) {
	v, ok := s.cleanParams(params)
	if !ok {
		return
	}
	level := slices.Index(logLevels, v.Get("level").Str())
	for _, h := range all {
		if level >= slices.Index(logLevels, h.LogLevel) {
			s.deliver(h, callinfo.MethodMessage, v)
		}
	}
}

// cleanParams reads the params of a notification, without secrets.
func (s *session) cleanParams(params json.RawMessage) (value.Value, bool) {
	v, err := value.Parse(s.link.PeerLog().Redact.Text(string(params)))
	return v, err == nil
}

func (s *session) deliver(h subscriber, method string, params value.Value) {
	h.Notify(callinfo.Notification{Server: s.server.entry.Name, Tool: h.tool, Method: method, Params: params})
}

// logMessages logs what the server sends as log messages, until the session is
// over.
func (s *session) logMessages() {
	peerLog := s.link.PeerLog()
	for {
		select {
		case m := <-s.logQueue:
			peerLog.Log.Debug("log message from the server", "message", peerLog.Redact.Text(string(m)))
		case <-s.link.Done():
			s.cancel(errLinkEnded)
			return
		case <-s.life.Done():
			return
		}
	}
}

// setLevel asks a server of an older revision for the log messages that the
// caller wants, unless it was asked for as many before.
func (s *session) setLevel(ctx context.Context) error {
	l := infoOf(ctx).Listener
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
	case s.settingLevel <- struct{}{}:
		defer func() { <-s.settingLevel }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if enough() {
		return nil
	}
	s.awaitListening(ctx)
	_, err := s.request(ctx, &wire.Message{
		Method: string(mcp.MethodSetLogLevel), Params: json.RawMessage(`"level":"` + l.LogLevel + `"`),
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

// listenTimeout bounds the wait for a server to let us listen.
const listenTimeout = 2 * time.Second

// listen opens the stream of the server's notifications if the transport needs one,
// until the session ends: over streamable HTTP the server can speak unasked only on
// such a stream. If we answer requests of servers, listen waits for it, so that the
// first call can ask something.
func (s *session) listen(ctx context.Context) {
	over, ok := s.link.(*wire.HTTP)
	switch {
	case !s.peer.modern() && ok:
		s.listening = over.Listen(s.life, s.peer.revision)
		if len(s.server.answers) > 0 {
			s.awaitListening(ctx)
		}
	case s.peer.modern():
		if lists := s.peer.changingLists(); len(lists) > 0 {
			go s.listenToLists(lists)
		}
	}
}

// awaitListening waits until the stream of the server's notifications is open, if
// there is one. What the server says before that is lost.
func (s *session) awaitListening(ctx context.Context) {
	if s.listening == nil || isClosed(s.listening) {
		return
	}
	timer := time.NewTimer(listenTimeout)
	defer timer.Stop()
	select {
	case <-s.listening:
	case <-timer.C:
	case <-ctx.Done():
	}
}
