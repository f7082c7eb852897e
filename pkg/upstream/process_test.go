package upstream

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// pid calls a tool of the server fake that answers a process id.
func pid(t *testing.T, p *Pool, tool string) int {
	t.Helper()
	return int(mustCall(t, p, tool, `{}`).Get("structuredContent").Get("pid").Float())
}

func gone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !running(pid) })
}

func TestCloseEndsTheServerAndWhatItStarted(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	for _, c := range []struct {
		name  string
		start mcptest.Start
		ctx   func() (context.Context, context.CancelFunc)
	}{
		{"at the end of its input", "", func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }},
		{"by force", mcptest.StartStubborn, func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 100*time.Millisecond)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New([]*config.Upstream{child(mcptest.Script{Start: c.start})}, Options{})
			server, grandchild := pid(t, p, "process"), pid(t, p, "spawn")
			if !running(server) || !running(grandchild) {
				t.Fatal("they do not run")
			}
			ctx, cancel := c.ctx()
			defer cancel()
			if err := p.Close(ctx); err != nil {
				t.Fatal(err)
			}
			gone(t, server)
			gone(t, grandchild)
		})
	}
}

func TestDeathOfTheServerEndsWhatItStarted(t *testing.T) {
	unixOnly(t)
	p := start(t, Options{}, child(mcptest.Script{}))
	grandchild := pid(t, p, "spawn")
	mustFail(t, p, "exit", `{}`)
	gone(t, grandchild)
	mustCall(t, p, "echo", `{}`)
}

// programVariable makes the test binary a program that holds a pool with one
// server, prints the server's process id, and waits to be killed.
const programVariable = "UPSTREAM_TEST_HOLDER"

func TestServerDoesNotOutliveAProgramThatIsKilled(t *testing.T) {
	if os.Getenv(programVariable) != "" {
		p := New([]*config.Upstream{child(mcptest.Script{Start: mcptest.StartStubborn})}, Options{})
		fmt.Println("pid:", pid(t, p, "process"), pid(t, p, "spawn"))
		select {}
	}
	unixOnly(t)
	program := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	program.Env = append(os.Environ(), programVariable+"=1")
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	var server, grandchild int
	if _, err := fmt.Fscanf(out, "pid: %d %d\n", &server, &grandchild); err != nil || !running(server) || !running(grandchild) {
		t.Fatalf("the program printed no ids of running processes: %v", err)
	}
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait()
	gone(t, server)
	gone(t, grandchild) // which never looks at its input
}

// A child must not be taken for an orphan when the thread that started it ends.
func TestServerOutlivesTheThreadThatCalledItFirst(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, child(mcptest.Script{}))
	first := make(chan int)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		first <- pid(t, p, "process")
	}()
	server := <-first
	for range 20 {
		done := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(done)
		}()
		<-done
	}
	time.Sleep(50 * time.Millisecond)
	if again := pid(t, p, "process"); again != server {
		t.Errorf("process %d was replaced by %d", server, again)
	}
}

func TestWorkingDirectoryArgumentsAndEnvironmentReachTheServer(t *testing.T) {
	t.Setenv("UPSTREAM_TEST_OURS", "ours")
	t.Setenv("UPSTREAM_TEST_LISTED", "listed")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		inherit config.Inherit
		ours    string
		listed  string
	}{
		{"everything", config.Inherit{All: true}, "ours", "listed"},
		{"nothing", config.Inherit{}, "", ""},
		{"names", config.Inherit{Names: []string{"UPSTREAM_TEST_LISTED"}}, "", "listed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, Options{}, child(mcptest.Script{}, func(u *config.Upstream) {
				u.Cwd, u.Args, u.InheritEnv = dir, []string{"--flag", "two words", ""}, c.inherit
				u.Env = append(u.Env, config.EnvVar{Name: "UPSTREAM_TEST_OWN", Value: "its own"})
			}))
			told := mustCall(t, p, "process", `{}`).Get("structuredContent")
			if got := told.Get("cwd").Str(); got != dir {
				t.Errorf("cwd %q, want %q", got, dir)
			}
			if got := told.Get("args").JSON(); got != `["--flag","two words",""]` {
				t.Errorf("args %s", got)
			}
			for name, want := range map[string]string{
				"UPSTREAM_TEST_OURS": c.ours, "UPSTREAM_TEST_LISTED": c.listed,
				"UPSTREAM_TEST_OWN": "its own", "PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME"),
			} {
				if got := told.Get("env").Get(name).Str(); got != want {
					t.Errorf("%s=%q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestCommandIsLookedUpOnTheServersOwnPath(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "my-server")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'found me' >&2\nexit 4\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, Options{}, &config.Upstream{
		Name: "fake", Transport: config.Stdio, Command: "my-server",
		Env: []config.EnvVar{{Name: "PATH", Value: "/nowhere" + string(filepath.ListSeparator) + dir}},
	})
	if e := mustFail(t, p, "echo", `{}`); !strings.Contains(e.Error(), "exited (code 4)") || !strings.Contains(e.Error(), "found me") {
		t.Error(e)
	}
}

func unixOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no process groups on Windows")
	}
}
