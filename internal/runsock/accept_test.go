package runsock

import (
	"context"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// A server that takes connections and does not answer, as one that is stopped, does not
// hold up those who look for servers, and they learn of it.
func TestServersThatHangAreLeftOut(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "r")
	s, err := Listen(folder, "shop", func() runs.View { return runs.NewMemory(runs.New(runs.Limits{}), nil, nil) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	l, err := net.Listen("unix", filepath.Join(folder, "hangs-1"+extension))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if found, silent := Servers(ctx, folder); len(found) != 1 || !found[0].Is("shop") || len(silent) != 1 || silent[0].Server != "hangs-1" {
		t.Errorf("there are %v, and %v without an answer", found, silent)
	}
}

// flaky fails once to accept.
type flaky struct {
	net.Listener
	failed bool
}

func (f *flaky) Accept() (net.Conn, error) {
	if !f.failed {
		f.failed = true
		return nil, syscall.EMFILE
	}
	return f.Listener.Accept()
}

// A process that is short of descriptors for a while shows its runs afterwards.
func TestFailedAcceptsDoNotEndTheServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop-1"+extension)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := serveOn(&flaky{Listener: l}, func() runs.View { return runs.NewMemory(runs.New(runs.Limits{}), nil, nil) })
	t.Cleanup(s.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := ""
	c := &Client{Server: "shop-1", path: path}
	if err := c.ask(ctx, request{Method: "name"}, func(m *reply) bool { name = m.Name; return true }); err != nil || name != "this process" {
		t.Errorf("it is called %q, %v", name, err)
	}
}
