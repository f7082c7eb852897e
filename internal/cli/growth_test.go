package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/cli"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// growthVariable, set to a number, makes TestGrowth print a table of files that are so
// many times as long.
const growthVariable = "MCPGRAPH_GROWTH"

// work is what something costs, counted: it is the same on a busy machine.
type work struct{ objects, bytes uint64 }

func workUntilNow() work {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return work{s[0].Value.Uint64(), s[1].Value.Uint64()}
}

// growthRun does something with the file of a shape in a folder. It calls measured
// before the part that counts.
type growthRun func(t *testing.T, dir, text string, measured func())

var growthRuns = []struct {
	name string
	run  growthRun
}{
	{"validate", command("validate", "tools.yaml")},
	{"fmt", command("fmt", "--check", "tools.yaml")},
	{"test", command("test", "tools.test.yaml")},
	{"lock", command("lock", "tools.yaml")},
	{"lock --check", command("lock", "--check", "tools.yaml")},
	{"edit", editTwice},
	{"didChange", changeText},
	{"reload", reload},
}

// command runs one command, however it ends.
func command(args ...string) growthRun {
	return func(t *testing.T, dir, _ string, measured func()) {
		t.Chdir(dir)
		measured()
		cli.Main(args, strings.NewReader(""), io.Discard, io.Discard, nil, nil)
	}
}

// conversation runs a command that answers messages, and returns what sends to it and
// what reads from it.
func conversation(t *testing.T, args ...string) (in io.WriteCloser, out *bufio.Reader, end func()) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer outW.Close()
		defer inR.Close()
		cli.Main(args, inR, outW, io.Discard, nil, nil)
	}()
	return inW, bufio.NewReaderSize(outR, 1<<16), func() {
		inW.Close()
		_, _ = io.Copy(io.Discard, outR)
		<-done
	}
}

// editTwice checks the file with the toolkit, and adds a tool to it.
func editTwice(t *testing.T, dir, _ string, measured func()) {
	in, out, end := conversation(t, "toolkit", "-g", filepath.Join(dir, "tools.yaml"))
	defer end()
	ask := func(id int, method string, params any) bool {
		text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if _, err := fmt.Fprintf(in, "%s\n", text); err != nil {
			return false
		}
		line, err := out.ReadString('\n')
		if err == nil && len(line) > 5_000_000 {
			t.Errorf("an answer has %d bytes", len(line))
		}
		return err == nil
	}
	if !ask(1, "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}}) {
		return // the file has no servers that can be used
	}
	measured()
	ask(2, "tools/call", map[string]any{"name": "validateGraphTool", "arguments": map[string]any{}})
	definition := map[string]any{"name": "added", "description": "d", "inputSchema": map[string]any{"type": "object"}, "nodes": []any{
		map[string]any{"id": "begin", "type": "entry", "next": "end"}, map[string]any{"id": "end", "type": "exit"},
	}}
	ask(3, "tools/call", map[string]any{"name": "addGraphTool", "arguments": map[string]any{"tool": definition}})
}

