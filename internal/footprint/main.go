// Command footprint measures what the programs of this checkout cost before they do
// anything, beside those of another commit:
//
//	go run ./internal/footprint -base v1.2.3
//
// It builds all programs as a release does, and starts them in turns: each serves an
// example on stdio, and the client asks for the list of tools. It prints the least of
// several rounds:
//
//   - start: from the start of the process to the answer,
//   - processor: what the process took of the processors until its end,
//   - resident, anonymous: the memory of the process while nothing happens, and what of
//     that is no part of a file; on Linux alone,
//   - size: of the program without symbols; and packed, compressed as in a release.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	base := flag.String("base", "", "commit to compare with; empty: none")
	rounds := flag.Int("rounds", 10, "rounds to take the least of")
	rest := flag.Duration("rest", time.Second, "how long a program is idle before its memory is read")
	flag.Parse()
	if err := run(*base, *rounds, *rest); err != nil {
		fmt.Fprintln(os.Stderr, "footprint:", err)
		os.Exit(1)
	}
}

// example is what the programs serve.
const example = "examples/count_files.yaml"

func run(base string, rounds int, rest time.Duration) error {
	scratch, err := os.MkdirTemp("", "footprint")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	programs, err := build(".", scratch, "")
	if err != nil {
		return err
	}
	if base != "" {
		tree := filepath.Join(scratch, "base")
		// A clone, of which nothing is left in the repository.
		if err := command(".", "git", "clone", "--quiet", "--shared", "--no-checkout", ".", tree); err != nil {
			return err
		}
		if err := command(tree, "git", "checkout", "--quiet", "--detach", base); err != nil {
			return err
		}
		more, err := build(tree, scratch, base)
		if err != nil {
			return err
		}
		programs = append(programs, more...)
	}
	for range rounds {
		for _, p := range programs {
			if err := p.round(rest); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return write(os.Stdout, programs)
}

// command runs a program, whose output goes to stderr.
func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}

// program is what was measured of one program.
type program struct {
	name, path           string
	start, processor     time.Duration
	resident, anonymous  int64 // bytes
	size, packed, rounds int64
}

// build builds all programs of a checkout. of is the commit that it has, empty for this
// one.
func build(checkout, into, of string) ([]*program, error) {
	folders, err := filepath.Glob(filepath.Join(checkout, "cmd", "*", "main.go"))
	if err != nil {
		return nil, err
	}
	var programs []*program
	for _, main := range folders {
		name := filepath.Base(filepath.Dir(main))
		p := &program{name: strings.TrimSpace(name + " " + of), path: filepath.Join(into, name+"-"+of)}
		if err := command(checkout, "go", "build", "-trimpath", "-tags", "grpcnotrace", "-ldflags=-s -w", "-o", p.path, "./cmd/"+name); err != nil {
			return nil, err
		}
		if p.size, p.packed, err = sizes(p.path); err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// sizes returns how long a file is, and how long it is compressed.
func sizes(path string) (size, packed int64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return 0, 0, err
	}
	_, err = w.Write(text)
	return int64(len(text)), int64(out.Len()), errors.Join(err, w.Close())
}

// requests are what a client sends first.
const requests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"footprint","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// round starts the program once, and keeps what was less than before.
func (p *program) round(rest time.Duration) error {
	cmd := exec.Command(p.path, "serve", example)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	asked := func() error {
		if _, err := io.WriteString(in, requests); err != nil {
			return err
		}
		lines := bufio.NewReader(out)
		for range 2 {
			if _, err := lines.ReadString('\n'); err != nil {
				return err
			}
		}
		return nil
	}()
	start := time.Since(began)
	time.Sleep(rest)
	resident, anonymous := memory(cmd.Process.Pid)
	if err := errors.Join(asked, in.Close(), cmd.Wait()); err != nil {
		return err
	}
	processor := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if p.rounds++; p.rounds == 1 {
		p.start, p.processor, p.resident, p.anonymous = start, processor, resident, anonymous
		return nil
	}
	p.start, p.processor = min(p.start, start), min(p.processor, processor)
	p.resident, p.anonymous = min(p.resident, resident), min(p.anonymous, anonymous)
	return nil
}

// memory returns what a process holds, and what of that is no part of a file, in bytes; 0
// where the system does not tell.
func memory(pid int) (resident, anonymous int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "kB" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			switch f[0] {
			case "Rss:":
				resident = n << 10
			case "Anonymous:":
				anonymous = n << 10
			}
		}
	}
	return resident, anonymous
}

// write writes the table of what was measured.
func write(w io.Writer, programs []*program) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "program\tstart ms\tprocessor ms\tresident MiB\tanonymous MiB\tsize MB\tpacked MB\t")
	for _, p := range programs {
		fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", p.name,
			float64(p.start)/1e6, float64(p.processor)/1e6, float64(p.resident)/(1<<20), float64(p.anonymous)/(1<<20), float64(p.size)/1e6, float64(p.packed)/1e6)
	}
	return table.Flush()
}
