package serving

import (
	"errors"
	"net/http"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// StatusPage answers GET with what is known of the upstream servers without asking
// them, as JSON in the form of [StatusDocument], and the number of parked runs.
func (s *Servers) StatusPage() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var known []value.Value
		for _, stats := range s.engine.Stats() {
			known = append(known, object(stats))
		}
		b := value.NewBuilder(2)
		b.Set("servers", value.FromArray(known))
		b.Set("parkedRuns", value.FromInt(int64(s.engine.Local().Waiting())))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(append(b.Value().AppendIndent(nil, "  "), '\n'))
	})
}

// StatusDocument returns what Status found as one JSON object: for each server
// its [upstream.Stats], and beside them what it answered.
func StatusDocument(found []ServerStatus) value.Value {
	servers := make([]value.Value, len(found))
	for i, s := range found {
		servers[i] = s.value()
	}
	b := value.NewBuilder(1)
	b.Set("servers", value.FromArray(servers))
	return b.Value()
}

func (s ServerStatus) value() value.Value {
	stats := s.Stats
	if s.Err != nil && !errors.As(s.Err, &stats.Failure) {
		stats.Failure = &upstream.Error{Op: "status", Message: s.Err.Error()}
	}
	b := value.NewBuilder(20)
	for _, e := range object(stats).Entries() {
		b.Set(e.Key, e.Value)
		if e.Key == "transport" {
			b.Set("ready", value.FromBool(s.Err == nil))
		}
	}
	if s.Err == nil {
		b.Set("roundTripMs", value.FromFloat(float64(s.Status.RoundTrip.Microseconds())/1000))
		open, kept := s.ToolNames()
		b.Set("tools", texts(open))
		if len(kept) > 0 {
			b.Set("keptOut", texts(kept))
		}
		for _, c := range s.Status.Offers() {
			b.Set(c.Member, value.FromInt(int64(c.Count)))
		}
	}
	return b.Value()
}

// object returns what has tags for JSON as a value.
func object(x any) value.Value {
	v, _ := value.FromAny(x) // texts and numbers always encode
	return v
}

func texts(list []string) value.Value {
	values := make([]value.Value, len(list))
	for i, s := range list {
		values[i] = value.FromString(s)
	}
	return value.FromArray(values)
}

// ToolNames returns the tools of the server by the names that nodes call them by,
// and apart from them those that its settings keep out.
func (s ServerStatus) ToolNames() (open, keptOut []string) {
	for _, t := range s.Status.Tools {
		listed := t.Get("name").Str()
		name, ok := strings.CutPrefix(listed, s.Entry.NamePrefix)
		if ok && s.Entry.Tools.Allows(name) {
			open = append(open, name)
		} else {
			keptOut = append(keptOut, listed)
		}
	}
	return open, keptOut
}
