package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// pipes starts the program and returns both ends.
func pipes(b *testing.B, config string) (io.WriteCloser, *bufio.Reader, *exec.Cmd) {
	cmd := exec.Command(binary, "serve", config)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return in, bufio.NewReader(out), cmd
}

const initialize = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}` + "\n"

// BenchmarkCall measures calls of a graph of entry and exit from another
// process, with a number of calls under way at any time.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			in, out, cmd := pipes(b, "testdata/tools.yaml")
			answered := func() {
				line, err := out.ReadString('\n')
				if err != nil || !strings.Contains(line, `"result"`) || strings.Contains(line, "isError") {
					b.Fatalf("%v: %s", err, line)
				}
			}
			if _, err := io.WriteString(in, initialize); err != nil {
				b.Fatal(err)
			}
			answered()
			slots := make(chan struct{}, callers)
			b.ResetTimer()
			go func() {
				for i := range b.N {
					slots <- struct{}{}
					if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"pair","arguments":{"n":%d}}}`+"\n", i, i); err != nil {
						b.Error(err)
						return
					}
				}
			}()
			for range b.N {
				answered()
				<-slots
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			b.StopTimer()
			in.Close()
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkStart measures from the start of the process to the answer to its
// first tools/list.
func BenchmarkStart(b *testing.B) {
	for range b.N {
		in, out, cmd := pipes(b, "testdata/tools.yaml")
		if _, err := io.WriteString(in, initialize+`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n"); err != nil {
			b.Fatal(err)
		}
		for range 2 {
			if _, err := out.ReadString('\n'); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
