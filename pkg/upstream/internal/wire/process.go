package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/background"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// How long a child process may take over each step of its end.
const (
	// exitAfterEOF is from the end of its input, or of its output, to its exit.
	exitAfterEOF = 2 * time.Second
	// exitAfterTerm is from SIGTERM to its exit; then it is killed.
	exitAfterTerm = 3 * time.Second
	// outputAfterExit is how long we go on reading what a dead process wrote.
	outputAfterExit = 250 * time.Millisecond
)

// process is a child process, the leader of a process group of its own.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File

	exited chan struct{} // closed when the leader is gone and its group killed
	status error         // of the exit; set before exited is closed
}

// startProcess starts the entry's command. The child outlives neither close
// nor this process.
func startProcess(u *config.Upstream, log *PeerLog) (*process, error) {
	if u.Cwd != "" {
		// The system would name the command as what does not exist.
		if _, err := os.Stat(u.Cwd); err != nil {
			return nil, fmt.Errorf("its working directory: %w", err)
		}
	}
	environment := environ(u, os.Environ())
	path, err := lookPath(u.Command, environment)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	pipe := func() (*os.File, *os.File) {
		r, w, e := os.Pipe()
		if e != nil {
			err = e
			return nil, nil
		}
		files = append(files, r, w)
		return r, w
	}
	childIn, stdin := pipe()
	stdout, childOut := pipe()
	stderr, childErr := pipe()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: append([]string{u.Command}, u.Args...), Env: environment, Dir: u.Cwd,
		Stdin: childIn, Stdout: childOut, Stderr: childErr,
	}
	ownGroup(cmd)
	if err := spawn(cmd); err != nil {
		return nil, err
	}
	files = []*os.File{childIn, childOut, childErr} // the child has its own
	p := &process{cmd: cmd, stdin: stdin, stdout: stdout, exited: make(chan struct{})}
	drained := make(chan struct{})
	go func() {
		log.drain(stderr)
		close(drained)
	}()
	go p.reap(stderr, drained)
	return p, nil
}

// reap waits for the leader's exit, ends what it left behind and makes sure
// that both of its outputs end.
func (p *process) reap(stderr io.Closer, drained <-chan struct{}) {
	release := guardGroup(p.cmd.Process.Pid)
	p.status = p.cmd.Wait()
	killGroup(p.cmd.Process)
	release()
	// Where a process that left the group still holds them, they never end.
	select {
	case <-drained:
	case <-time.After(outputAfterExit):
	}
	stderr.Close()
	close(p.exited)
	time.AfterFunc(outputAfterExit, func() { p.stdout.Close() })
}

// exitsWithin reports whether the process is gone within d. The end of ctx cuts d
// short.
func (p *process) exitsWithin(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// stop makes the process exit: it sees the end of its input, then SIGTERM, then
// SIGKILL. It returns when the process is gone. The end of ctx skips the waits.
func (p *process) stop(ctx context.Context) {
	p.stdin.Close()
	if p.exitsWithin(ctx, exitAfterEOF) {
		return
	}
	terminateGroup(p.cmd.Process)
	if p.exitsWithin(ctx, exitAfterTerm) {
		return
	}
	killGroup(p.cmd.Process)
	<-p.exited
}

// exitStatus returns how the process ended, in words. It is called after the exit.
func (p *process) exitStatus() string {
	var exit *exec.ExitError
	switch {
	case p.status == nil:
		return "exited (code 0)"
	case errors.As(p.status, &exit) && exit.ExitCode() >= 0:
		return fmt.Sprintf("exited (code %d)", exit.ExitCode())
	case errors.As(p.status, &exit):
		return "was ended by a " + exit.String() // "signal: killed"
	}
	return "ended: " + p.status.Error()
}

// essentialVariables names what any program needs to run.
var essentialVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
	// of Windows
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES",
	"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}

// environ returns the environment of the entry's process: what it inherits of
// ours, and its own variables over that.
func environ(u *config.Upstream, ours []string) []string {
	var out []string
	for _, pair := range ours {
		name, _, _ := strings.Cut(pair, "=")
		if u.InheritEnv.All || hasName(essentialVariables, name) || hasName(u.InheritEnv.Names, name) {
			out = append(out, pair)
		}
	}
	for _, v := range u.Env {
		out = append(out, v.Name+"="+v.Value)
	}
	return out
}

func hasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)
	})
}

// lookPath finds the command as the child would: on the PATH that it is given.
func lookPath(command string, environment []string) (string, error) {
	if filepath.Base(command) != command {
		return command, nil // relative to the child's working directory
	}
	for _, pair := range slices.Backward(environment) {
		name, path, _ := strings.Cut(pair, "=")
		if !hasName([]string{"PATH"}, name) {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if dir == "" {
				continue
			}
			if found, err := exec.LookPath(filepath.Join(dir, command)); err == nil {
				return filepath.Abs(found)
			}
		}
		break
	}
	return "", &exec.Error{Name: command, Err: exec.ErrNotFound}
}

// spawn starts cmd on a thread that lives as long as this process. Linux sends
// the signal that a child asks for at its parent's death when the thread that
// started it ends (prctl(2), PR_SET_PDEATHSIG), and Go ends threads when it
// likes.
func spawn(cmd *exec.Cmd) error {
	var err error
	var done sync.Mutex // a channel could belong to a bubble of virtual time
	done.Lock()
	spawner() <- func() {
		err = cmd.Start()
		done.Unlock()
	}
	done.Lock()
	defer done.Unlock()
	return err
}

var spawner = sync.OnceValue(func() (work chan<- func()) {
	background.Do(func() {
		all := make(chan func())
		go func() {
			runtime.LockOSThread()
			for f := range all {
				f()
			}
		}()
		work = all
	})
	return work
})
