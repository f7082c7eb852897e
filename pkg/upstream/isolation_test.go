package upstream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// tenants is an MCP server whose tool "mine" answers with the Authorization of
// the request. It notes sessions that are used with more than one, fails for
// callers whose credential says "broken" and refuses those that say "expired".
type tenants struct {
	url string

	mu       sync.Mutex
	owner    map[string]string // of each session
	crossed  []string
	requests int
}

// startTenants starts one that speaks the revision of 2026-07-28, or only
// those with sessions.
func startTenants(t testing.TB, sessions bool) *tenants {
	s := &tenants{owner: map[string]string{}}
	m := mcpserver.NewMCPServer("tenants", "1")
	m.AddTool(mcp.NewTool("mine", mcp.WithNumber("n")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.Header.Get("Authorization")), nil
	})
	next := mcpserver.NewStreamableHTTPServer(m, mcpserver.WithStateful(sessions))
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		who := r.Header.Get("Authorization")
		switch {
		case sessions && r.Header.Get("Mcp-Protocol-Version") == "2026-07-28":
			http.Error(w, "no such revision", http.StatusBadRequest)
			return
		case strings.Contains(who, "broken") && bytes.Contains(body, []byte("tools/call")):
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		case strings.Contains(who, "expired"):
			http.Error(w, "expired", http.StatusUnauthorized)
			return
		}
		s.saw(r.Header.Get("Mcp-Session-Id"), who)
		next.ServeHTTP(w, r)
		s.saw(w.Header().Get("Mcp-Session-Id"), who)
	}))
	t.Cleanup(listener.Close)
	s.url = listener.URL
	return s
}

func (s *tenants) saw(session, who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if session == "" {
		return
	}
	if owner, ok := s.owner[session]; ok && owner != who {
		s.crossed = append(s.crossed, fmt.Sprintf("the session of %q was used by %q", owner, who))
	}
	s.owner[session] = who
}

// byCaller is a CredentialSource whose tokens are named like the callers.
type byCaller struct{}

func (byCaller) Token(_ context.Context, info *callinfo.Info, _ string, _ bool) (Token, error) {
	return Token{Value: info.Caller}, nil
}

func TestNoCallerSeesWhatAnothersCredentialFetched(t *testing.T) {
	t.Parallel()
	const callers, calls = 40, 15
	layered := func(u *config.Upstream) {
		u.Cache = &config.Cache{TTL: time.Minute, MaxEntries: 1000, Tools: []string{"mine"}}
		u.CircuitBreaker = &config.CircuitBreaker{FailureThreshold: 2, SuccessThreshold: 1, ResetTimeout: time.Hour, HalfOpenMaxCalls: 1}
		u.Retry = &config.Retry{MaxAttempts: 2, InitialDelay: time.Millisecond, MaxDelay: time.Millisecond, Backoff: 1}
		u.MaxConcurrency = 16
	}
	ways := map[string]struct {
		options Options
		entry   func(*config.Upstream)
		carry   func(ctx context.Context, token string) context.Context
	}{
		"forwardHeaders": {
			entry: forwarding,
			carry: func(ctx context.Context, token string) context.Context { return withHeader(ctx, "X-Token", token) },
		},
		"forwardMeta": {
			entry: forwarding,
			carry: func(ctx context.Context, token string) context.Context {
				return withMeta(ctx, "example.com/token", token)
			},
		},
		"source": {
			options: Options{Credentials: map[string]CredentialSource{"fake": byCaller{}}},
			entry:   func(*config.Upstream) {},
			carry: func(ctx context.Context, token string) context.Context {
				return withInfo(ctx, &callinfo.Info{Caller: token})
			},
		},
	}
	for _, sessions := range []bool{false, true} {
		for name, way := range ways {
			t.Run(fmt.Sprintf("%s sessions=%v", name, sessions), func(t *testing.T) {
				server := startTenants(t, sessions)
				p := start(t, way.options, remote(server.url, nil, way.entry, layered))
				var wait sync.WaitGroup
				for caller := range callers {
					kind := [...]string{"good", "good", "good", "broken", "expired"}[caller%5]
					token := fmt.Sprintf("%s-token-of-caller-%02d", kind, caller)
					ctx := way.carry(t.Context(), token)
					// Each caller is several programs at once.
					for worker := range 2 {
						wait.Go(func() {
							for n := range calls {
								args := value.NewBuilder(1)
								args.Set("n", value.FromInt(int64((n+worker)%4)))
								r, err := p.CallTool(ctx, nil, "fake", "mine", args.Value())
								switch {
								case kind != "good" && err == nil:
									t.Errorf("%s got %s", token, r.Value.JSON())
								case kind == "good" && err != nil:
									t.Errorf("%s failed: %v", token, err)
								case kind == "good" && text(r.Value) != "Bearer "+token:
									t.Errorf("%s got the answer of %q", token, text(r.Value))
								case err != nil && strings.Contains(err.Error(), "token-of-caller"):
									t.Errorf("the error holds a credential: %v", err)
								}
							}
						})
					}
				}
				wait.Wait()
				server.mu.Lock()
				defer server.mu.Unlock()
				for _, c := range server.crossed {
					t.Error(c)
				}
				if opened := len(server.owner); sessions && opened < callers*3/5 {
					t.Errorf("%d sessions were opened for %d good callers", opened, callers*3/5)
				}
			})
		}
	}
}
