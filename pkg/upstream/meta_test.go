package upstream

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// wiretap keeps what is written to a connection.
type wiretap struct {
	io.ReadWriteCloser
	mu   sync.Mutex
	sent bytes.Buffer
}

func (w *wiretap) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.sent.Write(p)
	w.mu.Unlock()
	return w.ReadWriteCloser.Write(p)
}

func TestMembersOfMetaTravelBesideTheProgressToken(t *testing.T) {
	tap := &wiretap{}
	p := New([]*config.Upstream{{Name: "fake"}}, Options{
		Dial: func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) {
			conn, err := mcptest.Script{}.Dial(ctx)
			tap.ReadWriteCloser = conn
			return tap, err
		},
	})
	defer p.Close(context.Background())
	info := &callinfo.Info{Trace: []value.Entry{
		{Key: "traceparent", Value: value.FromString("00-a-b-01")},
		{Key: "progressToken", Value: value.FromString("mine")},
		{Key: "absent"},
		{Key: `odd"key`, Value: value.True},
	}}
	if _, err := p.CallTool(context.Background(), info, "fake", "echo", value.Undef); err != nil {
		t.Fatal(err)
	}
	tap.mu.Lock()
	defer tap.mu.Unlock()
	for line := range strings.Lines(tap.sent.String()) {
		v, err := value.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if v.Get("method").Str() != "tools/call" {
			continue
		}
		meta := v.Get("params").Get("_meta")
		want := `{"progressToken":` + meta.Get("progressToken").JSON() + `,"traceparent":"00-a-b-01","odd\"key":true}`
		if meta.JSON() != want || meta.Get("progressToken").Str() == "mine" {
			t.Errorf("_meta is %s, want %s", meta.JSON(), want)
		}
		return
	}
	t.Error("no call was sent")
}

func TestRedactorTakesSecretsOutInEveryForm(t *testing.T) {
	redact := Redactor([]string{`p"w`, "ab", "two words"})
	if got, want := redact(`p"w {"x":"p\"w"} ab two+words`), `[redacted] {"x":"[redacted]"} ab [redacted]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTraceTravelsInHeadersOverHTTP(t *testing.T) {
	got := traceHeaders(nil, withInfo(context.Background(), &callinfo.Info{Trace: []value.Entry{
		{Key: "traceparent", Value: value.FromString("00-a-b-01")},
		{Key: "tracestate", Value: value.FromString("a\nb")},
		{Key: "baggage", Value: value.FromString("user=1")},
		{Key: "other", Value: value.FromString("x")},
	}}))
	if want := []string{"traceparent", "00-a-b-01", "baggage", "user=1"}; !slices.Equal(got, want) {
		t.Errorf("the headers are %v, want %v", got, want)
	}
}
