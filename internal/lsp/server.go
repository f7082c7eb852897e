// Package lsp is a language server for configuration and test files: it speaks the
// Language Server Protocol 3.17 with one client and lets package language answer.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/creachadair/jrpc2/channel"

	"github.com/mcpgraph/mcpgraph/internal/framing"
	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Options configure a server.
type Options struct {
	// Version is that of the program.
	Version string
	// MCPFiles are paths of further files of upstream servers.
	MCPFiles []string
	// Getenv looks up environment variables; nil means os.LookupEnv. Variables
	// that are not set are no error.
	Getenv func(name string) (string, bool)
	// Inputs are the values of ${input:ID} by ID.
	Inputs map[string]string
	// Delay is how long a text must be left alone until its diagnostics are sent;
	// 0 means 100 ms.
	Delay time.Duration
	// Memory bounds what the checks of files take; nil: no bound.
	Memory *memory.Budget
}

// Codes of errors (LSP 3.17, ErrorCodes).
const (
	codeNotInitialized = -32002
	codeCancelled      = -32800
	codeRequestFailed  = -32803
)

// Bounds of the requests of a client.
const (
	maxPending = 200 // requests without an answer
	maxRunning = 4   // requests that are worked on
)

const defaultDelay = 100 * time.Millisecond

// ErrNoShutdown is the error of Serve if the client ended without `shutdown`.
var ErrNoShutdown = errors.New("the client sent exit without shutdown")

