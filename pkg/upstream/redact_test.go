package upstream

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/mcptest/protected"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestNoCredentialIsEverWritten lets every kind of credential be used, refused
// and echoed, and looks for all of them in all that is written: the log at
// every level, errors with all that is in them, results that are errors, what
// a pool tells of itself, and identities.
func TestNoCredentialIsEverWritten(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	tokens := tokensFor(t, server, "alice", "bob", "carol")
	login := loginAs(t, "alice")
	argv, _, _ := tokenCommand(t, tokens[1])
	header := func(v string) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return withHeader(ctx, "X-Token", v) }
	}
	nobody := func(ctx context.Context) context.Context { return ctx }

	var out logBuffer
	var secrets []string
	for name, c := range map[string]struct {
		entry   *config.Upstream
		options Options
		carry   func(context.Context) context.Context
		secrets []string
	}{
		"static header": {
			entry: remote(server.URL, nil, func(u *config.Upstream) {
				u.Headers = []config.Header{{Name: "Authorization", Value: "Bearer " + tokens[0]}}
				u.Secrets = []string{tokens[0]}
			}),
			carry: nobody, secrets: tokens[:1],
		},
		"forwarded":             {entry: remote(server.URL, nil, forwarding), carry: header(tokens[2]), secrets: tokens[2:]},
		"forwarded and refused": {entry: remote(server.URL, nil, forwarding), carry: header("forwarded-and-refused"), secrets: []string{"forwarded-and-refused"}},
		"bearer": {
			entry: remote(server.URL, &config.Auth{Type: config.AuthBearer, Token: "configured-and-refused"}),
			carry: nobody, secrets: []string{"configured-and-refused"},
		},
		"command": {entry: remote(server.URL, &config.Auth{Type: config.AuthBearer, TokenCommand: argv}), carry: nobody, secrets: tokens[1:2]},
		"client": {
			entry: remote(server.URL, worker(config.FlowClientCredentials)), carry: nobody, secrets: []string{"worker-secret"},
		},
		"wrong client": {
			entry: remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowClientCredentials, ClientID: "worker", ClientSecret: "wrong/secret+of client"}),
			carry: nobody, secrets: []string{"wrong/secret+of client"},
		},
		"login": {
			entry:   remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode}),
			options: login, carry: nobody,
		},
		"refresh token": {
			entry:   remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowRefreshToken, ClientID: "desktop", RefreshToken: "made-up-refresh-token"}),
			options: Options{TokenFile: loginAs(t, "bob").TokenFile}, carry: nobody, secrets: []string{"made-up-refresh-token"},
		},
		"exchange": {
			entry: remote(server.URL, &config.Auth{
				Type: config.AuthTokenExchange, ClientID: "worker", ClientSecret: "worker-secret", Scopes: []string{"read"},
				From: "X-Token", SubjectTokenType: config.AccessTokenType,
			}),
			carry: header("Bearer " + tokens[0]), secrets: tokens[:1],
		},
		"source": {
			entry: remote(server.URL, nil), options: Options{Credentials: map[string]CredentialSource{"fake": byCaller{}}},
			carry: func(ctx context.Context) context.Context {
				return withInfo(ctx, &callinfo.Info{Caller: tokens[1]})
			},
			secrets: tokens[1:2],
		},
	} {
		c.options.Log = out.logger()
		c.entry.Retry = &config.Retry{MaxAttempts: 2, InitialDelay: 1, MaxDelay: 1, Backoff: 1}
		p := start(t, c.options, c.entry)
		ctx := c.carry(t.Context())
		for _, tool := range []string{"whoami", "leak", "no-such-tool", "leak"} {
			r, err := p.CallTool(ctx, nil, "fake", tool, value.Undef)
			fmt.Fprintf(&out, "%s, %s: %s %v %+v\n", name, tool, r.Value.JSON(), err, err)
			if err != nil {
				tellAll(&out, err)
			}
			// The next call finds its token refused.
			if sent, _ := server.Tokens(); len(sent) > 0 {
				server.Distrust(sent[len(sent)-1])
			}
		}
		fmt.Fprintf(&out, "%+v\n", p.Stats())
		status, err := p.Status(ctx, nil, "fake")
		fmt.Fprintf(&out, "%+v %v\n", status, err)
		secrets = append(secrets, c.secrets...)
	}
	stored := storedTokens(t, login.TokenFile)
	if len(stored) != 1 {
		t.Fatalf("the store has %d records", len(stored))
	}
	for _, r := range stored {
		secrets = append(secrets, r.AccessToken, r.RefreshToken)
	}
	sent, _ := server.Tokens()
	secrets = append(secrets, sent...)

	written := out.String()
	if n := strings.Count(written, redact.Mark); n < 5 {
		t.Errorf("only %d secrets were taken out; nothing was echoed", n)
	}
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), base64.StdEncoding.EncodeToString([]byte("worker:" + s))} {
			if at := strings.Index(written, form); at >= 0 {
				t.Errorf("%q was written:\n%s", s, written[max(0, at-300):min(len(written), at+len(form)+50)])
			}
		}
	}
}

