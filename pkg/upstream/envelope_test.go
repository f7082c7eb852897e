package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func TestEnvelopeFindsTheOuterMembers(t *testing.T) {
	for _, c := range []struct {
		in                                 string
		complete                           bool
		id, method, params, result, failed string
	}{
		{in: `{"jsonrpc":"2.0","id":"c1","result":{"id":"inner","method":"inner"}}`, complete: true, id: `"c1"`, result: `{"id":"inner","method":"inner"}`},
		{in: "\t{ \"result\" : [ \"}\\\"{\" , { } ] , \"id\" : 17 }\r\n", complete: true, id: `17`, result: `[ "}\"{" , { } ]`},
		{in: `{"method":"m","params":{"a":"\\"},"id":null}`, complete: true, id: `null`, method: `"m"`, params: `{"a":"\\"}`},
		{in: `{"error":{"code":1},"id":"c2","longer than any key of interest":1}`, complete: true, id: `"c2"`, failed: `{"code":1}`},
		{in: `{"id":"first","id":"second"}`, complete: true, id: `"second"`},
		{in: `{"id":"c3","result":{"half":"of it`, id: `"c3"`},
		{in: `{}`, complete: true},
		{in: `{"id":1} trailing`, id: "1"},
		{in: `["id"]`},
		{in: `listening on port 8080`},
		{in: `{"id" 1}`},
		{in: `{"id":}`, complete: true}, // the absent value makes it no message
	} {
		var whole envelope
		whole.feed([]byte(c.in))
		for piece := 1; piece <= len(c.in); piece++ {
			var e envelope
			for rest := []byte(c.in); len(rest) > 0; {
				n := min(piece, len(rest))
				e.feed(rest[:n])
				rest = rest[n:]
			}
			if e.id != whole.id || e.result != whole.result || e.complete() != whole.complete() || string(e.idAt) != string(whole.idAt) {
				t.Fatalf("%q in pieces of %d: %+v, whole: %+v", c.in, piece, e, whole)
			}
		}
		if whole.complete() != c.complete {
			t.Errorf("%q: complete is %v", c.in, whole.complete())
		}
		for _, m := range []struct {
			name string
			got  span
			want string
		}{{"id", whole.id, c.id}, {"method", whole.method, c.method}, {"params", whole.params, c.params}, {"result", whole.result, c.result}, {"error", whole.failure, c.failed}} {
			if got := string(m.got.of([]byte(c.in))); got != m.want {
				t.Errorf("%q: %s is %q, want %q", c.in, m.name, got, m.want)
			}
		}
		if c.id != "" && string(whole.idAt) != c.id {
			t.Errorf("%q: the id kept is %q", c.in, whole.idAt)
		}
	}
}

// Of what encoding/json takes for an object, the envelope finds the members in
// the same places, however it is fed.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":"c1","result":{"a":[1,"\"",{}]}}`), 3)
	f.Add([]byte(`{"result":"\\","id":-1.5e3,"method":null}`), 1)
	f.Add([]byte(`{"id":"c1","resu`), 7)
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		var e envelope
		for rest := in; len(rest) > 0; {
			n := min(max(piece, 1), len(rest))
			e.feed(rest[:n])
			rest = rest[n:]
		}
		if !json.Valid(in) || bytes.TrimLeft(in, " \t\r\n")[0] != '{' {
			return
		}
		if !e.complete() {
			t.Fatalf("%q is an object and was not taken for one", in)
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(in, &members) != nil || bytes.ContainsRune(in, '\\') {
			return // keys may be escaped, and encoding/json decodes them
		}
		for name, at := range map[string]span{"id": e.id, "method": e.method, "params": e.params, "result": e.result, "error": e.failure} {
			if want := members[name]; at.found() != (want != nil) || string(at.of(in)) != string(want) {
				t.Fatalf("%q: %s is %q, want %q", in, name, at.of(in), want)
			}
		}
	})
}

// Whatever a server writes, a request ends and nothing panics.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":"c1","result":{}}`, `{"jsonrpc":"2.0","id":null,"error":"plain"}`, `{"jsonrpc":"2.0","error":{"code":1}}`,
		`[{"jsonrpc":"2.0","id":"c1","result":{}},[1],{}]`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"id":{},"method":1}`,
		`{"method":"notifications/progress","params":[]}`, `{"jsonrpc":"2.0","id":"c1"`, "\x00\n\n[\n]\n{\n\v\n", strings.Repeat("x", 300),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s := newStream(bytes.NewReader(append(in, '\n')), nopCloser{io.Discard}, 256, func(string) {})
		s.attach(&inbound{
			notified: func(string, string, json.RawMessage) {},
			asked:    func(string, json.RawMessage) (json.RawMessage, *RPCError) { return []byte("{}"), nil },
		})
		reply := s.desk.wait(`"c1"`)
		s.start()
		<-s.done
		select {
		case a := <-reply:
			if (a.result == nil) == (a.err == nil) {
				t.Fatalf("%q: answer %+v", in, a)
			}
		default:
		}
		if _, err := s.request(context.Background(), &outgoing{id: "2", method: "ping"}); err == nil {
			t.Fatal("a request over an ended connection was answered")
		}
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
