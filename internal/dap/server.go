// Package dap is a debug adapter: it speaks the Debug Adapter Protocol, with which
// editors debug programs, and controls a [debug.Session] for them.
package dap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	dap "github.com/google/go-dap"

	"github.com/mcpgraph/mcpgraph/internal/framing"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Options say what the adapter knows beside what the editor sends.
type Options struct {
	// MCPFiles are read beside each file that is debugged.
	MCPFiles []string
	// Getenv and Inputs fill in ${…} in files. The editor's env comes first.
	Getenv func(string) (string, bool)
	Inputs map[string]string
	// Memory bounds what runs and evaluations take; nil: no bound.
	Memory *memory.Budget
}

// Bounds of the protocol.
const (
	maxMessage = 4 << 20 // bytes of a message of the editor
	endTime    = 10 * time.Second
)

// server is the adapter of one editor.
type server struct {
	Options
	ctx context.Context

	connection

	turn sync.Mutex // held while a request or an event is handled: an answer comes before what follows from it

	lines, columns int // what is added to a number of the file: 0, or -1 if the editor counts from 0

	mu          sync.Mutex // guards what follows, which the follower of events reads, too
	target      *target    // nil before launch
	refs        references
	breakpoints breakpoints
	threads     threads
}

// connection is what leads to the editor.
type connection struct {
	sending sync.Mutex
	out     io.Writer
	seq     int
	broken  error // of out
}

// Serve speaks the protocol until the editor disconnects or in ends; then the run is
// stopped. It returns nil then, and else why it cannot go on. Messages that make no
// sense are answered with an error, or left out.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{Options: o, ctx: ctx, connection: connection{out: out}}
	defer s.end()
	guard := framing.New(in, maxMessage, func(problem string) { s.output("console", problem+"\n") })
	ended := make(chan error, 1)
	go func() { ended <- s.converse(bufio.NewReader(guard)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done(): // also while the editor reads nothing
		return context.Cause(ctx)
	}
}

