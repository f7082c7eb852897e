package jsonrpc

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestEnvelopeFindsTheOuterMembers(t *testing.T) {
	for _, c := range []struct {
		in                                 string
		complete                           bool
		id, method, params, result, failed string
		repeated                           string
	}{
		{in: `{"jsonrpc":"2.0","id":"c1","result":{"id":"inner","method":"inner"}}`, complete: true, id: `"c1"`, result: `{"id":"inner","method":"inner"}`},
		{in: "\t{ \"result\" : [ \"}\\\"{\" , { } ] , \"id\" : 17 }\r\n", complete: true, id: `17`, result: `[ "}\"{" , { } ]`},
		{in: `{"method":"m","params":{"a":"\\"},"id":null}`, complete: true, id: `null`, method: `"m"`, params: `{"a":"\\"}`},
		{in: `{"error":{"code":1},"id":"c2","longer than any key of interest":1}`, complete: true, id: `"c2"`, failed: `{"code":1}`},
		{in: `{"id":"first","id":"second"}`, complete: true, id: `"first"`, repeated: "id"},
		{in: `{"id":"c1","result":1,"\u0072esult":2}`, complete: true, id: `"c1"`, result: "1", repeated: "result"},
		{in: `{"id":"c1","Result":1,"RESULT":2,"re\u0073ults":3,"\u00e9t\u00e9":4}`, complete: true, id: `"c1"`},
		{in: `{"id":"c1","\u0065\u0072\u0072\u006f\u0072":{}}`, complete: true, id: `"c1"`, failed: `{}`},
		{in: `{"id":"c1","method":"a","method":"b","params":1,"params":2}`, complete: true, id: `"c1"`, method: `"a"`, params: "1", repeated: "params"},
		{in: `{"id":"c3","result":{"half":"of it`, id: `"c3"`},
		{in: `{}`, complete: true},
		{in: `{"id":1} trailing`, id: "1"},
		{in: `["id"]`},
		{in: `listening on port 8080`},
		{in: `{"id" 1}`},
		{in: `{"id":}`, complete: true}, // the absent value makes it no message
	} {
		var whole Envelope
		whole.Feed([]byte(c.in))
		for piece := 1; piece <= len(c.in); piece++ {
			var e Envelope
			for rest := []byte(c.in); len(rest) > 0; {
				n := min(piece, len(rest))
				e.Feed(rest[:n])
				rest = rest[n:]
			}
			if e.ID != whole.ID || e.Result != whole.Result || e.Complete() != whole.Complete() || e.IDText() != whole.IDText() {
				t.Fatalf("%q in pieces of %d: %+v, whole: %+v", c.in, piece, e, whole)
			}
		}
		if whole.Complete() != c.complete {
			t.Errorf("%q: complete is %v", c.in, whole.Complete())
		}
		for _, m := range []struct {
			name string
			got  Span
			want string
		}{{"id", whole.ID, c.id}, {"method", whole.Method, c.method}, {"params", whole.Params, c.params}, {"result", whole.Result, c.result}, {"error", whole.Error, c.failed}} {
			if got := string(m.got.Of([]byte(c.in))); got != m.want {
				t.Errorf("%q: %s is %q, want %q", c.in, m.name, got, m.want)
			}
		}
		if whole.Repeated != c.repeated {
			t.Errorf("%q: repeated is %q", c.in, whole.Repeated)
		}
		if c.id != "" && c.repeated != "id" && whole.IDText() != c.id {
			t.Errorf("%q: the id kept is %q", c.in, whole.IDText())
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
		var e Envelope
		for rest := in; len(rest) > 0; {
			n := min(max(piece, 1), len(rest))
			e.Feed(rest[:n])
			rest = rest[n:]
		}
		if !json.Valid(in) || bytes.TrimLeft(in, " \t\r\n")[0] != '{' {
			return
		}
		if !e.Complete() {
			t.Fatalf("%q is an object and was not taken for one", in)
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(in, &members) != nil || bytes.ContainsRune(in, '\\') || e.Repeated != "" {
			return // keys may be escaped, and encoding/json decodes them
		}
		for name, at := range map[string]Span{"id": e.ID, "method": e.Method, "params": e.Params, "result": e.Result, "error": e.Error} {
			if want := members[name]; at.Found() != (want != nil) || string(at.Of(in)) != string(want) {
				t.Fatalf("%q: %s is %q, want %q", in, name, at.Of(in), want)
			}
		}
	})
}