// tellAll writes all errors that an error is made of.
func tellAll(out *logBuffer, err error) {
	fmt.Fprintf(out, "%T %v\n", err, err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if in := e.Unwrap(); in != nil {
			tellAll(out, in)
		}
	case interface{ Unwrap() []error }:
		for _, in := range e.Unwrap() {
			tellAll(out, in)
		}
	}
}

func TestRefusals(t *testing.T) {
	status := func(code int, challenge, body string) error {
		h := http.Header{}
		if challenge != "" {
			h.Set("WWW-Authenticate", challenge)
		}
		return &wire.StatusError{Status: code, Header: h, Body: body}
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"401":                       {status(401, "", ""), true},
		"403":                       {status(403, "", "not for you"), false},
		"403 with a challenge":      {status(403, `Bearer error="insufficient_scope", scope="a b"`, ""), true},
		"403 that says so":          {status(403, "", `{"error":"invalid_token"}`), true},
		"400 that says so":          {status(400, "", `{"error":"invalid_token"}`), true},
		"400":                       {status(400, "", "unauthorized words"), false},
		"500":                       {status(500, "", "token expired"), false},
		"an RPC error":              {&RPCError{Code: -32000, Message: "Unauthorized"}, true},
		"an expired token":          {&RPCError{Code: -32603, Message: "The access token expired at noon: token expired"}, true},
		"another RPC error":         {&RPCError{Code: -32000, Message: "no record 401"}, false},
		"a long RPC error":          {&RPCError{Code: -32000, Message: "unauthorized " + strings.Repeat("x", longestRefusal)}, false},
		"inside a Error":            {&Error{Server: "s", Message: "m", Err: status(401, "", "")}, true},
		"a result that is an error": {refusedReply(mustParse(t, `{"isError":true,"content":[{"type":"text","text":"401 Unauthorized"}]}`)), true},
		"one about something else":  {refusedReply(mustParse(t, `{"isError":true,"content":[{"type":"text","text":"bob is unauthorized"}]}`)), false},
		"one that is none":          {refusedReply(mustParse(t, `{"content":[{"type":"text","text":"invalid_token"}]}`)), false},
	} {
		if got := c.err != nil && isRefusal(c.err); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func mustParse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWhatIsCutOffShowsNoPartOfASecret(t *testing.T) {
	const secret = "s3cret-of-the-server"
	r := redact.New([]string{secret})
	for n := range len(secret) + 1 {
		text := strings.Repeat("x", redact.MaxQuoted-n) + secret + strings.Repeat("y", n+1)
		for what, said := range map[string]string{
			"a line": redact.Quote([]byte(text)),
			"a body": (&wire.StatusError{Status: 500, Body: text}).Error(),
			"sent":   value.FromString(text[1:]).Preview(redact.MaxQuoted) + " (0 bytes)",
			"two":    redact.Quote([]byte(text)) + redact.Quote([]byte(text)),
		} {
			clean := r.Text(said)
			if strings.Contains(clean, secret[:redact.MinLength]) || !strings.Contains(clean, "bytes)") {
				t.Errorf("%s, %d bytes of the secret kept: %s", what, n, clean)
			}
		}
	}
}

func TestPasswordsInAddressesAreSecrets(t *testing.T) {
	s := newServer(&config.Upstream{
		Name: "s", Transport: config.HTTP, URL: "http://me:pass%20word1@127.0.0.1:1/mcp?key=from-env-1", Secrets: []string{"from-env-1"},
	}, Options{Log: slog.New(slog.DiscardHandler)})
	sent := base64.StdEncoding.EncodeToString([]byte("me:pass word1"))
	for _, secret := range []string{"pass word1", "pass%20word1", sent} {
		if got := s.redact.Text("it said " + secret); got != "it said "+redact.Mark {
			t.Errorf("%q became %q", secret, got)
		}
	}
	if got, want := s.address(), "http://127.0.0.1:1/mcp?key="+redact.Mark; got != want {
		t.Errorf("sessions are saved with the address %q, want %q", got, want)
	}
}

// rotating is a source whose tokens change while they speak for the same.
type rotating struct{ n atomic.Int32 }

func (r *rotating) Token(_ context.Context, _ *callinfo.Info, _ string, _ bool) (Token, error) {
	return Token{Value: fmt.Sprintf("rotated-token-%d", r.n.Add(1)), Identity: "me"}, nil
}

func TestTokensThatFollowInASessionAreSecretsToo(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch m.Method {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{}},"serverInfo":{"name":"n","version":"1"}}}`, m.ID)
		case "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":%q}}\n\n", r.Header.Get("Authorization"))
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
		case "logging/setLevel":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer h.Close()
	p := New([]*config.Upstream{{Name: "s", Transport: config.HTTP, URL: h.URL}}, Options{Credentials: map[string]CredentialSource{"s": &rotating{}}})
	defer p.Close(context.Background())
	var heard []string
	ctx := withInfo(context.Background(), &callinfo.Info{Listener: &callinfo.Listener{LogLevel: "debug", Notify: func(n callinfo.Notification) {
		heard = append(heard, n.Params.Get("data").Str())
	}}})
	for range 3 {
		if _, err := p.CallTool(ctx, nil, "s", "any", value.Undef); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range heard {
		if text != "Bearer "+redact.Mark {
			t.Errorf("the caller heard %q", text)
		}
	}
	if len(heard) != 3 {
		t.Errorf("heard %q", heard)
	}
}

func TestRedactorKnowsWhatItsOwnCallsCarried(t *testing.T) {
	if f := New([]*config.Upstream{{Name: "fake"}}, Options{}).Redactor(nil); f != nil {
		t.Errorf("there is nothing to redact, but it gives %q", f("x"))
	}
	server := web(t, config.HTTP, &mcptest.Web{}, func(u *config.Upstream) {
		u.Secrets = []string{"of-the-entry"}
		u.ForwardHeaders = []config.Forward{{From: "X-Token", To: "X-Token"}}
	})
	p := start(t, Options{Secrets: []string{"of-the-file"}}, server)
	as := func(token string) *callinfo.Info {
		info := &callinfo.Info{Caller: token, Header: http.Header{"X-Token": {token}}}
		p.NoteSecrets(info)
		return info
	}
	const text = "of-the-entry of-the-file token-of-ann token-of-bob"
	ann, bob := as("token-of-ann"), as("token-of-bob")
	for _, c := range []struct {
		info *callinfo.Info
		want string
	}{
		{nil, "[redacted] [redacted] token-of-ann token-of-bob"},
		{ann, "[redacted] [redacted] [redacted] token-of-bob"},
		{bob, "[redacted] [redacted] token-of-ann [redacted]"},
	} {
		if c.info != nil {
			if got := p.Redactor(c.info)(text); got != c.want {
				t.Errorf("before a call: %s", got)
			}
			if _, err := p.CallTool(context.Background(), c.info, "fake", "echo", value.Undef); err != nil {
				t.Fatal(err)
			}
		}
		if got := p.Redactor(c.info)(text); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	noted := ann.Secrets
	if p.NoteSecrets(ann); ann.Secrets != noted {
		t.Error("what is noted already is noted again")
	}
}

func TestRedactorKnowsWhatACallerSendsBeforeAnyCall(t *testing.T) {
	entry := &config.Upstream{
		Name: "s", Transport: config.HTTP, URL: "http://127.0.0.1:1/mcp",
		ForwardHeaders: []config.Forward{{From: "X-Token", To: "X-Token"}, {From: "X-Basic", To: "X-Basic"}},
		ForwardMeta:    []config.Forward{{From: "example.com/key", To: "X-Key"}},
	}
	exchanging := &config.Upstream{
		Name: "e", Transport: config.HTTP, URL: "http://127.0.0.1:1/mcp",
		Auth: &config.Auth{Type: config.AuthTokenExchange, From: "X-Subject", TokenURL: "http://127.0.0.1:1/token"},
	}
	p := start(t, Options{}, entry, exchanging)
	meta, err := value.Parse(`{"example.com/key":"of-meta","other":"of-nobody"}`)
	if err != nil {
		t.Fatal(err)
	}
	info := &callinfo.Info{Meta: meta, Header: http.Header{
		"X-Token": {"Bearer of-header"}, "X-Basic": {"Basic YW5uOm9mLWJhc2lj"}, "X-Subject": {"Bearer of-subject"}, "X-Other": {"of-other"},
	}}
	p.NoteSecrets(info)
	const text = `of-header "of-meta" of-basic YW5uOm9mLWJhc2lj of-subject of-other of-nobody Bearer of-header`
	const want = `[redacted] "[redacted]" [redacted] [redacted] [redacted] of-other of-nobody [redacted]`
	if got := p.Redactor(info)(text); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Secrets among the arguments of calls neither push the server's tokens out of its
// redactor, nor are taken out of the texts of other callers.
func TestSecretArgumentsStayApartFromTokens(t *testing.T) {
	t.Parallel()
	server := protected.Start(t, mcptest.StartAuthServer(t))
	p := start(t, Options{}, remote(server.URL, worker(config.FlowClientCredentials)))
	for n := range 3 {
		info := &callinfo.Info{}
		for m := range 32 {
			info.SecretArguments = append(info.SecretArguments, fmt.Sprintf("password-%d-%d", n, m))
		}
		if _, err := p.CallTool(t.Context(), info, "fake", "whoami", value.Undef); err != nil {
			t.Fatal(err)
		}
	}
	redact := p.Redactor(nil)
	sent, _ := server.Tokens()
	if len(sent) == 0 {
		t.Fatal("no token was sent")
	}
	for _, s := range append(sent, "worker-secret") {
		if got := redact("a " + s + " b"); got != "a [redacted] b" {
			t.Errorf("%q stays in texts: %q", s, got)
		}
	}
	if got := redact("password-2-31"); got != "password-2-31" {
		t.Errorf("a secret of one call is taken out of another: %q", got)
	}
}
