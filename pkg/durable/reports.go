package durable

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// listening is what a client wants to know of the calls of its run.
type listening struct {
	LogLevel string `json:"logLevel,omitempty"`
}

func listeningOf(info *callinfo.Info) *listening {
	if info == nil || info.Listener == nil {
		return nil
	}
	return &listening{info.Listener.LogLevel}
}

// report is a notification of the server of a call. N counts those of the call from 1.
type report struct {
	N      int             `json:"n"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// said is what the server of a call has reported: the latest progress, and the latest log
// messages.
type said struct {
	// Call is the ID of the activity, Index that of the next record when the call ended.
	Call    string   `json:"call"`
	Index   int      `json:"index,omitempty"`
	Server  string   `json:"server"`
	Tool    string   `json:"tool"`
	Reports []report `json:"reports,omitempty"`
}

// What is kept of reports: of a call, and of the calls of a run that have ended.
const (
	maxReports, maxReportBytes = 20, 32 << 10
	maxSaid, maxSaidBytes      = 50, 64 << 10
)

func (s *said) size() (n int) {
	for _, r := range s.Reports {
		n += len(r.Params)
	}
	return n
}

// add keeps a notification, and drops older ones.
func (s *said) add(n int, method string, params json.RawMessage) {
	if method == callinfo.MethodProgress {
		s.Reports = slices.DeleteFunc(s.Reports, func(r report) bool { return r.Method == method })
	}
	s.Reports = append(s.Reports, report{n, method, params})
	for len(s.Reports) > maxReports || s.size() > maxReportBytes {
		s.Reports = s.Reports[1:]
	}
}

// of returns reports of a run under a name that no call of another run has.
func (s said) of(run string) said {
	if !strings.Contains(s.Call, " ") { // else it is that of a child of the run
		s.Call = run + " " + s.Call
	}
	return s
}

// progress returns the params of the latest progress; nil: there is none.
func (s *said) progress() json.RawMessage {
	for _, r := range s.Reports {
		if r.Method == callinfo.MethodProgress {
			return r.Params
		}
	}
	return nil
}

// beatFor gives signs of life, with what the server has reported, until stop is called.
// They also bring the cancellation of the run. Stop returns what is for the client of the
// run.
func (c *calls) beatFor(ctx context.Context, info *callinfo.Info, in *callRequest) (stop func() []report) {
	var mu sync.Mutex
	all, count := said{Call: info.CallID, Server: in.Server, Tool: in.Tool}, 0
	now := func() said {
		mu.Lock()
		defer mu.Unlock()
		copied := all
		copied.Reports = slices.Clone(all.Reports)
		return copied
	}
	info.Listener = &callinfo.Listener{Notify: func(n callinfo.Notification) {
		if n.Method != callinfo.MethodProgress && in.Listening == nil {
			return
		}
		params := raw(c.source.RedactValue(info, apart(n, info.CallID))) // the server knows its own secrets alone
		mu.Lock()
		defer mu.Unlock()
		count++
		all.add(count, n.Method, params)
	}}
	if in.Listening != nil {
		info.Listener.LogLevel = in.Listening.LogLevel
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(c.beat)
		defer tick.Stop()
		for {
			select { // its mark is the first sign of life
			case <-tick.C:
			case <-done:
				return
			}
			activity.RecordHeartbeat(ctx, now()) // always with details, as its mark
		}
	}()
	return sync.OnceValue(func() []report {
		close(done)
		if in.Listening == nil {
			return nil
		}
		return now().Reports
	})
}

// apart returns the params of a notification. Tokens of progress, which each worker
// counts for itself, become the ID of the call.
func apart(n callinfo.Notification, call string) value.Value {
	if n.Method != callinfo.MethodProgress || n.Params.Kind() != value.Object {
		return n.Params
	}
	entries := slices.Clone(n.Params.Entries())
	for i := range entries {
		if entries[i].Key == "progressToken" {
			entries[i].Value = value.FromString(call)
		}
	}
	return value.FromEntries(entries)
}

// note keeps what the server of a call has reported that is over.
func (d *driving) note(c *calling, list []report) {
	if len(list) == 0 {
		return
	}
	d.keep(said{c.id, d.run.NextIndex(), c.in.Server, c.in.Tool, list})
}

// noteChild keeps what the servers of a child have reported that is over.
func (d *driving) noteChild(c *child, list []said) {
	for _, s := range list {
		s = s.of(c.id)
		s.Index = d.run.NextIndex()
		d.keep(s)
	}
}

// keep keeps reports, and drops older ones.
func (d *driving) keep(s said) {
	d.said = append(d.said, s)
	size := 0
	for i := len(d.said) - 1; i >= 0; i-- {
		if size += d.said[i].size(); size > maxSaidBytes || len(d.said)-i > maxSaid {
			d.said = slices.Clone(d.said[i+1:])
			return
		}
	}
}

// saidSince returns what servers have reported in calls that ended with a record from an
// index on.
func saidSince(all []said, from int) []said {
	return slices.DeleteFunc(slices.Clone(all), func(s said) bool { return s.Index < from })
}