// converse answers the messages of the editor until the last one. It reads the next one
// while it writes, since editors may do one after the other.
func (s *server) converse(in *bufio.Reader) error {
	read := make(chan []byte)
	var err error
	go func() {
		defer close(read)
		for {
			var content []byte
			if content, err = dap.ReadBaseMessage(in); err != nil {
				return
			}
			select {
			case read <- content:
			case <-s.ctx.Done():
				return
			}
		}
	}()
	for content := range read {
		if done := s.handle(content); done || s.failure() != nil {
			return s.failure()
		}
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("reading from the editor: %w", err)
}

// end stops the run and frees what it holds.
func (s *server) end() {
	s.mu.Lock()
	t := s.target
	s.target = nil
	s.mu.Unlock()
	if t != nil {
		t.close()
	}
}

// failure returns why nothing can be sent any more.
func (c *connection) failure() error {
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.broken
}

// send writes a message; number sets its sequence number.
func (c *connection) send(m any, number *int) {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.seq++
	*number = c.seq
	text, err := json.Marshal(m)
	if err == nil {
		err = dap.WriteBaseMessage(c.out, text)
	}
	if err != nil && c.broken == nil {
		c.broken = err
	}
}

// response is a response with any body.
type response struct {
	dap.Response
	Body any `json:"body,omitempty"`
}

// reply answers a request: with the body, or with the error if there is one.
func (c *connection) reply(r *dap.Request, body any, err error) {
	m := &response{Body: body}
	m.Type, m.RequestSeq, m.Command, m.Success = "response", r.Seq, r.Command, err == nil
	if err != nil {
		m.Message = err.Error()
		m.Body = dap.ErrorResponseBody{Error: &dap.ErrorMessage{Id: 1, Format: "{text}", Variables: map[string]string{"text": err.Error()}, ShowUser: true}}
	}
	c.send(m, &m.Seq)
}

// event is an event with any body.
type event struct {
	dap.Event
	Body any `json:"body,omitempty"`
}

func (c *connection) tell(name string, body any) {
	m := &event{Body: body}
	m.Type, m.Event.Event = "event", name
	c.send(m, &m.Seq)
}

// output shows a text in the console of the editor.
func (c *connection) output(category, text string) {
	c.tell("output", dap.OutputEventBody{Category: category, Output: text})
}

// handle answers a message. It reports whether it was the last one.
func (s *server) handle(content []byte) (done bool) {
	var head dap.Request
	if err := json.Unmarshal(content, &head); err != nil || head.Type != "request" {
		if err != nil {
			s.output("console", "a message is not JSON: "+err.Error()+"\n")
		}
		return false
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	m, err := dap.DecodeProtocolMessage(content)
	if err != nil {
		var unknown *dap.DecodeProtocolMessageFieldError
		if errors.As(err, &unknown) {
			err = fmt.Errorf("unknown command %q", head.Command)
		}
		s.reply(&head, nil, err)
		return false
	}
	defer func() {
		if p := recover(); p != nil {
			s.reply(&head, nil, fmt.Errorf("internal error: %v", p))
		}
	}()
	body, err := s.do(m, &head)
	s.reply(&head, body, err)
	s.after(m, err)
	_, done = m.(*dap.DisconnectRequest)
	return done
}

// do does what a request asks for.
func (s *server) do(m dap.Message, head *dap.Request) (any, error) {
	switch r := m.(type) {
	case *dap.InitializeRequest:
		return s.initialize(r)
	case *dap.LaunchRequest:
		return nil, s.launch(r.Arguments)
	case *dap.AttachRequest:
		return nil, errors.New("attach is not supported: launch a tool, with program, tool and args")
	case *dap.RestartRequest:
		return nil, s.restart(r.Arguments)
	case *dap.DisconnectRequest:
		s.end()
		return nil, nil
	}
	t := s.current()
	switch r := m.(type) { // these may come before launch
	case *dap.SetBreakpointsRequest:
		return setBreakpoints(s, t, r.Arguments)
	case *dap.SetFunctionBreakpointsRequest:
		return setFunctionBreakpoints(s, t, r.Arguments)
	case *dap.SetExceptionBreakpointsRequest:
		return setExceptionBreakpoints(s, t, r.Arguments)
	}
	if t == nil {
		return nil, fmt.Errorf("%s needs a run: launch one", head.Command)
	}
	switch r := m.(type) {
	case *dap.BreakpointLocationsRequest:
		return breakpointLocations(s, t, r.Arguments)
	case *dap.ConfigurationDoneRequest:
		return nil, nil
	case *dap.ThreadsRequest:
		return listThreads(s, t), nil
	case *dap.StackTraceRequest:
		return stackTrace(s, t, r.Arguments)
	case *dap.ScopesRequest:
		return scopes(s, t, r.Arguments)
	case *dap.VariablesRequest:
		return variables(s, t, r.Arguments)
	case *dap.SetVariableRequest:
		return setVariable(s, t, r.Arguments)
	case *dap.EvaluateRequest:
		return evaluate(s, t, r.Arguments)
	case *dap.CompletionsRequest:
		return completions(s, t, r.Arguments)
	case *dap.ExceptionInfoRequest:
		return exceptionInfo(t)
	case *dap.ContinueRequest:
		return dap.ContinueResponseBody{AllThreadsContinued: true}, s.resume(t.session.Resume)
	case *dap.NextRequest:
		return nil, s.resume(t.session.Step)
	case *dap.StepInRequest:
		return nil, s.resume(t.session.StepInto)
	case *dap.StepOutRequest:
		return nil, s.resume(t.stepOut)
	case *dap.PauseRequest:
		return nil, t.session.Pause()
	case *dap.TerminateRequest:
		_ = t.session.Stop() // an error says that it is over
		return nil, nil
	}
	return nil, fmt.Errorf("%s is not supported", head.Command)
}

// resume lets the run go on, and forgets what the editor was told of the place at which
// it was paused.
func (s *server) resume(f func() error) error {
	s.mu.Lock()
	s.refs.clear()
	s.mu.Unlock()
	return f()
}

// after does what follows an answer.
func (s *server) after(m dap.Message, err error) {
	if err != nil {
		return
	}
	t := s.current()
	if t == nil {
		return
	}
	switch m.(type) {
	case *dap.LaunchRequest:
		transfer(s, t)
		s.tell("initialized", nil)
	case *dap.RestartRequest:
		transfer(s, t)
		s.begin(t)
	case *dap.ConfigurationDoneRequest:
		s.begin(t)
	}
}

func (s *server) current() *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.target
}

func (s *server) initialize(r *dap.InitializeRequest) (any, error) {
	if format := r.Arguments.PathFormat; format != "" && format != "path" {
		return nil, fmt.Errorf("the path format %q is not supported; expected \"path\"", format)
	}
	if !r.Arguments.LinesStartAt1 {
		s.lines = -1
	}
	if !r.Arguments.ColumnsStartAt1 {
		s.columns = -1
	}
	return dap.Capabilities{
		SupportsConfigurationDoneRequest: true, SupportsFunctionBreakpoints: true, SupportsConditionalBreakpoints: true,
		SupportsHitConditionalBreakpoints: true, SupportsLogPoints: true, SupportsEvaluateForHovers: true,
		SupportsSetVariable: true, SupportsCompletionsRequest: true, CompletionTriggerCharacters: []string{".", "$"},
		SupportsRestartRequest: true, SupportsExceptionInfoRequest: true, SupportsTerminateRequest: true,
		SupportsBreakpointLocationsRequest: true, SupportsClipboardContext: true, SupportsDelayedStackTraceLoading: true,
		SupportTerminateDebuggee: true,
		ExceptionBreakpointFilters: []dap.ExceptionBreakpointsFilter{
			{Filter: "uncaught", Label: "Uncaught failures", Description: "Failures that no retry, catch or tolerance handles", Default: true},
			{Filter: "any", Label: "All failures", Description: "Each attempt of a node that fails"},
		},
	}, nil
}
