// Package mcptest is a fake MCP server for tests. It answers the tools that a
// [Script] lists, has built-in tools that misbehave on request, and can
// misbehave from its start.
//
// A script runs in memory ([Script.Dial]) or as a child process, which is the
// test binary started again. For the latter a test package says
//
//	func TestMain(m *testing.M) { mcptest.Main(m) }
//
// and takes the command from [Script.Command]. Where the command has to stand
// in a file, as in a testscript, put the folder of [Program] into PATH and give it
// the path of a JSON file that holds the script:
//
//	-- config.yaml --
//	mcpServers: {fake: {command: fakeserver, args: [script.json]}}
//	-- script.json --
//	{"tools": [{"name": "read", "result": {"content": [{"type": "text", "text": "hello"}]}}]}
//
// The built-in tools are described at [Builtins].
package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
)

// scriptVariable holds, as JSON, the script that the started binary serves.
const scriptVariable = "MCPTEST_SCRIPT"

// A Start is what a fake server does wrong from its start.
type Start string

// The ways to start. The zero value, or any name that is not here, is a server
// that starts well.
const (
	StartExit     Start = "exit"     // writes a line on stderr and exits with code 3
	StartGarbage  Start = "garbage"  // writes text on stdout and never answers
	StartBanner   Start = "banner"   // writes text on stdout, then works
	StartMute     Start = "mute"     // reads everything and answers nothing
	StartDeaf     Start = "deaf"     // completes the handshake and then reads nothing
	StartRefuse   Start = "refuse"   // answers initialize with a JSON-RPC error
	StartIgnorant Start = "ignorant" // works, but answers nothing to methods that it does not know
	StartStubborn Start = "stubborn" // (child process only) works, but survives the end of its input and SIGTERM
)

// Script is the behaviour of a fake server. The zero Script has only the
// built-in tools. Scripts are values: one may run any number of times, also at
// once.
type Script struct {
	Start    Start  `json:"start,omitempty"`
	Protocol string `json:"protocol,omitempty"` // revision answered to initialize; empty answers the client's own
	Tools    []Tool `json:"tools,omitempty"`    // go before built-in tools of the same name
	PageSize int    `json:"pageSize,omitempty"` // tools per page of tools/list; 0 is all on one
	// ReadOnly names built-in tools that are listed with readOnlyHint.
	ReadOnly []string `json:"readOnly,omitempty"`
	// CallLog is a file that gets a line with the tool's name for each call, over
	// all sessions and processes; empty is none.
	CallLog string `json:"callLog,omitempty"`
	Tasks   *Tasks `json:"tasks,omitempty"` // nil: there are none
	Offers
}

// Tool is one tool of a fake server. Func, where set, computes the result, and
// works in memory only; else each call takes the next of Results and the last
// of them again and again, and without Results the answer is Result.
type Tool struct {
	Name         string            `json:"name"`
	Description  string            `json:"description,omitempty"`
	InputSchema  json.RawMessage   `json:"inputSchema,omitempty"` // an object of anything where empty
	OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage   `json:"annotations,omitempty"`
	Execution    json.RawMessage   `json:"execution,omitempty"`
	Result       json.RawMessage   `json:"result,omitempty"` // the whole result, sent as it is
	Results      []json.RawMessage `json:"results,omitempty"`

	Func func(args json.RawMessage) (json.RawMessage, error) `json:"-"` // an error becomes an isError result
}

// Text returns a tool result with one text block.
func Text(text string) json.RawMessage {
	quoted, _ := json.Marshal(text)
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}]}`)
}

// Structured returns a tool result whose structured content is raw, a JSON
// text, and whose one text block holds the same.
func Structured(raw string) json.RawMessage {
	quoted, _ := json.Marshal(raw)
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}],"structuredContent":` + raw + `}`)
}

// Command returns what starts the script as a child process: the running test
// binary, and the variables that it needs. [Main] must be the package's
// TestMain, or call [UseProgram].
func (s Script) Command() (command string, args []string, env map[string]string) {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("mcptest: a result or schema of the script is not JSON: %v", err))
	}
	if command = scriptProgram; command == "" {
		if command, err = os.Executable(); err != nil {
			panic("mcptest: " + err.Error())
		}
	}
	return command, nil, map[string]string{
		scriptVariable: string(encoded),
		"GORACE":       "atexit_sleep_ms=0", // with -race each exit would take a second
	}
}

// Dial starts the script in memory and returns the client's end of the
// connection. The server ends when that end is closed. What the server writes
// on stderr is dropped, and "exit" closes the connection.
func (s Script) Dial(context.Context) (io.ReadWriteCloser, error) {
	client, server := net.Pipe()
	running := newServer(s, server, io.Discard, func(int) { server.Close() })
	running.closed = make(chan struct{})
	go func() {
		running.run(server)
		server.Close()
	}()
	return &clientEnd{Conn: client, closed: sync.OnceFunc(func() { close(running.closed) })}, nil
}

// clientEnd is the client's end of a connection in memory.
type clientEnd struct {
	net.Conn
	closed func()
}

// Close closes the connection, also for a server that does not read.
func (c *clientEnd) Close() error {
	c.closed()
	return c.Conn.Close()
}

// Main is a TestMain: it serves where the binary was started by the command of
// a [Script], and else runs the tests. It does not return.
func Main(m *testing.M) {
	if _, ok := os.LookupEnv(scriptVariable); ok {
		os.Exit(Run())
	}
	os.Exit(m.Run())
}

// Run serves a script on stdin and stdout until stdin ends and returns the exit
// code. The script comes from the environment of [Script.Command] or from the
// file that the first argument names; without either it is the zero Script.
func Run() int {
	var script Script
	text := []byte(os.Getenv(scriptVariable))
	if len(text) == 0 && len(os.Args) > 1 {
		var err error
		if text, err = os.ReadFile(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "mcptest:", err)
			return 2
		}
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &script); err != nil {
			fmt.Fprintln(os.Stderr, "mcptest: the script is not JSON of the right form:", err)
			return 2
		}
	}
	newServer(script, os.Stdout, os.Stderr, os.Exit).run(os.Stdin)
	return 0
}
