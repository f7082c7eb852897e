package wire

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// Of headers with the same name those of the message count before the credentials,
// and these before those of the settings.
func TestHeadersOfAMessageReplaceOthers(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	}))
	defer server.Close()
	link := OpenHTTP(t.Context(), HTTPOptions{
		Client: server.Client(), URL: server.URL, Limit: 1000, Life: t.Context(),
		Header: http.Header{"X-One": {"settings"}, "X-Two": {"settings"}, "X-Three": {"settings"}},
		Credentials: func(context.Context) (http.Header, error) {
			return http.Header{"X-Two": {"credentials"}, "X-Three": {"credentials"}}, nil
		},
		Log: &PeerLog{Redact: redact.New(nil), Log: slog.New(slog.DiscardHandler)},
	})
	defer link.Close(t.Context())
	result, err := link.Request(t.Context(), &Message{ID: "1", Method: "tools/list", Headers: []string{"X-Three", "message"}})
	if err != nil || string(result) != "{}" {
		t.Fatalf("got %s, %v", result, err)
	}
	for name, want := range map[string]string{"X-One": "settings", "X-Two": "credentials", "X-Three": "message"} {
		if v := got.Values(name); len(v) != 1 || v[0] != want {
			t.Errorf("%s: got %q, want %q", name, v, want)
		}
	}
}
