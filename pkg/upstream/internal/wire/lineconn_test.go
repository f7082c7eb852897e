package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Members are known by their exact names, and none may be there twice.
func TestAnswersAreReadStrictly(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"c1","result":{"a":1},"extra":{},"Result":2,"ERROR":{"code":1}}`:                `{"a":1}`,
		`{"jsonrpc":"2.0","id":"c1","ID":"c2","result":{"Result":1,"result":2},"\u00e9":1}`:                    `{"Result":1,"result":2}`,
		`{"jsonrpc":"2.0","id":"c1","result":1,"result":2}`:                                                    `key "result" twice`,
		`{"jsonrpc":"2.0","id":"c1","result":1,"re\u0073ult":2}`:                                               `key "result" twice`,
		`{"jsonrpc":"2.0","id":"c1","id":"c2","result":1}`:                                                     `key "id" twice`,
		`{"jsonrpc":"2.0","id":"c2","id":"c1","result":1}`:                                                     `key "id" twice`,
		`{"jsonrpc":"2.0","id":"c1","error":{"code":-1,"message":"a"},"error":{"code":-2}}`:                    `key "error" twice`,
		`{"jsonrpc":"2.0","id":"c1","error":{"code":-1,"code":-2,"message":"a"}}`:                              ErrMalformed.Error(),
		`{"jsonrpc":"2.0","id":"c1","error":{"Code":-1,"Message":"b","code":-7,"message":"a","data":{"x":1}}}`: "a (JSON-RPC error -7)",
		`{"jsonrpc":"2.0","id":"c1","error":{"Code":-1,"MESSAGE":"b"}}`:                                        " (JSON-RPC error 0)",
		`{"jsonrpc":"2.0","id":"c1","error":{"code":1e300,"message":"a"}}`:                                     ErrMalformed.Error(),
		`{"jsonrpc":"2.0","id":"c1","error":{"code":"1","message":"a"}}`:                                       ErrMalformed.Error(),
		`[{"jsonrpc":"2.0","id":"c1","result":1,"result":2}]`:                                                  `key "result" twice`,
	} {
		s := newLineConn(strings.NewReader(line+"\n"), nopCloser{io.Discard}, 1<<20, nil, func(string) {})
		reply := s.pending.expect(`"c1"`)
		s.start()
		<-s.done
		a := <-reply
		got := string(a.result)
		if a.err != nil {
			got = a.err.Error()
		}
		if got != want && (a.err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
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
		s := newLineConn(bytes.NewReader(append(in, '\n')), nopCloser{io.Discard}, 256, nil, func(string) {})
		s.Attach(&Handler{
			Notified: func(string, string, json.RawMessage) {},
			Asked: func(*memory.Account, string, json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
				return []byte("{}"), nil
			},
		})
		reply := s.pending.expect(`"c1"`)
		s.start()
		<-s.done
		select {
		case a := <-reply:
			if (a.result == nil) == (a.err == nil) {
				t.Fatalf("%q: answer %+v", in, a)
			}
		default:
		}
		if _, err := s.Request(context.Background(), &Message{ID: "2", Method: "ping"}); err == nil {
			t.Fatal("a request over an ended connection was answered")
		}
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
