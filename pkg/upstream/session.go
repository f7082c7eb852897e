package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// session is the second phase of a connection: an MCP session over a link. It
// serves any number of calls at once.
type session struct {
	link   link
	issued atomic.Uint64 // numbers given to requests

	mu    sync.Mutex
	calls map[string]func() // what a sign of life does, by progress token

	messages chan mcp.JSONRPCNotification // log messages on their way to our log
}

// maxMessages is how many log messages wait for a slow log before more of them
// are dropped.
const maxMessages = 256

// openSession performs the handshake over a fresh link: initialize with the
// newest revision that has it, accepting every older one.
func openSession(ctx context.Context, l link, info mcp.Implementation) (*session, error) {
	s := &session{link: l, calls: map[string]func(){}, messages: make(chan mcp.JSONRPCNotification, maxMessages)}
	c := client.NewClient(l, client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
	c.OnNotification(s.notified)
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	go s.logMessages()
	l.SetRequestHandler(answerRequest)
	_, err := c.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{ClientInfo: info}})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// answerRequest answers what the server asks of us. We have announced no
// capabilities, so only ping is answered well.
func answerRequest(_ context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if r.Method == string(mcp.MethodPing) {
		return transport.NewJSONRPCResultResponse(r.ID, json.RawMessage(`{}`)), nil
	}
	return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, "this client does not answer "+r.Method, nil), nil
}

// notified takes a notification. It runs on the reading goroutine and must not
// block.
func (s *session) notified(n mcp.JSONRPCNotification) {
	fields := n.Params.AdditionalFields
	switch n.Method {
	case string(mcp.MethodNotificationProgress):
		token, _ := fields["progressToken"].(string)
		s.mu.Lock()
		alive := s.calls[token]
		s.mu.Unlock()
		if alive != nil {
			alive()
		}
	case string(mcp.MethodNotificationMessage):
		select {
		case s.messages <- n:
		default:
		}
	}
}

// logMessages logs what the server sends as log messages, until the link is
// over.
func (s *session) logMessages() {
	d := s.link.seen()
	for {
		select {
		case n := <-s.messages:
			text, err := json.Marshal(n.Params.AdditionalFields)
			if err == nil {
				d.log.Debug("message of the server", "message", d.redact.text(string(text)))
			}
		case <-s.link.over():
			return
		}
	}
}

// errSilent is the cause of a context that ended because a server gave no sign
// of life.
var errSilent = errors.New("no answer and no progress")

// request sends a request and returns the result. Without a sign of life for
// silence it fails with errSilent. The parameters are built by params from the
// request's id, which is its progress token too.
func (s *session) request(ctx context.Context, method string, silence time.Duration, params func(id string) []byte) (value.Value, error) {
	id := "c" + strconv.FormatUint(s.issued.Add(1), 10)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer timer.Stop()

	s.mu.Lock()
	s.calls[id] = func() { timer.Reset(silence) }
	s.mu.Unlock()
	response, err := s.link.SendRequest(ctx, transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Method: method, Params: json.RawMessage(params(id)),
	})
	s.mu.Lock()
	delete(s.calls, id)
	s.mu.Unlock()
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		if !errors.Is(err, errNotWritten) {
			s.cancelled(id, context.Cause(ctx))
		}
		return value.Value{}, context.Cause(ctx)
	case err != nil:
		return value.Value{}, err
	case response.Error != nil:
		return value.Value{}, &RPCError{response.Error.Code, response.Error.Message}
	}
	result, err := value.ParseLazy(string(response.Result))
	if err != nil {
		return value.Value{}, fmt.Errorf("%w: in the result, %w", errBroken, err)
	}
	if result.Kind() != value.Object {
		return value.Value{}, fmt.Errorf("%w: a result that is not an object: %s", errBroken, quote(response.Result))
	}
	return result, nil
}

// cancelled tells the server that nobody waits for the request any more.
func (s *session) cancelled(id string, why error) {
	_ = s.link.SendNotification(context.Background(), mcp.JSONRPCNotification{
		JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{
			Method: string(mcp.MethodNotificationCancelled),
			Params: mcp.NotificationParams{AdditionalFields: map[string]any{"requestId": id, "reason": why.Error()}},
		},
	}) // it fails only where the connection is over, and then there is nothing to cancel
}

// callTool calls a tool. Arguments that are not an object become an empty one.
func (s *session) callTool(ctx context.Context, tool string, args value.Value, silence time.Duration) (value.Value, error) {
	return s.request(ctx, string(mcp.MethodToolsCall), silence, func(id string) []byte {
		params := append(make([]byte, 0, 128), `{"name":`...)
		params = value.AppendString(params, tool)
		params = append(params, `,"arguments":`...)
		if args.Kind() == value.Object {
			params = args.Append(params)
		} else {
			params = append(params, "{}"...)
		}
		params = append(params, `,"_meta":{"progressToken":"`...)
		params = append(params, id...)
		params = append(params, '"')
		params = appendMeta(params, ctx)
		return append(params, "}}"...)
	})
}

// maxPages bounds how many pages of a list are read.
const maxPages = 1000

// tools lists the server's tools as it describes them, all pages.
func (s *session) tools(ctx context.Context, silence time.Duration) ([]value.Value, error) {
	var tools []value.Value
	cursor := value.Undef
	for range maxPages {
		page, err := s.request(ctx, string(mcp.MethodToolsList), silence, func(string) []byte {
			b := value.NewBuilder(1)
			if !cursor.IsUndefined() {
				b.Set("cursor", cursor)
			}
			return b.Value().Append(nil)
		})
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Get("tools").Elems()...)
		cursor = page.Get("nextCursor")
		if cursor.Kind() != value.String {
			return tools, nil
		}
	}
	return nil, fmt.Errorf("its list of tools does not end: %d pages were read", maxPages)
}
