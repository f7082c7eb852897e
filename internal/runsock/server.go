package runsock

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Bounds of the requests to a server.
const (
	maxConnections = 32
	readTime       = 10 * time.Second // for a request to come
	writeTime      = 30 * time.Second // for a reply to be taken
	acceptPause    = 100 * time.Millisecond
	maxNameInPath  = 40 // of a server, in bytes; paths of sockets have 104 at most
	extension      = ".sock"
)

// Server answers requests until it is closed.
type Server struct {
	listener net.Listener
	view     func() runs.View
	life     context.Context
	end      context.CancelFunc
	slots    chan struct{}
	wait     sync.WaitGroup
}

// Listen lets the runs of a server with this name be seen in a folder, which it makes. View
// is called for each request.
func Listen(folder, name string, view func() runs.View) (*Server, error) {
	if err := ready(folder); err != nil {
		return nil, err
	}
	_ = sockets(context.Background(), folder) // removes what others have left
	path := filepath.Join(folder, fmt.Sprintf("%s-%d%s", fileName(name), os.Getpid(), extension))
	_ = os.Remove(path) // of a process that had this number before
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return serveOn(l, view), nil
}

func serveOn(l net.Listener, view func() runs.View) *Server {
	s := &Server{listener: l, view: view, slots: make(chan struct{}, maxConnections)}
	s.life, s.end = context.WithCancel(context.Background())
	s.wait.Go(s.accept)
	return s
}

// fileName returns a name of a server as a part of a path.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxNameInPath)]
}

// ready makes the folder, for this user alone.
func ready(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return check(folder)
}

// Close ends the connections and removes the socket.
func (s *Server) Close() {
	s.end()
	_ = s.listener.Close()
	s.wait.Wait()
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) || s.life.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		if err != nil { // such as too many open files, for a while
			select {
			case <-time.After(acceptPause):
			case <-s.life.Done():
			}
			continue
		}
		select {
		case s.slots <- struct{}{}:
		case <-s.life.Done():
			_ = conn.Close()
			return
		}
		s.wait.Go(func() {
			defer func() { <-s.slots }()
			defer conn.Close()
			s.serve(conn)
		})
	}
}

// serve answers the request of a connection. The end of the connection ends that.
func (s *Server) serve(conn net.Conn) {
	ctx, cancel := context.WithCancel(s.life)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var in request
	r := bufio.NewReader(conn)
	_ = conn.SetReadDeadline(time.Now().Add(readTime))
	if err := readLine(r, maxRequest, &in); err != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	s.wait.Go(func() {
		_, _ = r.ReadByte() // the client says nothing more
		cancel()
	})
	out := json.NewEncoder(conn)
	send := func(m reply) bool {
		_ = conn.SetWriteDeadline(time.Now().Add(writeTime))
		return out.Encode(m) == nil
	}
	failed := func(err error) bool { return send(reply{Error: err.Error(), Code: codeOf(err)}) }
	if err := s.answer(ctx, &in, send); err != nil && !failed(err) {
		return
	}
	send(reply{Done: true})
}

// operator is every process of the user.
var operator = runs.Who{Operator: true}

// answer sends the replies to a request.
func (s *Server) answer(ctx context.Context, in *request, send func(reply) bool) error {
	view := s.view()
	switch in.Method {
	case "name":
		send(reply{Name: view.Name()})
		return nil
	case "look":
		st, err := view.Look(ctx, operator, in.Run, in.Detail)
		if st != nil {
			send(reply{State: stateOf(st)})
		}
		return err
	case "follow":
		for e, err := range view.Follow(ctx, operator, in.Run, in.From) {
			if err != nil {
				return err
			}
			if !send(reply{Record: e.Record, Asked: e.Asked, Over: stateOf(e.Over)}) {
				return nil
			}
		}
		return nil
	case "answer":
		list := make([]runs.Answer, len(in.Answers))
		for i, a := range in.Answers {
			list[i] = runs.Answer{Question: a.Question, Value: a.Value}
			if !a.Failure.IsUndefined() {
				list[i].Err = graph.FailureFrom(a.Failure)
			}
		}
		return view.Answer(ctx, operator, in.Run, list)
	case "cancel":
		return view.Cancel(ctx, operator, in.Run)
	case "list":
		for one, err := range view.List(ctx, operator, in.Filter) {
			if err != nil {
				return err
			}
			if !send(reply{Summary: &one}) {
				return nil
			}
		}
		return nil
	}
	return fmt.Errorf("unknown method %q", in.Method)
}
