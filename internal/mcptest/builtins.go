package mcptest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Builtin is a tool that every fake server has.
type Builtin struct {
	Name string
	Does string // what it does, with the arguments it takes

	run func(s *server, id json.RawMessage, a arguments)
}

// arguments are those of all built-in tools together.
type arguments struct {
	raw   json.RawMessage // as they came
	token json.RawMessage // the call's progress token
	meta  json.RawMessage // the call's whole _meta

	MS      int             `json:"ms"`
	Text    string          `json:"text"`
	Code    int             `json:"code"`
	Bytes   int             `json:"bytes"`
	Count   int             `json:"count"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Message string          `json:"message"`
}

func (a arguments) sleep(s *server) {
	select {
	case <-time.After(time.Duration(a.MS) * time.Millisecond):
	case <-s.done:
	}
}

// Builtins lists the built-in tools, good and bad.
var Builtins = []Builtin{
	{"echo", "answers its arguments as structured content, byte for byte, after ms milliseconds", func(s *server, id json.RawMessage, a arguments) {
		a.sleep(s)
		s.reply(id, Structured(string(a.raw)))
	}},
	{"reply", "answers result, the whole result of the call, byte for byte, after ms milliseconds", func(s *server, id json.RawMessage, a arguments) {
		a.sleep(s)
		s.reply(id, a.Result)
	}},
	{"fail", "answers an isError result that says text", func(s *server, id json.RawMessage, a arguments) {
		s.reply(id, failure(a.Text))
	}},
	{"rpcerror", "answers a JSON-RPC error with code and message", func(s *server, id json.RawMessage, a arguments) {
		s.fail(id, a.Code, a.Message)
	}},
	{"exit", "writes text on stderr and exits with code, in the middle of the call", func(s *server, _ json.RawMessage, a arguments) {
		fmt.Fprintln(s.stderr, a.Text)
		s.exit(a.Code)
	}},
	{"garbage", "writes text as a line on stdout and never answers", func(s *server, _ json.RawMessage, a arguments) {
		s.raw(a.Text + "\n")
	}},
	{"chatter", "writes text as a line on stdout and then answers it", func(s *server, id json.RawMessage, a arguments) {
		s.raw(a.Text + "\n")
		s.reply(id, Text(a.Text))
	}},
	{"hang", "never answers", func(*server, json.RawMessage, arguments) {}},
	{"half", "writes the first half of an answer as a line", func(s *server, id json.RawMessage, a arguments) {
		s.raw(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"content":[{"type":"te` + "\n")
	}},
	{"torn", "writes the first half of an answer, without a line's end, and exits with code", func(s *server, id json.RawMessage, a arguments) {
		s.raw(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"content":[{"type":"te`)
		s.exit(a.Code)
	}},
	{"wrongid", "answers under an id that nobody used", func(s *server, _ json.RawMessage, a arguments) {
		s.reply(json.RawMessage(`"nobody"`), Text("for nobody"))
	}},
	{"twice", "answers twice", func(s *server, id json.RawMessage, a arguments) {
		s.reply(id, Text("first"))
		s.reply(id, Text("second"))
	}},
	{"huge", "answers a text of so many bytes", func(s *server, id json.RawMessage, a arguments) {
		s.reply(id, Text(strings.Repeat("x", a.Bytes)))
	}},
	{"hugelate", "as huge, with the id after the result", func(s *server, id json.RawMessage, a arguments) {
		s.raw(`{"result":` + string(Text(strings.Repeat("x", a.Bytes))) + `,"jsonrpc":"2.0","id":` + string(id) + "}\n")
	}},
	{"drip", "writes its answer in pieces, ms milliseconds apart", func(s *server, id json.RawMessage, a arguments) {
		answer := `{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + string(Text("drip")) + "}\n"
		s.write.Lock()
		defer s.write.Unlock()
		for len(answer) > 0 {
			n := min(8, len(answer))
			_, _ = s.out.Write([]byte(answer[:n]))
			answer = answer[n:]
			a.sleep(s)
		}
	}},
	{"progress", "sends count progress notifications, ms milliseconds before each, and then answers", func(s *server, id json.RawMessage, a arguments) {
		for i := range a.Count {
			a.sleep(s)
			s.notify("notifications/progress", map[string]any{"progressToken": a.token, "progress": i + 1, "total": a.Count})
		}
		s.reply(id, Text("done"))
	}},
	{"log", "sends count log messages that say text, and then answers", func(s *server, id json.RawMessage, a arguments) {
		for range a.Count {
			s.notify("notifications/message", map[string]any{"level": "info", "data": a.Text})
		}
		s.reply(id, Text("done"))
	}},
	{"stderr", "writes text on stderr, count times with a number behind it where count is set, and answers", func(s *server, id json.RawMessage, a arguments) {
		if a.Count == 0 {
			fmt.Fprintln(s.stderr, a.Text)
		}
		for i := range a.Count {
			fmt.Fprintln(s.stderr, a.Text, i+1)
		}
		s.reply(id, Text("done"))
	}},
	{"ask", "sends the client a request of that method and answers what it said, as text", func(s *server, id json.RawMessage, a arguments) {
		answer, ok := s.ask(a.Method, json.RawMessage(`{}`))
		if !ok {
			return
		}
		s.reply(id, Text(string(marshal(answer))))
	}},
	{"calls", "answers how often each tool was called, as structured content", func(s *server, id json.RawMessage, a arguments) {
		s.counting.Lock()
		counts := marshal(s.calls)
		s.counting.Unlock()
		s.reply(id, Structured(string(counts)))
	}},
	{"touch", "tells those who subscribed that the resource with the URI text has changed", func(s *server, id json.RawMessage, a arguments) {
		s.touch(a.Text)
		s.reply(id, Text("done"))
	}},
	{"notify", "sends count notifications of that method, one where count is not set, with result as params", func(s *server, id json.RawMessage, a arguments) {
		for range max(1, a.Count) {
			s.notify(a.Method, a.Result)
		}
		s.reply(id, Text("done"))
	}},
	{"changed", "tells the client of the change of a list, with a notification of that method", func(s *server, id json.RawMessage, a arguments) {
		s.changed(a.Method)
		s.reply(id, Text("done"))
	}},
	{"subscribed", "answers the URIs of the resources that someone is subscribed to, as structured content {uris}", func(s *server, id json.RawMessage, a arguments) {
		s.reply(id, Structured(string(marshal(map[string]any{"uris": append([]string{}, s.subscribed()...)}))))
	}},
	{"cancelled", "answers the ids of the requests that were cancelled, as structured content {ids}", func(s *server, id json.RawMessage, a arguments) {
		s.counting.Lock()
		ids := marshal(map[string]any{"ids": append([]string{}, s.cancelled...)})
		s.counting.Unlock()
		s.reply(id, Structured(string(ids)))
	}},
	{"meta", "answers the _meta of its call, as structured content", func(s *server, id json.RawMessage, a arguments) {
		s.reply(id, Structured(string(a.meta)))
	}},
	{"process", "answers its process: {pid, cwd, args, env}, as structured content", func(s *server, id json.RawMessage, a arguments) {
		cwd, _ := os.Getwd()
		env := map[string]string{}
		for _, pair := range os.Environ() {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		s.reply(id, Structured(string(marshal(map[string]any{"pid": os.Getpid(), "cwd": cwd, "args": os.Args[1:], "env": env}))))
	}},
	{"spawn", "starts a process of its own that sleeps for minutes and answers its {pid}, as structured content", func(s *server, id json.RawMessage, a arguments) {
		child := exec.Command("sleep", "300")
		if err := child.Start(); err != nil {
			s.reply(id, failure(err.Error()))
			return
		}
		go func() { _ = child.Wait() }()
		s.reply(id, Structured(string(marshal(map[string]any{"pid": child.Process.Pid}))))
	}},
}

func failure(text string) json.RawMessage {
	quoted, _ := json.Marshal(text)
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}],"isError":true}`)
}

// call answers one tools/call.
func (s *server) call(m message) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.fail(m.ID, -32602, err.Error())
		return
	}
	s.logCall(p.Name)
	s.counting.Lock()
	nth := s.calls[p.Name]
	s.calls[p.Name]++
	s.counting.Unlock()
	for _, t := range s.script.Tools {
		if t.Name == p.Name {
			if s.isTask(m, t, p.Arguments) {
				return
			}
			s.reply(m.ID, t.answer(p.Arguments, nth))
			return
		}
	}
	var meta struct {
		ProgressToken json.RawMessage `json:"progressToken"`
	}
	_ = json.Unmarshal(p.Meta, &meta) // a call without _meta has no token
	a := arguments{raw: p.Arguments, token: meta.ProgressToken, meta: orNull(p.Meta)}
	if len(p.Arguments) == 0 || p.Arguments[0] != '{' {
		s.fail(m.ID, -32602, "arguments must be an object")
		return
	}
	_ = json.Unmarshal(p.Arguments, &a) // echo takes arguments of any type
	for _, b := range Builtins {
		if b.Name == p.Name {
			b.run(s, m.ID, a)
			return
		}
	}
	s.fail(m.ID, -32602, "unknown tool: "+p.Name)
}

// answer is the result of call number nth of the tool, from 0.
func (t Tool) answer(args json.RawMessage, nth int) json.RawMessage {
	if t.Func != nil {
		result, err := t.Func(args)
		if err != nil {
			return failure(err.Error())
		}
		return result
	}
	if n := len(t.Results); n > 0 {
		return t.Results[min(nth, n-1)]
	}
	if t.Result == nil {
		return Text("")
	}
	return t.Result
}
