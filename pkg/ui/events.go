package ui

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of events.
const (
	maxEvents     = 10_000   // that are kept
	maxEventBytes = 16 << 20 // of them all
	maxStreams    = 16
	maxAttached   = 100 // runs that a stream names
	maxSeen       = 1000
	batchTime     = 50 * time.Millisecond
	commentTime   = 15 * time.Second
)

// event is something that has happened. Type says which fields count.
type event struct {
	N          int64      `json:"n"`
	Time       time.Time  `json:"time"`
	Type       string     `json:"type"`
	Generation int        `json:"generation,omitempty"`
	Revision   string     `json:"revision,omitempty"`
	Problems   *[]problem `json:"problems,omitempty"`
	Run        any        `json:"run,omitempty" ts:"RunState | string"` // a *runState, or the id of one
	Record     *record    `json:"record,omitempty"`
	Active     *activity  `json:"active,omitempty"`
	Key        string     `json:"key,omitempty"`
	Level      string     `json:"level,omitempty"`
	Text       string     `json:"text,omitempty"`
	Progress   *float64   `json:"progress,omitempty"`
	Total      *float64   `json:"total,omitempty"`
	Message    string     `json:"message,omitempty"`
	Openings   []opening  `json:"openings,omitempty"`
}

// kept is an event as it is sent.
type kept struct {
	n    int64
	run  string // only for those who watch this run; empty: for all
	text []byte
}

// events holds the latest events and who reads them. Adding one never waits for a
// reader.
type events struct {
	mu      sync.Mutex
	n       int64 // of the latest
	lost    int64 // the latest that is not held
	held    []kept
	bytes   int
	readers map[*reader]bool
	seen    map[string]time.Time // when a run was named last, for those that no reader names
	ended   chan struct{}
	over    bool
}

// reader is an open stream.
type reader struct {
	runs map[string]bool
	wake chan struct{}
}

func newEvents() *events {
	return &events{readers: map[*reader]bool{}, seen: map[string]time.Time{}, ended: make(chan struct{})}
}

// add numbers an event and keeps it.
func (s *events) add(e event) {
	run, _ := e.Run.(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	e.N, e.Time = s.n, time.Now().UTC()
	text, err := json.Marshal(e)
	if err != nil {
		return
	}
	s.held = append(s.held, kept{s.n, run, text})
	s.bytes += len(text)
	drop := 0
	for len(s.held)-drop > maxEvents || s.bytes > maxEventBytes && drop < len(s.held)-1 {
		s.bytes -= len(s.held[drop].text)
		s.held[drop].text = nil
		drop++
	}
	if drop > 0 {
		s.lost = s.held[drop-1].n
		s.held = s.held[drop:]
	}
	for r := range s.readers {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// skip lets everyone who resumes fetch again: something happened that is not held.
func (s *events) skip() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.lost, s.held, s.bytes = s.n, nil, 0
}

func (s *events) last() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// since returns what a reader has not got after an event. gap is true where some of it
// is not held any more.
func (s *events) since(r *reader, after int64) (list []kept, last int64, gap bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after < s.lost || after > s.n {
		after, gap = s.lost, true
	}
	from := len(s.held) - int(s.n-max(after, s.lost))
	for _, k := range s.held[max(from, 0):] {
		if k.run == "" || r.runs[k.run] {
			list = append(list, k)
		}
	}
	return list, s.n, gap
}

// join adds a reader.
func (s *events) join(r *reader) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return &apiError{Status: http.StatusServiceUnavailable, Code: "closed", Message: "mcpgraph is ending"}
	case len(s.readers) >= maxStreams:
		return &apiError{Status: http.StatusTooManyRequests, Code: "too_many_streams", Message: fmt.Sprintf("%d pages are open; close one", maxStreams)}
	}
	s.readers[r] = true
	return nil
}

// watched lets the events of a run be told for a while: somebody may come for them.
func (s *events) watched(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(run)
}

func (s *events) note(run string) {
	now := time.Now()
	for id, at := range s.seen {
		if now.Sub(at) > lingerTime {
			delete(s.seen, id)
		}
	}
	if len(s.seen) < maxSeen {
		s.seen[run] = now
	}
}

// isWatched reports whether the events of a run are told.
func (s *events) isWatched(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.readers {
		if r.runs[run] {
			return true
		}
	}
	at, ok := s.seen[run]
	return ok && time.Since(at) < lingerTime
}

func (s *events) leave(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, r)
	for id := range r.runs {
		s.note(id)
	}
}

// attached returns the runs whose events are told.
func (s *events) attached() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := map[string]bool{}
	for r := range s.readers {
		for id := range r.runs {
			runs[id] = true
		}
	}
	for id, at := range s.seen {
		if time.Since(at) < lingerTime {
			runs[id] = true
		}
	}
	return runs
}

// named returns the runs that each stream names, and those that one may come back for.
func (s *events) named() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all [][]string
	for r := range s.readers {
		all = append(all, slices.Collect(maps.Keys(r.runs)))
	}
	var late []string
	for id, at := range s.seen {
		if time.Since(at) < lingerTime {
			late = append(late, id)
		}
	}
	return append(all, late)
}

// close ends all streams.
func (s *events) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		close(s.ended)
	}
}

// streamEvents answers with events as they happen.
func streamEvents(p *Page, w http.ResponseWriter, r *http.Request) error {
	after, err := number(r, "after", -1)
	if err != nil {
		return err
	}
	me := &reader{runs: map[string]bool{}, wake: make(chan struct{}, 1)}
	for id := range strings.SplitSeq(r.URL.Query().Get("runs"), ",") {
		if id != "" && len(me.runs) < maxAttached {
			me.runs[id] = true
		}
	}
	s := p.events
	if err := s.join(me); err != nil {
		return err
	}
	defer p.watch.left()
	defer s.leave(me)
	at := p.watch.joined()
	if after >= 0 {
		at = int64(after)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	out := &streamWriter{w: w, control: http.NewResponseController(w)}
	out.text(": open\n\n")
	comment := time.NewTicker(commentTime)
	defer comment.Stop()
	for out.flush() == nil {
		list, last, gap := s.since(me, at)
		if gap {
			out.text("data: {\"type\":\"gap\",\"n\":" + strconv.FormatInt(last, 10) + ",\"time\":\"" + time.Now().UTC().Format(time.RFC3339Nano) + "\"}\n\n")
		}
		for _, k := range list {
			out.event(k)
		}
		at = last
		if len(list) > 0 || gap {
			if out.flush() != nil {
				return nil
			}
			select { // what comes next goes together
			case <-time.After(batchTime):
			case <-r.Context().Done():
				return nil
			}
		}
		select {
		case <-me.wake:
		case <-comment.C:
			out.text(": \n\n")
		case <-r.Context().Done():
			return nil
		case <-s.ended:
			return nil
		}
	}
	return nil
}

// streamWriter writes a stream to one reader. A reader that takes nothing for
// writeTime is given up.
type streamWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	failed  error
}

func (o *streamWriter) text(s string) { o.write([]byte(s)) }

func (o *streamWriter) event(k kept) {
	o.text("id: " + strconv.FormatInt(k.n, 10) + "\ndata: ")
	o.write(k.text)
	o.text("\n\n")
}

func (o *streamWriter) write(b []byte) {
	if o.failed != nil {
		return
	}
	_ = o.control.SetWriteDeadline(time.Now().Add(writeTime))
	_, o.failed = o.w.Write(b)
}

func (o *streamWriter) flush() error {
	if o.failed == nil {
		o.failed = o.control.Flush()
	}
	return o.failed
}
