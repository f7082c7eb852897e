package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

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
