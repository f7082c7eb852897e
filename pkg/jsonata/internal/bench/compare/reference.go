package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/bench"
)

//go:embed evaluate.js
var script string

// reference is a node process that evaluates with the jsonata package.
type reference struct {
	version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// errAbsent is returned if Node.js or the package is not installed.
var errAbsent = errors.New("absent")

// startReference starts node with the package in a folder.
func startReference(folder string) (*reference, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	manifest, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAbsent, err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAbsent, err)
	}
	r := &reference{}
	var pkg struct{ Version string }
	if err := json.Unmarshal(manifest, &pkg); err != nil {
		return nil, err
	}
	version, err := exec.Command(node, "--version").Output()
	if err != nil {
		return nil, err
	}
	r.version = fmt.Sprintf("jsonata %s on node %s", pkg.Version, version[:len(version)-1])
	r.cmd = exec.Command(node, "-e", script, folder)
	r.cmd.Stderr = os.Stderr
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReader(out)
	return r, r.cmd.Start()
}

func (r *reference) close() {
	r.in.Close()
	r.cmd.Wait()
}

// ask sends one request and reads its answer.
func (r *reference) ask(request, answer any) error {
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := r.in.Write(append(line, '\n')); err != nil {
		return err
	}
	if line, err = r.out.ReadBytes('\n'); err != nil {
		return fmt.Errorf("the reference gave no answer: %w", err)
	}
	return json.Unmarshal(line, answer)
}

// load compiles the expression of a case and checks its result.
func (r *reference) load(c bench.Case) error {
	var answer struct{ Result json.RawMessage }
	err := r.ask(map[string]any{"expr": c.Expr, "data": json.RawMessage(c.Data)}, &answer)
	if err == nil && string(answer.Result) != c.Want {
		err = fmt.Errorf("the reference gives %s, expected %s", answer.Result, c.Want)
	}
	return err
}

// run evaluates the loaded expression so often.
func (r *reference) run(times int) (time.Duration, error) {
	var answer struct{ Nanos int64 }
	err := r.ask(map[string]int{"times": times}, &answer)
	return time.Duration(answer.Nanos), err
}