// Serve answers one client until it sends exit, in ends, or ctx is done.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	if opts.Delay == 0 {
		opts.Delay = defaultDelay
	}
	for i, path := range opts.MCPFiles {
		opts.MCPFiles[i] = absolute(path) // as open files are known
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &server{
		opts: opts, ctx: ctx, encoding: utf16Units, running: make(chan struct{}, maxRunning),
		pending: map[string]context.CancelFunc{}, files: newFileCache(), open: map[string]*openFile{},
		found: map[string]map[string][]diagnostic{},
	}
	guard := framing.New(in, maxMessage, s.logProblem)
	s.channel = channel.LSP(guard, writeCloser{out})
	done := make(chan error, 1)
	go func() { done <- s.read(guard) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	cancel()
	s.close()
	return err
}

// maxMessage is how long a message of a client may be, in bytes.
const maxMessage = 64 << 20

type writeCloser struct{ io.Writer }

// Close implements io.Closer. Who opened the output closes it.
func (writeCloser) Close() error { return nil }

// server is the state of one client.
type server struct {
	opts    Options
	ctx     context.Context
	running chan struct{} // requests that are worked on
	work    sync.WaitGroup

	publishing sync.Mutex // keeps the diagnostics of a file in order
	sending    sync.Mutex
	channel    channel.Channel

	// What follows is only used by the goroutine that reads.
	initialized, down bool
	watches           bool
	hierarchical      bool

	mu        sync.Mutex
	encoding  string
	pending   map[string]context.CancelFunc
	folders   []string
	files     *fileCache
	open      map[string]*openFile // by path
	openBytes int
	found     map[string]map[string][]diagnostic // by the file that they are in, and the one whose check found them
	closed    bool
}

// close ends what is still under way.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	for _, f := range s.open {
		f.timer.Stop()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// errExit ends the loop that reads.
var errExit = errors.New("exit")

// read handles messages until the input ends.
func (s *server) read(guard *framing.Guard) error {
	for {
		text, err := s.channel.Recv()
		switch {
		case guard.Err() != nil && err != nil:
			if errors.Is(guard.Err(), io.EOF) {
				return nil
			}
			return fmt.Errorf("reading from the client: %w", guard.Err())
		case err != nil && text == nil:
			s.logProblem(err.Error())
			continue
		}
		if err := s.message(text); errors.Is(err, errExit) {
			if s.down {
				return nil
			}
			return ErrNoShutdown
		}
	}
}

// message handles one message. The bytes are only valid during the call.
func (s *server) message(text []byte) error {
	var e jsonrpc.Envelope
	e.Feed(text)
	var method string
	switch {
	case !e.Complete() || !json.Valid(text):
		s.fail("null", jsonrpc.CodeParse, "the message is not a JSON object")
		return nil
	case !e.Method.Found():
		if e.ID.Found() && (e.Result.Found() || e.Error.Found()) {
			return nil // the answer to a request of ours
		}
		s.fail("null", jsonrpc.CodeInvalidRequest, "the message has no method")
		return nil
	case json.Unmarshal(e.Method.Of(text), &method) != nil:
		s.fail("null", jsonrpc.CodeInvalidRequest, "the method must be a string")
		return nil
	}
	var params json.RawMessage
	if e.Params.Found() {
		params = slices.Clone(e.Params.Of(text))
	}
	if !e.ID.Found() {
		return s.notification(method, params)
	}
	id := string(e.ID.Of(text))
	if id[0] != '"' && (id[0] < '0' || id[0] > '9') && id[0] != '-' {
		s.fail("null", jsonrpc.CodeInvalidRequest, "the id must be a string or a number")
		return nil
	}
	s.request(id, method, params)
	return nil
}

// notification handles a notification. What it cannot read has no effect.
func (s *server) notification(method string, params json.RawMessage) error {
	if method == "exit" {
		return errExit
	}
	if !s.initialized || s.down {
		return nil
	}
	switch method {
	case "initialized":
		s.register()
	case "textDocument/didOpen":
		with(params, s.didOpen)
	case "textDocument/didChange":
		with(params, s.didChange)
	case "textDocument/didClose":
		with(params, s.didClose)
	case "textDocument/didSave":
		with(params, s.didSave)
	case "workspace/didChangeWatchedFiles":
		with(params, s.didChangeWatchedFiles)
	case "workspace/didChangeWorkspaceFolders":
		with(params, s.didChangeFolders)
	case "$/cancelRequest":
		with(params, s.cancel)
	}
	return nil
}

// with calls f with the params of a notification, if they can be read.
func with[P any](params json.RawMessage, f func(P)) {
	var p P
	if json.Unmarshal(params, &p) == nil {
		f(p)
	}
}

func (s *server) cancel(p cancelParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.pending[string(p.ID)]; cancel != nil {
		cancel()
	}
}

// answer computes the result of a request.
type answer func() (any, error)

// request begins to answer a request.
func (s *server) request(id, method string, params json.RawMessage) {
	switch {
	case method == "initialize" && !s.initialized:
		var p initializeParams
		if err := json.Unmarshal(params, &p); err != nil {
			s.fail(id, jsonrpc.CodeInvalidParams, "initialize: "+err.Error())
			return
		}
		s.initialized = true
		s.reply(id, s.initialize(p))
		return
	case !s.initialized:
		s.fail(id, codeNotInitialized, "the first request must be initialize")
		return
	case s.down || method == "initialize":
		s.fail(id, jsonrpc.CodeInvalidRequest, method+" cannot be answered any more")
		return
	case method == "shutdown":
		s.down = true
		s.reply(id, nil)
		return
	}
	prepare := s.methods()[method]
	if prepare == nil {
		s.fail(id, jsonrpc.CodeMethodNotFound, "unknown method "+jsonrpc.Clip(method))
		return
	}
	work, err := prepare(params)
	if err != nil {
		s.fail(id, jsonrpc.CodeInvalidParams, method+": "+err.Error())
		return
	}
	s.start(id, work)
}

// start runs what answers a request beside the loop that reads.
func (s *server) start(id string, work answer) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	_, twice := s.pending[id]
	full := len(s.pending) >= maxPending
	refused := twice || full || s.closed
	if !refused {
		s.pending[id] = cancel
		s.work.Add(1) // before close waits
	}
	s.mu.Unlock()
	if refused {
		cancel()
		if full {
			s.fail(id, codeRequestFailed, fmt.Sprintf("%d requests wait for an answer already", maxPending))
		} else {
			s.fail(id, jsonrpc.CodeInvalidRequest, "a request with this id waits for an answer already")
		}
		return
	}
	go func() {
		defer s.work.Done()
		defer cancel()
		defer func() {
			s.mu.Lock()
			delete(s.pending, id)
			s.mu.Unlock()
		}()
		select {
		case s.running <- struct{}{}:
			defer func() { <-s.running }()
		case <-ctx.Done():
			s.fail(id, codeCancelled, "cancelled")
			return
		}
		if ctx.Err() != nil {
			s.fail(id, codeCancelled, "cancelled")
			return
		}
		result, err := work()
		switch {
		case ctx.Err() != nil:
			s.fail(id, codeCancelled, "cancelled")
		case err != nil:
			s.fail(id, codeRequestFailed, err.Error())
		default:
			s.reply(id, result)
		}
	}()
}

// send writes a message. What cannot be written is lost: then the client is gone.
func (s *server) send(message any) {
	if text, err := json.Marshal(message); err == nil {
		s.write(text)
	}
}

func (s *server) write(text []byte) {
	s.sending.Lock()
	defer s.sending.Unlock()
	_ = s.channel.Send(text)
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

type failure struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   failureDetail   `json:"error"`
}

type failureDetail struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type call struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// maxAnswer is how many bytes a message to the client may have. Editors hold up on
// longer ones.
const maxAnswer = 5_000_000

func (s *server) reply(id string, result any) {
	text, err := json.Marshal(response{jsonrpc.Version, json.RawMessage(id), result})
	switch {
	case err != nil:
	case len(text) > maxAnswer:
		s.fail(id, codeRequestFailed, fmt.Sprintf("the answer has %d bytes; at most %d are sent", len(text), maxAnswer))
	default:
		s.write(text)
	}
}

func (s *server) fail(id string, code int, message string) {
	s.send(failure{jsonrpc.Version, json.RawMessage(id), failureDetail{code, message}})
}

func (s *server) notify(method string, params any) {
	s.send(call{Version: jsonrpc.Version, Method: method, Params: params})
}

// logProblem tells the client what the server could not make sense of.
func (s *server) logProblem(problem string) {
	const warning = 2
	s.notify("window/logMessage", messageParams{warning, "mcpgraph: " + problem})
}