// changeText opens the file in the language server and types a character.
func changeText(t *testing.T, dir, text string, measured func()) {
	in, out, end := conversation(t, "lsp")
	defer end()
	send := func(method string, id any, params any) {
		m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
		if id != nil {
			m["id"] = id
		}
		body, _ := json.Marshal(m)
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	until := func(what string) {
		for {
			n := 0
			for {
				header, err := out.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if header == "\r\n" {
					break
				}
				if length, ok := strings.CutPrefix(header, "Content-Length:"); ok {
					n, _ = strconv.Atoi(strings.TrimSpace(length))
				}
			}
			body := make([]byte, n)
			if _, err := io.ReadFull(out, body); err != nil {
				t.Fatal(err)
			}
			if n > 5_000_000 {
				t.Errorf("a message has %d bytes", n)
			}
			if bytes.Contains(body, []byte(what)) {
				return
			}
		}
	}
	uri := "file://" + filepath.ToSlash(filepath.Join(dir, "tools.yaml"))
	send("initialize", 1, map[string]any{"capabilities": map[string]any{}})
	until(`"id":1`)
	send("initialized", nil, map[string]any{})
	const found = "textDocument/publishDiagnostics"
	send("textDocument/didOpen", nil, map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
	until(found)
	measured()
	send("textDocument/didChange", nil, map[string]any{
		"textDocument":   map[string]any{"uri": uri, "version": 2},
		"contentChanges": []any{map[string]any{"range": map[string]any{"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 0, "character": 0}}, "text": "#\n"}},
	})
	until(found)
}

// reload replaces a small file by that of the shape.
func reload(t *testing.T, dir, text string, measured func()) {
	path := filepath.Join(dir, "reloaded.yaml")
	small := oneTool(anyInput, "      - {id: n0, type: transform, transform: {expr: \"1\"}, next: exit}\n")
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := mcpgraph.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	measured()
	if _, err := e.Reload(); err != nil {
		_ = err.Error()
	}
}

// measurement is what one run costs for one size.
type measurement struct {
	size int
	work
	time time.Duration
}

func (s *shape) measure(t *testing.T, n int, run growthRun) measurement {
	t.Helper()
	dir := t.TempDir()
	text := s.file(n)
	tests := "config: tools.yaml\ntests:\n  - {name: one, tool: t}\n"
	if s.tests != nil {
		tests = s.tests(n)
	}
	for name, content := range map[string]string{"tools.yaml": text, "tools.test.yaml": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var before work
	var begin time.Time
	run(t, dir, text, func() { begin, before = time.Now(), workUntilNow() })
	if begin.IsZero() {
		return measurement{size: len(text) + len(tests)}
	}
	after := workUntilNow()
	return measurement{len(text) + len(tests), work{after.objects - before.objects, after.bytes - before.bytes}, time.Since(begin)}
}

// maxGrowth is how many times as much the second half of a file may cost as the
// first, for each of its bytes. It is 1 if the work is linear, and 2 if it is
// quadratic.
const maxGrowth = 1.5

// growthAttempts is how often a shape is measured whose work seems to grow faster, with
// files that are twice as long after each two attempts: what buffers and pools take by
// chance counts less there, and what is quadratic more.
const growthAttempts = 6

// growth compares what the steps from n to 2n and from 2n to 4n cost. Less than noise is
// what runs beside it.
func growth(of [3]measurement, noise float64, count func(work) uint64) float64 {
	cost := func(a, b measurement) float64 { return float64(count(b.work)) - float64(count(a.work)) }
	first := max(cost(of[0], of[1]), noise) / float64(of[1].size-of[0].size)
	return (cost(of[1], of[2]) - noise) / float64(of[2].size-of[1].size) / first
}

// TestGrowth counts what commands, edits, checks while typing and reloads allocate for
// files of every shape at n, 2n and 4n.
func TestGrowth(t *testing.T) {
	scale, _ := strconv.Atoi(os.Getenv(growthVariable))
	table := scale > 0
	if table {
		fmt.Printf("%-38s %-12s %28s %34s %28s %7s\n", "shape", "", "kB", "objects (1,000)", "ms", "growth")
	}
	for i, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			if i%6 != 0 && !table {
				testscale.OnlyFull(t)
			}
			for _, r := range growthRuns {
				var of [3]measurement
				var objects, size float64
				// A collection in between empties the pools, and what was in them is made
				// again: the lesser of two measurements is the work.
				for attempt := range growthAttempts {
					for i := range of {
						m := s.measure(t, s.n*max(scale, 1)<<(attempt/2+i), r.run)
						if attempt%2 > 0 {
							m.work = work{min(m.objects, of[i].objects), min(m.bytes, of[i].bytes)}
						}
						of[i] = m
					}
					objects = growth(of, 10_000, func(w work) uint64 { return w.objects })
					size = growth(of, 2_000_000, func(w work) uint64 { return w.bytes })
					if objects <= maxGrowth && size <= maxGrowth {
						break
					}
				}
				if table {
					fmt.Printf("%-38s %-12s %8d %9d %9d %10d %11d %11d %8d %9d %9d %7.2f\n", s.name, r.name,
						of[0].size/1000, of[1].size/1000, of[2].size/1000,
						of[0].objects/1000, of[1].objects/1000, of[2].objects/1000,
						of[0].time.Milliseconds(), of[1].time.Milliseconds(), of[2].time.Milliseconds(), max(objects, size))
				}
				if objects > maxGrowth || size > maxGrowth {
					t.Errorf("%s: work grows faster than the file: objects %.2f, bytes %.2f: %+v", r.name, objects, size, of)
				}
			}
		})
	}
}
