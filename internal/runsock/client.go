package runsock

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Client sees the runs of a server. It implements [runs.View] for an operator.
type Client struct {
	// Server is the name of the server, with the number of its process: "shop-4711".
	Server string
	path   string
}

var _ runs.View = &Client{}

const (
	dialTime   = 2 * time.Second // also for a server to say its name
	maxServers = 100
)

// Servers returns the servers of a folder that answer, by their names, and those that take
// connections but do not answer in time, such as one that is stopped or hangs. It removes
// the sockets of those that are gone.
func Servers(ctx context.Context, folder string) (found, silent []*Client) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	all := sockets(ctx, folder)
	answers := make([]bool, len(all))
	var asked sync.WaitGroup
	for i, c := range all {
		asked.Go(func() {
			answers[i] = c.ask(ctx, request{Method: "name"}, func(*reply) bool { return true }) == nil
		})
	}
	asked.Wait()
	for i, c := range all {
		if answers[i] {
			found = append(found, c)
		} else {
			silent = append(silent, c)
		}
	}
	return found, silent
}

// sockets returns the servers that take connections, by their names.
func sockets(ctx context.Context, folder string) []*Client {
	if check(folder) != nil {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var found []*Client
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if !ok || len(found) == maxServers {
			continue
		}
		c := &Client{Server: name, path: filepath.Join(folder, e.Name())}
		conn, err := c.dial(ctx)
		if err != nil {
			if errors.Is(err, syscall.ECONNREFUSED) {
				_ = os.Remove(c.path)
			}
			continue
		}
		_ = conn.Close()
		found = append(found, c)
	}
	slices.SortFunc(found, func(a, b *Client) int { return cmp.Compare(a.Server, b.Server) })
	return found
}

// Is reports whether a name is that of the server, with or without the number of its
// process.
func (c *Client) Is(name string) bool {
	i := strings.LastIndexByte(c.Server, '-')
	return name == c.Server || i >= 0 && fileName(name) == c.Server[:i]
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	return (&net.Dialer{}).DialContext(ctx, "unix", c.path)
}

// goneError is returned if the server ends while it answers.
type goneError struct {
	server string
	err    error
}

// Error says which server.
func (e *goneError) Error() string {
	return fmt.Sprintf("server %s does not answer: %v", e.server, e.err)
}

// Unwrap returns the error of the connection.
func (e *goneError) Unwrap() error { return e.err }

// Is reports whether target is runs.ErrUnavailable.
func (e *goneError) Is(target error) bool { return target == runs.ErrUnavailable }

// ask makes a request, and hands its replies to each until that reports false.
func (c *Client) ask(ctx context.Context, in request, each func(*reply) bool) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return &goneError{c.Server, err}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := json.NewEncoder(conn).Encode(in); err != nil {
		return &goneError{c.Server, err}
	}
	for r := bufio.NewReader(conn); ; {
		var m reply
		switch err := readLine(r, maxReply, &m); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return &goneError{c.Server, err}
		case m.Done:
			return nil
		case m.err() != nil:
			return m.err()
		case !each(&m):
			return nil
		}
	}
}

// Name implements [runs.View].
func (c *Client) Name() string { return "server " + c.Server }

// Look implements [runs.View].
func (c *Client) Look(ctx context.Context, _ runs.Who, id string, d runs.Detail) (s *runs.State, err error) {
	err = c.ask(ctx, request{Method: "look", Run: id, Detail: d}, func(m *reply) bool {
		s = m.State.read()
		return true
	})
	return s, err
}

// Follow implements [runs.View].
func (c *Client) Follow(ctx context.Context, _ runs.Who, id string, from int) iter.Seq2[runs.Event, error] {
	return func(yield func(runs.Event, error) bool) {
		left := false
		err := c.ask(ctx, request{Method: "follow", Run: id, From: from}, func(m *reply) bool {
			left = !yield(runs.Event{Record: m.Record, Asked: m.Asked, Over: m.Over.read()}, nil)
			return !left
		})
		if err != nil && !left {
			yield(runs.Event{}, err)
		}
	}
}

// Answer implements [runs.View].
func (c *Client) Answer(ctx context.Context, _ runs.Who, id string, answers []runs.Answer) error {
	in := request{Method: "answer", Run: id}
	for _, a := range answers {
		one := answer{Question: a.Question, Value: a.Value}
		if a.Err != nil {
			one.Failure = executor.FailureOf(a.Err).Value()
		}
		in.Answers = append(in.Answers, one)
	}
	return c.ask(ctx, in, func(*reply) bool { return true })
}

// Cancel implements [runs.View].
func (c *Client) Cancel(ctx context.Context, _ runs.Who, id string) error {
	return c.ask(ctx, request{Method: "cancel", Run: id}, func(*reply) bool { return true })
}

// List implements [runs.View].
func (c *Client) List(ctx context.Context, _ runs.Who, f runs.Filter) iter.Seq2[runs.Summary, error] {
	return func(yield func(runs.Summary, error) bool) {
		left := false
		err := c.ask(ctx, request{Method: "list", Filter: f}, func(m *reply) bool {
			left = m.Summary == nil || !yield(*m.Summary, nil)
			return !left
		})
		if err != nil && !left {
			yield(runs.Summary{}, err)
		}
	}
}
