package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpgraph/mcpgraph/internal/cli"
	"github.com/mcpgraph/mcpgraph/internal/temporal"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// program is the command line of the tests, as a process.
func program() {
	cli.Exit(cli.Main(cli.Program(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr, os.Environ(), temporal.Dial))
}

// code runs a command and checks its exit code: code 2 mcpgraph run.
//
// A quick run lets one process run all these commands of a script, because to
// start a process for each takes most of their time.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [args...]")
	}
	run := inProcess
	if s := shared(ts); s != nil && args[1] == "mcpgraph" && state(ts, "stdin").Len() == 0 && state(ts, "ttyin").Len() == 0 {
		run = s.run
	}
	if got := run(ts, args[1], args[2:]); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// inProcess runs a command in a process of its own and returns its exit code, or
// why it has none.
func inProcess(ts *testscript.TestScript, name string, args []string) string {
	var exit *exec.ExitError
	if err := ts.Exec(name, args...); errors.As(err, &exit) {
		return strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		return err.Error()
	}
	return "0"
}

// state returns a field of the script that has no accessor.
func state(ts *testscript.TestScript, name string) reflect.Value {
	field := reflect.ValueOf(ts).Elem().FieldByName(name)
	if !field.IsValid() {
		ts.Fatalf("testscript.TestScript has no field %s any more", name)
	}
	return field
}

// sharedProcess is the process that runs the commands of one script. It starts with
// the first of them.
type sharedProcess struct {
	cmd  *exec.Cmd
	in   *json.Encoder
	out  *json.Decoder
	errs bytes.Buffer
}

// sharedName is the program that runs many commands, and the key of a script's
// process.
const sharedName = "mcpgraphs"

type sharedCommand struct {
	Dir       string
	Env, Args []string
}

type sharedResult struct {
	Code           int
	Stdout, Stderr []byte
}

// share lets a script have a process for its commands.
func share(e *testscript.Env) {
	if testscale.Full() {
		return
	}
	s := &sharedProcess{}
	e.Values[sharedName] = s
	e.Defer(s.end)
}

// shared returns the process for the commands of a script, or nil.
func shared(ts *testscript.TestScript) *sharedProcess {
	s, _ := ts.Value(sharedName).(*sharedProcess)
	return s
}

func (s *sharedProcess) start() error {
	s.cmd = exec.Command(sharedName)
	s.cmd.Stderr = &s.errs
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	s.in, s.out = json.NewEncoder(in), json.NewDecoder(out)
	return s.cmd.Start()
}

func (s *sharedProcess) end() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// run runs a command as inProcess does.
func (s *sharedProcess) run(ts *testscript.TestScript, _ string, args []string) string {
	if s.cmd == nil {
		ts.Check(s.start())
	}
	c := sharedCommand{Dir: ts.MkAbs("."), Args: args}
	for _, variable := range state(ts, "env").Seq2() {
		c.Env = append(c.Env, variable.String())
	}
	c.Env = append(c.Env, "PWD="+c.Dir)
	ts.Check(s.in.Encode(c))
	var r sharedResult
	if err := s.out.Decode(&r); err != nil {
		_ = s.cmd.Wait()
		ts.Fatalf("the process of this script has ended: %v\n%s", s.cmd.ProcessState, s.errs.String())
	}
	_, _ = ts.Stdout().Write(r.Stdout)
	_, _ = ts.Stderr().Write(r.Stderr)
	return strconv.Itoa(r.Code)
}

// runMany is the process that runs many commands, each in its folder and with its
// variables.
func runMany() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr
	for {
		var c sharedCommand
		if in.Decode(&c) != nil {
			return
		}
		if err := enter(c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		var stdout, stderr bytes.Buffer
		code := cli.Main(c.Args, strings.NewReader(""), &stdout, &stderr, c.Env, temporal.Dial)
		_ = out.Encode(sharedResult{Code: code, Stdout: stdout.Bytes(), Stderr: stderr.Bytes()})
	}
}

func enter(c sharedCommand) error {
	os.Clearenv()
	for _, variable := range c.Env {
		name, v, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, v); err != nil {
			return err
		}
	}
	return os.Chdir(filepath.Clean(c.Dir))
}
