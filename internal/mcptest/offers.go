package mcptest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Offers is what a fake server has beside tools. Lists are sent as they are, in pages
// of Script.PageSize. The server announces the capability of each list that is not
// nil, with subscriptions and changes.
//
// prompts/get answers one message that says the name and the arguments, as JSON;
// resources/read a text that says the URI and how often that was read; and
// completion/complete what was typed with "a" and with "b" behind it. The built-in
// tool "touch" tells those who subscribed that a resource has changed, "notify" sends
// any notification.
type Offers struct {
	Prompts   []json.RawMessage `json:"prompts,omitempty"`
	Resources []json.RawMessage `json:"resources,omitempty"`
	Templates []json.RawMessage `json:"templates,omitempty"`
	// Results are answered, as they are, to requests of these methods.
	Results map[string]json.RawMessage `json:"results,omitempty"`
	// Errors are answered, as they are, to requests of these methods.
	Errors map[string]json.RawMessage `json:"errors,omitempty"`
	// Mute are methods whose requests are not answered.
	Mute []string `json:"mute,omitempty"`
}

// Offered returns a list of as many objects with the key, whose values end in numbers
// from 1 on.
func Offered(key, prefix string, count int) []json.RawMessage {
	all := make([]json.RawMessage, count)
	for i := range all {
		all[i] = marshal(map[string]any{key: prefix + strconv.Itoa(i+1), "name": prefix + strconv.Itoa(i+1)})
	}
	return all
}

// capabilities are those that the server announces.
func (s *server) capabilities() map[string]any {
	out := map[string]any{"tools": map[string]any{}}
	if !s.modern {
		out["tools"], out["logging"] = map[string]any{"listChanged": true}, map[string]any{}
	}
	if s.script.Prompts != nil {
		out["prompts"] = map[string]any{"listChanged": true}
		out["completions"] = map[string]any{}
	}
	if s.script.Tasks != nil && !s.modern {
		out["tasks"] = map[string]any{"requests": map[string]any{"tools": map[string]any{"call": map[string]any{}}}}
	}
	if s.script.Resources != nil {
		out["resources"] = map[string]any{"listChanged": true, "subscribe": true}
	}
	return out
}

// listened is one stream of subscriptions/listen.
type listened struct {
	server *server
	id     string
}

// offer answers requests for what is no tool, and reports false for other methods.
func (s *server) offer(m message) bool {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		URI       string          `json:"uri"`
		Argument  struct{ Value string }
	}
	_ = json.Unmarshal(m.Params, &p)
	if slices.Contains(s.script.Mute, m.Method) {
		return true
	}
	if s.script.Results[m.Method] != nil || s.script.Errors[m.Method] != nil {
		s.count(m.Method)
		if e := s.script.Errors[m.Method]; e != nil {
			s.raw(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":` + string(e) + "}\n")
		} else {
			s.reply(m.ID, s.script.Results[m.Method])
		}
		return true
	}
	switch {
	case m.Method == "prompts/list" && s.script.Prompts != nil:
		s.page(m, "prompts", s.script.Prompts)
	case m.Method == "resources/list" && s.script.Resources != nil:
		s.page(m, "resources", s.script.Resources)
	case m.Method == "resources/templates/list" && s.script.Templates != nil:
		s.page(m, "resourceTemplates", s.script.Templates)
	case m.Method == "prompts/get" && s.script.Prompts != nil:
		s.count(m.Method)
		text := map[string]any{"type": "text", "text": p.Name + " " + string(p.Arguments)}
		s.reply(m.ID, marshal(map[string]any{"messages": []any{map[string]any{"role": "user", "content": text}}}))
	case m.Method == "resources/read" && s.script.Resources != nil:
		n := s.count(m.Method)
		of := p.URI
		if _, other, ok := strings.Cut(p.URI, "#as="); ok {
			of = other // a server that returns something else
		}
		s.reply(m.ID, marshal(map[string]any{"contents": []any{map[string]any{"uri": of, "text": p.URI + " read " + strconv.Itoa(n)}}}))
	case m.Method == "completion/complete" && s.script.Prompts != nil:
		s.count(m.Method)
		s.reply(m.ID, marshal(map[string]any{"completion": map[string]any{"values": []string{p.Argument.Value + "a", p.Argument.Value + "b"}}}))
	case m.Method == "resources/subscribe" && s.script.Resources != nil && !s.modern:
		s.count(m.Method)
		s.subscribe(listened{s, ""}, p.URI)
		s.reply(m.ID, json.RawMessage(`{}`))
	case m.Method == "resources/unsubscribe" && s.script.Resources != nil && !s.modern:
		s.count(m.Method)
		s.counting.Lock()
		delete(s.streams[listened{s, ""}], p.URI)
		s.counting.Unlock()
		s.reply(m.ID, json.RawMessage(`{}`))
	case m.Method == "subscriptions/listen" && s.modern:
		s.listen(m)
	default:
		return false
	}
	return true
}

