package repotest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// languageServer is a running language server that a test drives over stdio, as
// an editor does. For one goroutine.
type languageServer struct {
	t      *testing.T
	in     io.WriteCloser
	out    *bufio.Reader
	lastID int
	// problems are the latest diagnostics of each document, by its URI.
	problems map[string][]lspDiagnostic
}

type lspPosition struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type lspDiagnostic struct {
	Range   struct{ Start, End lspPosition }
	Message string
}

// startYAMLServer starts yaml-language-server. Without it the test is skipped;
// in CI it fails.
func startYAMLServer(t *testing.T) *languageServer {
	t.Helper()
	needRealServers(t)
	bin := filepath.Join(realServers, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, "yaml-language-server")); err != nil {
		missingRealServers(t, "yaml-language-server is missing")
	}
	cmd := exec.Command(filepath.Join(bin, "node"), filepath.Join(bin, "yaml-language-server"), "--stdio")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &languageServer{t: t, in: in, out: bufio.NewReader(out), problems: map[string][]lspDiagnostic{}}
	t.Cleanup(func() {
		_ = s.in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s.call("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": nil,
		"capabilities": map[string]any{"textDocument": map[string]any{
			"completion": map[string]any{"completionItem": map[string]any{"documentationFormat": []string{"markdown"}}},
			"hover":      map[string]any{"contentFormat": []string{"markdown"}},
		}},
	}, nil)
	s.send(map[string]any{"method": "initialized", "params": map[string]any{}})
	s.send(map[string]any{"method": "workspace/didChangeConfiguration", "params": map[string]any{
		"settings": map[string]any{"yaml": map[string]any{
			"completion": true, "hover": true, "validate": true,
			"schemaStore": map[string]any{"enable": false},
		}},
	}})
	return s
}

// send writes one message.
func (s *languageServer) send(message map[string]any) {
	s.t.Helper()
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		s.t.Fatal(err)
	}
}

type lspMessage struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// receive reads one message. It answers the server's own requests with null and
// keeps diagnostics.
func (s *languageServer) receive() lspMessage {
	s.t.Helper()
	length := 0
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the language server ended: %v", err)
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if n, ok := strings.CutPrefix(line, "Content-Length:"); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(n)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(s.out, body); err != nil {
		s.t.Fatal(err)
	}
	var m lspMessage
	if err := json.Unmarshal(body, &m); err != nil {
		s.t.Fatal(err)
	}
	switch {
	case m.Method == "textDocument/publishDiagnostics":
		var p struct {
			URI         string
			Diagnostics []lspDiagnostic
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			s.t.Fatal(err)
		}
		s.problems[p.URI] = p.Diagnostics
	case m.Method != "" && m.ID != nil:
		s.send(map[string]any{"id": m.ID, "result": nil})
	}
	return m
}

// call sends a request and decodes its result into out, unless that is nil.
func (s *languageServer) call(method string, params, out any) {
	s.t.Helper()
	s.lastID++
	s.send(map[string]any{"id": s.lastID, "method": method, "params": params})
	for {
		m := s.receive()
		if m.Method != "" || string(m.ID) != strconv.Itoa(s.lastID) {
			continue
		}
		if m.Error != nil {
			s.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if out == nil {
			return
		}
		if err := json.Unmarshal(m.Result, out); err != nil {
			s.t.Fatal(err)
		}
		return
	}
}

// open opens a document and returns its URI.
func (s *languageServer) open(path, text string) (uri string) {
	s.t.Helper()
	uri = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	s.send(map[string]any{"method": "textDocument/didOpen", "params": map[string]any{
		"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text},
	}})
	return uri
}

// diagnostics waits for the diagnostics of a document that was opened.
func (s *languageServer) diagnostics(uri string) []lspDiagnostic {
	s.t.Helper()
	for {
		if found, ok := s.problems[uri]; ok {
			return found
		}
		s.receive()
	}
}
