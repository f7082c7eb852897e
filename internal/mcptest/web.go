package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
)

// Web serves a script over streamable HTTP, as an [http.Handler]. The zero Web
// speaks the revisions with a handshake and answers in JSON. Its fields must not
// change while it serves.
type Web struct {
	Script Script
	Modern bool // speaks the revision of 2026-07-28 and no other
	Events bool // answers as streams of events
	// Refuse answers requests of sessions that do not exist; nil answers 404.
	Refuse func(w http.ResponseWriter, id json.RawMessage)

	mu       sync.Mutex
	sessions map[string]*webSession
	opened   int
	arrived  []Arrival
	shared   *server // counts calls, for all sessions
}

// Arrival is one HTTP request that a Web has got.
type Arrival struct {
	HTTPMethod string
	Method     string // of the JSON-RPC message; empty for an answer
	Header     http.Header
	Body       string
}

// webSession is one session: a server that writes to any waiting reader.
type webSession struct {
	web    *Web
	server *server

	mu      sync.Mutex
	waiting map[string]chan json.RawMessage // messages for a request that is open, by its id
	stream  chan json.RawMessage            // of the GET; nil while there is none
}

// Sessions returns how many sessions were opened so far.
func (w *Web) Sessions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opened
}

// Subscribed returns the URIs of the resources that someone is subscribed to now.
func (w *Web) Subscribed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shared == nil {
		return nil
	}
	return w.shared.subscribed()
}

// Streams returns how many streams tell of changes now.
func (w *Web) Streams() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shared == nil {
		return 0
	}
	w.shared.counting.Lock()
	defer w.shared.counting.Unlock()
	return len(w.shared.streams)
}

// Touch tells those who subscribed that a resource has changed.
func (w *Web) Touch(uri string) {
	w.mu.Lock()
	s := w.shared
	w.mu.Unlock()
	if s != nil {
		s.touch(uri)
	}
}

// Arrivals returns the requests so far, those of a JSON-RPC method where it is
// not empty.
func (w *Web) Arrivals(method string) []Arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	if method == "" {
		return slices.Clone(w.arrived)
	}
	var some []Arrival
	for _, a := range w.arrived {
		if a.Method == method {
			some = append(some, a)
		}
	}
	return some
}

// Forget makes the server forget all sessions.
func (w *Web) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		s.server.gone("")
	}
	w.sessions = nil
}

// Notify sends a notification on the streams of all sessions that listen.
func (w *Web) Notify(method string, params any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		s.server.notify(method, params)
	}
}

// newSession returns a session whose server runs until done is closed. All
// sessions count their calls together.
func (w *Web) newSession() *webSession {
	s := &webSession{web: w, waiting: map[string]chan json.RawMessage{}}
	s.server = newServer(w.Script, s, os.Stderr, func(int) {})
	s.server.modern = w.Modern
	if w.shared == nil {
		w.shared = s.server
	}
	s.server.tally = w.shared.tally
	return s
}

// Write receives what the server sends, one message at a time.
func (s *webSession) Write(line []byte) (int, error) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Token string `json:"progressToken"`
		} `json:"params"`
	}
	text := json.RawMessage(bytes.TrimRight(bytes.Clone(line), "\n"))
	_ = json.Unmarshal(text, &m) // what is not JSON goes to any waiting reader
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.waiting[string(m.ID)]
	if m.Method != "" || to == nil {
		if to = s.waiting[m.Params.Token]; to == nil {
			to = s.stream
		}
	}
	if to == nil && len(s.waiting) == 1 {
		for _, to = range s.waiting {
		}
	}
	if to != nil {
		to <- text
	}
	return len(line), nil
}

// ServeHTTP answers one request.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m message
	_ = json.Unmarshal(body, &m) // a GET has none
	w.mu.Lock()
	w.arrived = append(w.arrived, Arrival{r.Method, m.Method, r.Header.Clone(), string(body)})
	w.mu.Unlock()
	s := w.session(rw, r, m)
	if s == nil {
		return
	}
	switch r.Method {
	case http.MethodDelete:
		w.mu.Lock()
		delete(w.sessions, r.Header.Get("Mcp-Session-Id"))
		w.mu.Unlock()
		s.server.gone("")
	case http.MethodGet:
		stream := make(chan json.RawMessage, 100)
		s.mu.Lock()
		s.stream = stream
		s.mu.Unlock()
		s.answer(rw, r, stream, "", true)
	default:
		if m.ID == nil || m.Method == "" {
			rw.WriteHeader(http.StatusAccepted)
			s.server.handle(m)
			return
		}
		id := string(m.ID)
		reply := make(chan json.RawMessage, 10_000)
		s.mu.Lock()
		s.waiting[id] = reply
		s.mu.Unlock()
		s.server.handle(m)
		s.answer(rw, r, reply, id, w.Events || m.Method == "subscriptions/listen")
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
		if w.Modern {
			s.server.gone("")
		}
	}
}

// session returns the session of a request, or answers that there is none.
func (w *Web) session(rw http.ResponseWriter, r *http.Request, m message) *webSession {
	if w.Modern {
		if r.Method != http.MethodPost || r.Header.Get("Mcp-Protocol-Version") != "2026-07-28" {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"]}}}`, orNull(m.ID))
			return nil
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.newSession()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.Method == "initialize" {
		s := w.newSession()
		w.opened++
		id := "session-" + strconv.Itoa(w.opened)
		if w.sessions == nil {
			w.sessions = map[string]*webSession{}
		}
		w.sessions[id] = s
		rw.Header().Set("Mcp-Session-Id", id)
		return s
	}
	if s := w.sessions[r.Header.Get("Mcp-Session-Id")]; s != nil {
		return s
	}
	if w.Refuse != nil {
		w.Refuse(rw, orNull(m.ID))
	} else {
		http.Error(rw, "no such session", http.StatusNotFound)
	}
	return nil
}

func orNull(id json.RawMessage) json.RawMessage {
	if id == nil {
		return json.RawMessage("null")
	}
	return id
}

// answer writes what comes until the answer to id.
func (s *webSession) answer(rw http.ResponseWriter, r *http.Request, from chan json.RawMessage, id string, events bool) {
	if events {
		rw.Header().Set("Content-Type", "text/event-stream")
		rw.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(rw).Flush()
	}
	for {
		select {
		case text := <-from:
			var m message
			_ = json.Unmarshal(text, &m)
			last := m.Method == "" && string(m.ID) == id
			switch {
			case events:
				for line := range bytes.Lines(text) {
					fmt.Fprintf(rw, "data: %s\n", bytes.TrimRight(line, "\n"))
				}
				fmt.Fprint(rw, "\n")
				_ = http.NewResponseController(rw).Flush()
			case last || m.Method == "":
				rw.Header().Set("Content-Type", "application/json")
				_, _ = rw.Write(text)
				return
			}
			if last {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