// page answers a page of a list.
func (s *server) page(m message, member string, all []json.RawMessage) {
	s.count(m.Method)
	var p struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(m.Params, &p)
	from, _ := strconv.Atoi(p.Cursor)
	all = all[min(from, len(all)):]
	reply := map[string]any{}
	if n := s.script.PageSize; n > 0 && len(all) > n {
		all = all[:n]
		reply["nextCursor"] = strconv.Itoa(from + n)
	}
	reply[member] = all
	s.reply(m.ID, marshal(reply))
}

// count counts a request, and returns how many there were.
func (s *server) count(method string) int {
	s.counting.Lock()
	defer s.counting.Unlock()
	s.calls[method]++
	return s.calls[method]
}

func (s *server) subscribe(l listened, uris ...string) {
	s.counting.Lock()
	defer s.counting.Unlock()
	if s.streams == nil {
		s.streams = map[listened]map[string]bool{}
	}
	if s.streams[l] == nil {
		s.streams[l] = map[string]bool{}
	}
	for _, uri := range uris {
		s.streams[l][uri] = true
	}
}

// listen begins a stream of notifications, as the revision of 2026-07-28 has it.
func (s *server) listen(m message) {
	s.count(m.Method)
	var p struct {
		Notifications json.RawMessage `json:"notifications"`
	}
	_ = json.Unmarshal(m.Params, &p)
	var asked struct {
		Resources []string `json:"resourceSubscriptions"`
	}
	_ = json.Unmarshal(p.Notifications, &asked)
	s.subscribe(listened{s, string(m.ID)}, asked.Resources...)
	s.notify("notifications/subscriptions/acknowledged", map[string]any{
		"_meta":         map[string]any{"io.modelcontextprotocol/subscriptionId": m.ID},
		"notifications": p.Notifications,
	})
}

// gone forgets the streams of the server that have this id, or all of them.
func (s *server) gone(id string) {
	s.counting.Lock()
	defer s.counting.Unlock()
	maps.DeleteFunc(s.streams, func(l listened, _ map[string]bool) bool { return l.server == s && (id == "" || l.id == id) })
}

// touch tells who subscribed that a resource has changed.
func (s *server) touch(uri string) {
	s.counting.Lock()
	var to []listened
	for l, uris := range s.streams {
		if uris[uri] {
			to = append(to, l)
		}
	}
	s.counting.Unlock()
	for _, l := range to {
		params := map[string]any{"uri": uri}
		if l.id != "" {
			params["_meta"] = map[string]any{"io.modelcontextprotocol/subscriptionId": json.RawMessage(l.id)}
		}
		l.server.notify("notifications/resources/updated", params)
	}
}

// changed tells of the change of a list: in the revision of 2026-07-28 those who listen.
func (s *server) changed(method string) {
	if !s.modern {
		s.notify(method, map[string]any{})
		return
	}
	s.counting.Lock()
	to := slices.Collect(maps.Keys(s.streams))
	s.counting.Unlock()
	for _, l := range to {
		l.server.notify(method, map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/subscriptionId": json.RawMessage(l.id)}})
	}
}

// subscribed returns the URIs that someone is subscribed to now.
func (t *tally) subscribed() []string {
	t.counting.Lock()
	defer t.counting.Unlock()
	all := map[string]bool{}
	for _, uris := range t.streams {
		maps.Copy(all, uris)
	}
	return slices.Sorted(maps.Keys(all))
}
