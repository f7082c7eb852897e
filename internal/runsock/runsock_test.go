//go:build unix

package runsock_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/placetest"
	"github.com/mcpgraph/mcpgraph/internal/runsock"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// loaded returns an engine with the tools of the checks, and what starts runs of them.
func loaded(t *testing.T) (*mcpgraph.Engine, func(context.Context, *runs.Call) (string, error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	if err := os.WriteFile(path, []byte(placetest.File), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := mcpgraph.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	life := t.Context() // the runs go on after the check that started them
	return e, func(_ context.Context, c *runs.Call) (string, error) {
		s, err := e.Debug(life, c.Run.Graph().Name, c.Run.Args(), mcpgraph.WithCallInfo(c.Info))
		if err != nil {
			return "", err
		}
		return s.ID(), nil
	}
}

func TestTheRunsOfThisProcess(t *testing.T) {
	e, begin := loaded(t)
	t.Run("in the process", func(t *testing.T) { placetest.RunView(t, e.Place(), e, begin) })
}

// listen serves the runs of an engine in a folder, and returns the client.
func listen(t *testing.T, e *mcpgraph.Engine, folder, name string) (*runsock.Server, *runsock.Client) {
	t.Helper()
	s, err := runsock.Listen(folder, name, func() runs.View { return e.Place() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	all, _ := runsock.Servers(t.Context(), folder)
	for _, c := range all {
		if c.Is(name) {
			return s, c
		}
	}
	t.Fatal("there is no such server")
	return nil, nil
}

func TestTheRunsOfAnotherProcess(t *testing.T) {
	e, begin := loaded(t)
	folder := filepath.Join(t.TempDir(), "r")
	_, c := listen(t, e, folder, "my shop/1")
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	if !c.Is("my shop/1") || !c.Is(c.Server) || c.Is("my") {
		t.Errorf("it is called %s", c.Server)
	}
	t.Run("over the socket", func(t *testing.T) { placetest.RunView(t, c, e, begin) })
}

func TestServersThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	e, _ := loaded(t)
	folder := filepath.Join(t.TempDir(), "r")
	s, c := listen(t, e, folder, "shop")
	left := filepath.Join(folder, "left-1.sock") // as after kill -9
	l, err := net.Listen("unix", left)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	if found, _ := runsock.Servers(t.Context(), folder); len(found) != 1 || found[0].Server != c.Server {
		t.Errorf("there are %v", found)
	}
	if _, err := os.Lstat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is left is there: %v", err)
	}
	s.Close()
	if found, _ := runsock.Servers(t.Context(), folder); len(found) != 0 {
		t.Errorf("after its end there are %v", found)
	}
	if _, err := c.Look(t.Context(), runs.Who{}, "x", runs.Brief); !errors.Is(err, runs.ErrUnavailable) {
		t.Errorf("a look at it: %v", err)
	}
}

func TestAFolderThatOthersCanUseIsRefused(t *testing.T) {
	t.Parallel()
	e, _ := loaded(t)
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if s, err := runsock.Listen(folder, "shop", func() runs.View { return e.Place() }); err == nil {
		s.Close()
		t.Error("it was taken")
	}
	link := filepath.Join(t.TempDir(), "link")
	own := t.TempDir()
	if err := errors.Join(os.Chmod(own, 0o700), os.Symlink(own, link)); err != nil {
		t.Fatal(err)
	}
	if s, err := runsock.Listen(link, "shop", func() runs.View { return e.Place() }); err == nil {
		s.Close()
		t.Error("a link was taken")
	}
}

// TestHostileRequests says nonsense, and too much, and shows that others are answered.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	e, _ := loaded(t)
	folder := filepath.Join(t.TempDir(), "r")
	s, c := listen(t, e, folder, "shop")
	path := filepath.Join(folder, c.Server+".sock")
	long, _ := json.Marshal(map[string]string{"method": string(make([]byte, 5<<20))})
	for _, text := range []string{"", "\n", "{}\n", `{"method":"none"}` + "\n", `{"method":7}` + "\n", "[", string(long) + "\n"} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = conn.Write([]byte(text)) // it may be closed before all is written
		if u, ok := conn.(*net.UnixConn); ok && (text == "" || text == "[") {
			_ = u.CloseWrite()
		}
		_, _ = conn.Read(make([]byte, 1<<10))
		_ = conn.Close()
	}
	if _, err := c.Look(t.Context(), runs.Who{}, "none", runs.Brief); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("a look afterwards: %v", err)
	}
	s.Close() // waits for what the requests began
}
