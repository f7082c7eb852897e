// Package protected is an MCP server for tests that OAuth protects.
package protected

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// Server is an MCP server over streamable HTTP that answers only where the
// Authorization has a token of its authorization server, meant for it (RFC
// 8707), with the scope "read". Its metadata names the authorization server
// (RFC 9728).
//
// It has two tools: "whoami" answers with a JSON object: sub, client and scope
// of the token, and the header X-Tenant; "leak" answers with an error that
// holds the whole Authorization, and writes it to the log.
type Server struct {
	URL string

	mu         sync.Mutex
	auth       *mcptest.AuthServer
	distrusted map[string]bool
	tokens     []string
	refusals   int
}

// Start starts one, which ends with the test.
func Start(t testing.TB, auth *mcptest.AuthServer) *Server {
	t.Helper()
	p := &Server{auth: auth, distrusted: map[string]bool{}}
	s := mcpserver.NewMCPServer("protected", "1", mcpserver.WithLogging())
	s.AddTool(mcp.NewTool("whoami"), p.whoami)
	s.AddTool(mcp.NewTool("leak"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		secret := r.Header.Get("Authorization")
		_ = s.SendNotificationToClient(ctx, "notifications/message", map[string]any{"level": "error", "data": "came with " + secret})
		return mcp.NewToolResultError("it does not like " + secret), nil
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"resource": p.URL, "authorization_servers": []string{p.authServer().URL}, "scopes_supported": []string{"read"},
		})
	})
	mux.Handle("/mcp", p.guard(mcpserver.NewStreamableHTTPServer(s)))
	listener := httptest.NewServer(mux)
	t.Cleanup(listener.Close)
	p.URL = listener.URL + "/mcp"
	return p
}

// whoKey has the introspection of a request in its context.
type whoKey struct{}

func (p *Server) whoami(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	who, _ := ctx.Value(whoKey{}).(mcptest.Introspection)
	text, err := json.Marshal(map[string]string{
		"sub": who.Subject, "client": who.ClientID, "scope": who.Scope, "tenant": r.Header.Get("X-Tenant"),
	})
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultText(string(text)), nil
}

// Distrust makes the server answer 401 to a token, even if the authorization
// server accepts it.
func (p *Server) Distrust(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.distrusted[token] = true
}

// Move makes the server use another authorization server.
func (p *Server) Move(to *mcptest.AuthServer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.auth = to
}

func (p *Server) authServer() *mcptest.AuthServer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.auth
}

// Tokens returns the tokens that were sent so far, each once, and how many
// requests were refused.
func (p *Server) Tokens() (tokens []string, refusals int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.tokens), p.refusals
}

// trusts takes note of a token.
func (p *Server) trusts(token string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.tokens, token) {
		p.tokens = append(p.tokens, token)
	}
	return !p.distrusted[token]
}

func (p *Server) guard(next http.Handler) http.Handler {
	refuse := func(w http.ResponseWriter, status int, challenge string) {
		p.mu.Lock()
		p.refusals++
		p.mu.Unlock()
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, http.StatusText(status), status)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		metadata := fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, strings.TrimSuffix(p.URL, "/mcp"))
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			refuse(w, http.StatusUnauthorized, "Bearer "+metadata)
			return
		}
		trusted := p.trusts(token)
		who, err := p.authServer().Introspect(r.Context(), token)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadGateway)
		case !trusted, !who.Active, !slices.Contains(who.Audience, p.URL):
			refuse(w, http.StatusUnauthorized, `Bearer error="invalid_token", `+metadata)
		case !slices.Contains(strings.Fields(who.Scope), "read"):
			refuse(w, http.StatusForbidden, `Bearer error="insufficient_scope", scope="read", `+metadata)
		default:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, who)))
		}
	})
}
