package virtualtime

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTimePassesAtOnce(t *testing.T) {
	var began, ended time.Time
	err := Run(func() {
		began = time.Now()
		done := make(chan bool)
		time.AfterFunc(24*time.Hour, func() { close(done) })
		<-done
		ended = time.Now()
	})
	if err != nil || ended.Sub(began) != 24*time.Hour || !began.Equal(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Error(began, ended, err)
	}
}

func TestDeadlocksAndPanicsAreErrors(t *testing.T) {
	for range 3 {
		if err := Run(func() { <-make(chan int) }); !errors.Is(err, ErrDeadlock) {
			t.Error(err)
		}
		var p *PanicError
		if err := Run(func() { panic("boo") }); !errors.As(err, &p) || p.Value != "boo" || !strings.Contains(string(p.Stack), "virtualtime_test") {
			t.Error(err)
		}
		if err := Run(func() { go func() { <-make(chan int) }() }); !errors.Is(err, ErrDeadlock) {
			t.Error(err)
		}
		if err := Run(func() {}); err != nil {
			t.Error(err)
		}
	}
}

func TestBubblesRunSideBySide(t *testing.T) {
	var wait sync.WaitGroup
	for range 200 {
		wait.Go(func() {
			if err := Run(func() { time.Sleep(time.Hour) }); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

const childVariable = "VIRTUALTIME_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		errs := []error{
			Run(func() { time.Sleep(time.Hour) }),
			Run(func() { <-make(chan int) }),
			Run(func() { panic("boo") }),
			Run(func() { time.Sleep(time.Hour) }),
		}
		fmt.Println(errs)
		os.Exit(7)
	}
	os.Exit(m.Run())
}

// A process prints nothing and goes on, whatever happens in bubbles.
func TestNothingIsPrinted(t *testing.T) {
	var stdout, stderr strings.Builder
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childVariable+"=1")
	child.Stdout, child.Stderr = &stdout, &stderr
	err := child.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Error(err)
	}
	want := "[<nil> " + ErrDeadlock.Error() + " internal error: boo <nil>]\n"
	if stdout.String() != want || stderr.String() != "" {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
}
