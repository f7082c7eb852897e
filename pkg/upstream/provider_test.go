package upstream

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// shop is a provider that is no MCP server. Each answer serves one request, the last for
// ever.
type shop struct {
	answers []error
	calls   []Call
	tokens  []string
	closed  int
}

func (s *shop) Call(ctx context.Context, c *Call) (Reply, error) {
	if c.Tool() == "" {
		return Reply{}, &Error{Server: c.Server, Op: "get", Message: "there are no prompts", Kind: KindLacks}
	}
	release, err := c.Admit(ctx)
	if err != nil {
		return Reply{}, err
	}
	defer release()
	_, token, err := c.As.Headers(ctx)
	if err != nil {
		return Reply{}, err
	}
	s.calls, s.tokens = append(s.calls, *c), append(s.tokens, token)
	if err := s.answers[min(len(s.calls), len(s.answers))-1]; err != nil {
		return Reply{Sent: 1}, err
	}
	return Reply{Value: value.ObjectOf("structuredContent", value.FromInt(int64(len(s.calls)))), Sent: 1}, nil
}

func (*shop) Tools(context.Context, *callinfo.Info) ([]value.Value, error) {
	return []value.Value{value.ObjectOf("name", value.FromString("order"))}, nil
}

func (s *shop) Close(context.Context) error { s.closed++; return nil }

func openShop(t *testing.T, s *shop, o Options, change ...func(*config.Upstream)) *Pool {
	u := &config.Upstream{Name: "fake", Transport: config.HTTP, URL: "http://shop.example", ConnectTimeout: testTimeout, Timeout: testTimeout}
	for _, f := range change {
		f(u)
	}
	o.Open = func(entry *config.Upstream, layer Layer) (Provider, error) {
		if entry.Name != "fake" || layer == nil {
			t.Errorf("opened %q", entry.Name)
		}
		return s, nil
	}
	return start(t, o, u)
}

func unavailable() *Error {
	return &Error{Server: "fake", Op: "call", Message: "it answered HTTP 503", Kind: KindUnavailable, Status: 503}
}

func TestAllLayersAreBeforeAProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{answers: []error{unavailable(), nil}}
		p := openShop(t, s, Options{}, withRetry(3), func(u *config.Upstream) {
			u.Cache = &config.Cache{TTL: time.Minute, MaxEntries: 10, Tools: []string{"*"}}
			u.RateLimit = &config.RateLimit{Limit: 1, Period: time.Minute}
		})
		for i, cached := range []bool{false, true} {
			r, err := p.CallTool(t.Context(), nil, "fake", "order", value.Undef)
			if err != nil || r.Cached != cached || r.Value.Get("structuredContent").Float() != 2 || !cached && (r.Sent != 2 || len(r.Attempts) != 2) {
				t.Errorf("call %d: %+v, %v", i, r, err)
			}
		}
		st := p.Stats()[0]
		if st.Calls != 2 || st.Retries != 1 || st.CacheHits != 1 || st.RateLimitWaits != 1 || st.State != "idle" {
			t.Errorf("%+v", st)
		}
		tools, err := p.Tools(t.Context(), nil, "fake")
		if err != nil || len(tools) != 1 {
			t.Errorf("%v, %v", tools, err)
		}
		if status, err := p.Status(t.Context(), nil, "fake"); err != nil || len(status.Tools) != 1 || status.Transport != config.HTTP {
			t.Errorf("%+v, %v", status, err)
		}
		var e *Error
		if _, err := p.GetPrompt(t.Context(), nil, "fake", "hello", value.Undef); !errors.As(err, &e) || e.Kind != KindLacks || e.Prompt != "hello" {
			t.Error(err)
		}
		if _, err := p.Subscribe(t.Context(), nil, "fake", "x://y", func() {}); !errors.As(err, &e) || e.Kind != KindLacks {
			t.Error(err)
		}
		if err := p.Start(t.Context()); err != nil {
			t.Error(err)
		}
		if err := p.Close(t.Context()); err != nil || s.closed != 1 {
			t.Errorf("closed %d times, %v", s.closed, err)
		}
		s.closed = 0
	})
}

// A provider whose credential is refused gets another one.
func TestProviderGetsARenewedCredential(t *testing.T) {
	refused := &Error{Server: "fake", Op: "call", Message: "it answered HTTP 401", Kind: KindDenied, Status: 401, Header: http.Header{}, Recovery: RecoverRenew, Unread: true}
	s := &shop{answers: []error{refused, nil}}
	tokens := tokenSource{"old", "new"}
	p := openShop(t, s, Options{Credentials: map[string]CredentialSource{"fake": &tokens}})
	r, err := p.CallTool(t.Context(), nil, "fake", "order", value.Undef)
	if err != nil || r.Sent != 2 || strings.Join(s.tokens, " ") != "old new" {
		t.Errorf("%+v, %v, tokens %v", r, err, s.tokens)
	}
	s.answers, s.calls, s.tokens = []error{refused}, nil, nil
	tokens = tokenSource{"old", "new"}
	if _, err = p.CallTool(t.Context(), nil, "fake", "order", value.Undef); err == nil || len(s.calls) != 2 || !strings.Contains(err.Error(), "it refused the credential") {
		t.Errorf("%d calls, %v", len(s.calls), err)
	}
}

// tokenSource has a token for the call and one for the repetition.
type tokenSource [2]string

func (s *tokenSource) Token(_ context.Context, _ *callinfo.Info, _ string, refresh bool) (Token, error) {
	if refresh {
		return Token{Value: s[1], Identity: "me"}, nil
	}
	return Token{Value: s[0], Identity: "me"}, nil
}

// A call with an unknown effect is made again only if the provider knows that it may be.
func TestProviderSaysWhatMayBeRepeated(t *testing.T) {
	for _, may := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{answers: []error{&Error{Server: "fake", Op: "call", Message: "it answered HTTP 502", Kind: KindGateway, Status: 502}, nil}}
			p := openShop(t, s, Options{Repeatable: func(string, string) bool { return may }}, withRetry(2))
			if _, err := p.CallTool(t.Context(), nil, "fake", "order", value.Undef); (err == nil) != may {
				t.Errorf("may be repeated %v: %v", may, err)
			}
		})
	}
}

func TestServerThatCannotBeOpened(t *testing.T) {
	u := &config.Upstream{Name: "fake", Transport: config.HTTP, URL: "http://shop.example"}
	p := start(t, Options{Open: func(*config.Upstream, Layer) (Provider, error) { return nil, errors.New("no document") }}, u)
	var e *Error
	if _, err := p.CallTool(t.Context(), nil, "fake", "order", value.Undef); !errors.As(err, &e) || e.FailureName() != "connect" || !strings.Contains(err.Error(), "no document") {
		t.Error(err)
	}
	if _, err := p.Tools(t.Context(), nil, "fake"); err == nil {
		t.Error("it has tools")
	}
}
