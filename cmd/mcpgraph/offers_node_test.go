package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// script is a client that testdata/offers.mjs drives.
type script struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Scanner
}

// requestTypeScript connects a generation of the official TypeScript SDK.
func requestTypeScript(generation string) func(*testing.T, context.Context, string, string) requester {
	return func(t *testing.T, ctx context.Context, url, revision string) requester {
		t.Helper()
		bin := mcptest.RealServers(t)
		place := map[string]any{"command": binary, "args": []string{"serve", offersFile}}
		if url != "" {
			place = map[string]any{"url": url}
		}
		where, err := json.Marshal(place)
		if err != nil {
			t.Fatal(err)
		}
		s := &script{cmd: exec.CommandContext(ctx, filepath.Join(bin, "node"), "testdata/offers.mjs", filepath.Dir(bin), generation, revision, string(where))}
		s.cmd.Stderr = t.Output()
		if s.stdin, err = s.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		stdout, err := s.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		s.answers = bufio.NewScanner(stdout)
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func (s *script) request(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	line, err := json.Marshal(map[string]any{"method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := s.stdin.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	if !s.answers.Scan() {
		return nil, errors.Join(errors.New("no answer"), s.answers.Err())
	}
	var answer struct {
		Result json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(s.answers.Bytes(), &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	return answer.Result, nil
}

func (s *script) close() error {
	return errors.Join(s.stdin.Close(), s.cmd.Wait())
}

// inspector makes each request with the command line of MCP Inspector.
type inspector struct {
	bin   string
	place []string
}

// requestInspector speaks the older revision over stdio and the newer over HTTP: each
// request starts a process.
func requestInspector(t *testing.T, _ context.Context, url, _ string) requester {
	t.Helper()
	i := &inspector{bin: mcptest.RealServers(t), place: []string{binary, "serve", offersFile}}
	if url != "" {
		i.place = []string{url, "--transport", "http", "--protocol-era", "modern"}
	}
	return i
}

func (i *inspector) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Name, URI string
		Arguments map[string]string
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{filepath.Join(i.bin, "mcp-inspector"), "--cli"}, i.place, []string{"--method", method})
	if p.Name != "" {
		args = append(args, "--prompt-name", p.Name)
	}
	if p.URI != "" {
		args = append(args, "--uri", p.URI)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Arguments)) {
		args = append(args, "--prompt-args", name+"="+p.Arguments[name])
	}
	cmd := exec.CommandContext(ctx, filepath.Join(i.bin, "node"), args...)
	cmd.Env = append(os.Environ(), "PATH="+i.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New(string(stderrOf(err)))
	}
	return out, nil
}

func (*inspector) close() error { return nil }
