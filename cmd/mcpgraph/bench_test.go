package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pipes starts a program and returns both ends.
func pipes(b *testing.B, binary, config string) (io.WriteCloser, *bufio.Reader, *exec.Cmd) {
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
			in, out, cmd := pipes(b, binary, "testdata/tools.yaml")
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
// first tools/list, and what memory it holds then: all that is resident, and of
// that what is not backed by the program's file (Linux). The program is built as
// `make build` does it.
func BenchmarkStart(b *testing.B) {
	if out, err := exec.Command("make", "-C", "../..", "build").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	b.ResetTimer()
	var times, resident, private []float64
	for range b.N {
		began := time.Now()
		in, out, cmd := pipes(b, "../../bin/mcpgraph", "../../examples/count_files.yaml")
		if _, err := io.WriteString(in, initialize+`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n"); err != nil {
			b.Fatal(err)
		}
		for range 2 {
			if _, err := out.ReadString('\n'); err != nil {
				b.Fatal(err)
			}
		}
		times = append(times, float64(time.Since(began).Microseconds())/1000)
		b.StopTimer()
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)); err == nil {
			resident = append(resident, megabytes(b, status, "VmRSS"))
			private = append(private, megabytes(b, status, "RssAnon"))
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(median(times), "median-ms")
	if len(resident) > 0 {
		b.ReportMetric(median(resident), "MB-resident")
		b.ReportMetric(median(private), "MB-private")
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// megabytes gives a field of /proc/PID/status.
func megabytes(b *testing.B, status []byte, field string) float64 {
	_, rest, _ := strings.Cut(string(status), field+":")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " kB")
	kilobytes, err := strconv.ParseFloat(number, 64)
	if err != nil {
		b.Fatalf("%s: %v", field, err)
	}
	return kilobytes / 1024
}
