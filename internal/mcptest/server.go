package mcptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// message is any JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// server is one running fake server.
type server struct {
	script Script
	stderr io.Writer
	exit   func(code int)
	done   chan struct{} // closed when the input ends
	closed chan struct{} // closed with the client's end of a connection in memory; nil for a process

	modern bool // speaks the revision of 2026-07-28

	write sync.Mutex // one message at a time
	out   io.Writer

	mu    sync.Mutex
	asked map[string]chan message // answers we wait for, by id
	*tally
}

// tally is what a server remembers of the requests it got.
type tally struct {
	counting  sync.Mutex
	calls     map[string]int               // calls so far, by tool
	cancelled []string                     // request ids of notifications/cancelled
	streams   map[listened]map[string]bool // URIs that are subscribed to, by what tells of them
	tasks     []*fakeTask                  // begun so far
}

func newServer(s Script, out, stderr io.Writer, exit func(int)) *server {
	return &server{
		script: s, out: out, stderr: stderr, exit: exit, done: make(chan struct{}),
		tally: &tally{calls: map[string]int{}}, asked: map[string]chan message{},
	}
}

// run serves until in ends.
func (s *server) run(in io.Reader) {
	defer close(s.done)
	switch s.script.Start {
	case StartExit:
		fmt.Fprintln(s.stderr, "fake server: exiting at start as told")
		s.exit(3)
		return
	case StartGarbage, StartBanner:
		s.raw("Welcome to the fake server!\n")
	case StartStubborn:
		signal.Ignore(syscall.SIGTERM)
		defer func() { select {} }()
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line, &m) != nil || s.script.Start == StartGarbage || s.script.Start == StartMute {
			continue
		}
		s.handle(m)
		if s.script.Start == StartDeaf && m.Method == "notifications/initialized" {
			<-s.closed
			return
		}
	}
}

func (s *server) handle(m message) {
	switch m.Method {
	case "":
		s.mu.Lock()
		waiting := s.asked[string(m.ID)]
		delete(s.asked, string(m.ID))
		s.mu.Unlock()
		if waiting != nil {
			waiting <- m
		}
	case "initialize":
		s.initialize(m)
	case "server/discover":
		s.discover(m)
	case "ping":
		s.reply(m.ID, json.RawMessage(`{}`))
	case "tools/list":
		s.list(m)
	case "tools/call":
		go s.call(m)
	case "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &p)
		s.counting.Lock()
		s.cancelled = append(s.cancelled, string(p.RequestID))
		s.counting.Unlock()
		s.gone(string(p.RequestID))
	default:
		if s.offer(m) || s.ofTask(m) {
			return
		}
		if m.ID != nil && s.script.Start != StartIgnorant {
			s.fail(m.ID, -32601, "method not found: "+m.Method)
		}
	}
}

func (s *server) initialize(m message) {
	if s.script.Start == StartRefuse {
		s.fail(m.ID, -32603, "fake server: refusing the handshake as told")
		return
	}
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(m.Params, &p)
	if s.script.Protocol != "" {
		p.ProtocolVersion = s.script.Protocol
	}
	s.reply(m.ID, marshal(map[string]any{
		"protocolVersion": p.ProtocolVersion,
		"capabilities":    s.capabilities(),
		"serverInfo":      map[string]any{"name": "fake", "version": "1.0.0"},
	}))
}

func (s *server) discover(m message) {
	if s.script.Start == StartIgnorant {
		return
	}
	if !s.modern {
		s.fail(m.ID, -32601, "method not found: "+m.Method)
		return
	}
	s.reply(m.ID, marshal(map[string]any{
		"resultType":        "complete",
		"supportedVersions": []string{"2026-07-28"},
		"capabilities":      s.capabilities(),
		"_meta":             map[string]any{"io.modelcontextprotocol/serverInfo": map[string]any{"name": "fake", "version": "1.0.0"}},
	}))
}

func (s *server) list(m message) {
	var p struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(m.Params, &p)
	type listed struct {
		Name         string          `json:"name"`
		Description  string          `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
		Annotations  json.RawMessage `json:"annotations,omitempty"`
		Execution    json.RawMessage `json:"execution,omitempty"`
	}
	tools := []listed{}
	for _, t := range s.script.Tools {
		if t.InputSchema == nil {
			t.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
		tools = append(tools, listed{t.Name, t.Description, t.InputSchema, t.OutputSchema, t.Annotations, t.Execution})
	}
	for _, b := range Builtins {
		l := listed{Name: b.Name, Description: b.Does, InputSchema: json.RawMessage(`{"type":"object"}`)}
		if slices.Contains(s.script.ReadOnly, b.Name) {
			l.Annotations = json.RawMessage(`{"readOnlyHint":true}`)
		}
		tools = append(tools, l)
	}
	from, _ := strconv.Atoi(p.Cursor)
	tools = tools[min(from, len(tools)):]
	reply := map[string]any{}
	if n := s.script.PageSize; n > 0 && len(tools) > n {
		tools = tools[:n]
		reply["nextCursor"] = strconv.Itoa(from + n)
	}
	reply["tools"] = tools
	s.reply(m.ID, marshal(reply))
}

// ask sends a request to the client and returns its answer.
func (s *server) ask(method string, params json.RawMessage) (message, bool) {
	answer := make(chan message, 1)
	s.mu.Lock()
	id := strconv.Itoa(1000 + len(s.asked))
	s.asked[id] = answer
	s.mu.Unlock()
	s.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	select {
	case m := <-answer:
		return m, true
	case <-s.done:
		return message{}, false
	}
}

func (s *server) notify(method string, params any) {
	s.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// reply sends result, which is JSON, without touching its bytes.
func (s *server) reply(id, result json.RawMessage) {
	s.raw(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + string(result) + "}\n")
}

func (s *server) fail(id json.RawMessage, code int, text string) {
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
}

func (s *server) send(m any) { s.raw(string(marshal(m)) + "\n") }

func (s *server) raw(text string) {
	s.write.Lock()
	defer s.write.Unlock()
	_, _ = io.WriteString(s.out, text) // a client that has gone is no concern of ours
}

// logCall writes the name of a tool that is called to the script's file.
func (s *server) logCall(tool string) {
	if s.script.CallLog == "" {
		return
	}
	f, err := os.OpenFile(s.script.CallLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(tool + "\n")
		f.Close()
	}
	if err != nil {
		panic("mcptest: " + err.Error())
	}
}

func marshal(v any) json.RawMessage {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic("mcptest: " + err.Error())
	}
	return encoded
}
