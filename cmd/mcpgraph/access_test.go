package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// scopedTools is the rest of a file that says who may come in: a tool for
// everybody, and one for those with the scope write.
const scopedTools = `
tools:
  - name: look
    description: For everybody
    inputSchema: {type: object}
    nodes: &echo
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
  - name: change
    description: For some
    requiredScopes: [write]
    inputSchema: {type: object}
    nodes: *echo
`

// accessFile writes a file with these settings of the server, each line indented
// by two.
func accessFile(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	text := "version: \"1.0\"\nserver:\n  name: t\n  version: \"1\"\n" + server + scopedTools
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// use calls a tool in a session of its own and gives the HTTP status, the
// challenge, and the body; where initialize is refused, those of that.
func (w *web) use(tool string, headers ...string) (int, string, string) {
	w.t.Helper()
	status, header, body := w.ask(http.MethodPost, "/mcp", initialize, headers...)
	if status == http.StatusOK {
		in := append(headers[:len(headers):len(headers)], "Mcp-Session-Id", header.Get("Mcp-Session-Id"))
		status, header, body = w.ask(http.MethodPost, "/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{"n":7}}}`, in...)
	}
	return status, header.Get("WWW-Authenticate"), body
}

func TestTheFileSaysWhoComesIn(t *testing.T) {
	t.Parallel()
	file := accessFile(t, `  allowedHosts: [tools.example.com]
  allowedOrigins: [https://good.example]
  auth:
    type: bearer
    tokens: {ann: "${ANN_TOKEN}"}
    tokensFile: callers
`)
	callers := filepath.Join(filepath.Dir(file), "callers")
	if err := os.WriteFile(callers, []byte("# one\nbob bob-bob-bob-bob-bob write\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := serveWeb(t, []string{"ANN_TOKEN=ann-ann-ann-ann-ann"}, file)
	ann, bob := []string{"Authorization", "Bearer ann-ann-ann-ann-ann"}, []string{"Authorization", "Bearer bob-bob-bob-bob-bob"}
	for _, c := range []struct {
		tool      string
		headers   []string
		status    int
		challenge string
	}{
		{"look", ann, 200, ""},
		{"change", bob, 200, ""},
		{"change", ann, 403, `Bearer error="insufficient_scope", error_description="missing scope; required: write", scope="write"`},
		{"look", nil, 401, `Bearer realm="mcpgraph"`},
		{"look", []string{"Authorization", "Bearer bob-bob-bob-bob-bo"}, 401, `Bearer error="invalid_token", error_description="unknown token"`},
		{"look", append(ann[:2:2], "Origin", "https://good.example"), 200, ""},
		{"look", append(ann[:2:2], "Origin", "https://evil.example"), 403, ""},
	} {
		if status, challenge, body := w.use(c.tool, c.headers...); status != c.status || challenge != c.challenge {
			t.Errorf("%s with %v: %d %s %s", c.tool, c.headers, status, challenge, body)
		}
	}
	w.stop()
	if strings.Contains(w.said(), "ann-ann") || strings.Contains(w.said(), "bob-bob") {
		t.Errorf("a token was written:\n%s", w.said())
	}

	// Flags win.
	w = serveWeb(t, []string{"ANN_TOKEN=ann-ann-ann-ann-ann", "MCPGRAPH_AUTH_TOKENS=cat cat-cat-cat-cat-cat"}, file,
		"--auth", "bearer", "--allow-origin", "https://evil.example")
	for status, headers := range map[int][]string{
		200: {"Authorization", "Bearer cat-cat-cat-cat-cat", "Origin", "https://evil.example"},
		401: ann,
		403: {"Authorization", "Bearer cat-cat-cat-cat-cat", "Origin", "https://good.example"},
	} {
		if got, _, body := w.use("look", headers...); got != status {
			t.Errorf("%v: %d %s", headers, got, body)
		}
	}
	w.stop()
}

// oauthFile has an audience that is no address, and asks for the scope read.
func oauthFile(t *testing.T, issuer string) string {
	return accessFile(t, `  auth:
    type: oauth
    issuer: `+issuer+`
    audience: urn:tools
    publicUrl: https://tools.example/mcp
    requiredScopes: [read]
`)
}

var scopeOf = regexp.MustCompile(` scope="([^"]*)"`)

func TestAccessTokensOfAnAuthorizationServerLetIn(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t, "-jwt")
	other := mcptest.StartAuthServer(t, "-jwt")
	opaque := mcptest.StartAuthServer(t)
	w := serveWeb(t, nil, oauthFile(t, as.URL))
	const metadata = `resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`
	for _, c := range []struct {
		name, tool, token string
		status            int
		has               string
	}{
		{"a good token", "look", as.ClientToken(t, "read", "urn:tools"), 200, ""},
		{"for several audiences", "look", as.ClientToken(t, "read", "https://elsewhere.example", "urn:tools"), 200, ""},
		{"every scope", "change", as.ClientToken(t, "read write", "urn:tools"), 200, ""},
		{"for another audience", "look", as.ClientToken(t, "read", "https://elsewhere.example"), 401, `error="invalid_token"`},
		{"for nobody", "look", as.ClientToken(t, "read"), 401, `error="invalid_token"`},
		{"of another issuer", "look", other.ClientToken(t, "read", "urn:tools"), 401, `error="invalid_token"`},
		{"opaque", "look", opaque.ClientToken(t, "read", "urn:tools"), 401, `error="invalid_token"`},
		{"without the scope of every caller", "look", as.ClientToken(t, "write", "urn:tools"), 403, `scope="read"`},
		{"without the scope of the tool", "change", as.ClientToken(t, "read", "urn:tools"), 403, `scope="read write"`},
	} {
		status, challenge, body := w.use(c.tool, "Authorization", "Bearer "+c.token)
		if status != c.status || !strings.Contains(challenge, c.has) || (status == 200) == strings.Contains(challenge, metadata) || strings.Contains(body, c.token) {
			t.Errorf("%s: %d %s %s", c.name, status, challenge, body)
		}
	}

	// What a client does that has no token yet: it learns where tokens come from,
	// and which scopes to ask for; and once more where a tool needs more.
	_, challenge, _ := w.use("look")
	if !strings.Contains(challenge, metadata) {
		t.Fatal(challenge)
	}
	_, _, page := w.ask(http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "")
	if !strings.Contains(page, `"authorization_servers":["`+as.URL+`"]`) {
		t.Fatal(page)
	}
	token := as.ClientToken(t, scopeOf.FindStringSubmatch(challenge)[1], "urn:tools")
	if status, _, body := w.use("look", "Authorization", "Bearer "+token); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	_, challenge, _ = w.use("change", "Authorization", "Bearer "+token)
	token = as.ClientToken(t, scopeOf.FindStringSubmatch(challenge)[1], "urn:tools")
	if status, _, body := w.use("change", "Authorization", "Bearer "+token); status != 200 {
		t.Errorf("after the step up: %d %s", status, body)
	}
	w.stop()
}

func TestAccessTokensLetInUntilTheyExpire(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t, "-jwt", "-access", "3s")
	w := serveWeb(t, nil, oauthFile(t, as.URL))
	token := ""
	eventually(t, "a new token lets in", func() bool {
		token = as.ClientToken(t, "read", "urn:tools")
		status, _, _ := w.use("look", "Authorization", "Bearer "+token)
		return status == http.StatusOK
	})
	eventually(t, "the token expires", func() bool {
		status, challenge, _ := w.use("look", "Authorization", "Bearer "+token)
		return status == http.StatusUnauthorized && strings.Contains(challenge, "expired")
	})
	w.stop()
}

// behindProxy starts the program with an authorization server, behind a proxy by
// whose address, which it returns, callers know the endpoint, as it is where there
// are several replicas.
func behindProxy(t *testing.T, as *mcptest.AuthServer) (w *web, address string) {
	t.Helper()
	var behind atomic.Pointer[url.URL]
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind.Load())
		r.Out.Host = r.In.Host
	}})
	t.Cleanup(proxy.Close)
	address = proxy.URL + "/mcp"
	w = serveWeb(t, nil, "--log-level", "debug", accessFile(t, `  auth:
    type: oauth
    issuer: `+as.URL+`
    audience: `+address+`
    requiredScopes: [read]
`))
	target, err := url.Parse(w.base)
	if err != nil {
		t.Fatal(err)
	}
	behind.Store(target)
	return w, address
}

func TestClientOfTheTypeScriptSDKLogsInAndAsksForMore(t *testing.T) {
	t.Parallel()
	bin := mcptest.RealServers(t)
	w, address := behindProxy(t, mcptest.StartAuthServer(t, "-jwt"))
	out, err := exec.Command(filepath.Join(bin, "node"), "testdata/login.mjs", filepath.Dir(bin), address).Output()
	if want := `{"asked":["read","read write"],"results":[{"n":7},{"n":7}]}` + "\n"; err != nil || string(out) != want {
		t.Errorf("%s, %v %s\n%s", out, err, stderrOf(err), w.said())
	}
	w.stop()
}

func TestOneProgramAsksForMoreWhereAToolOfAnotherNeedsIt(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t, "-jwt")
	back, address := behindProxy(t, as)
	dir := t.TempDir()
	front := filepath.Join(dir, "front.yaml")
	if err := os.WriteFile(front, []byte(`version: "1.0"
server: {name: front, version: "1"}
mcpServers:
  back:
    url: `+address+`
    auth: {type: oauth2, flow: clientCredentials, clientId: worker, clientSecret: worker-secret, issuer: "`+as.URL+`", store: `+filepath.Join(dir, "store.json")+`}
tools:
  - name: ask
    description: Calls the other one
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: look}
      - {id: look, type: mcp, server: back, tool: look, args: {n: 1}, next: change}
      - {id: change, type: mcp, server: back, tool: change, args: {n: 2}, next: exit}
      - {id: exit, type: exit}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "run", front, "ask").Output()
	if err != nil || string(out) != "{\"n\":2}\n" {
		t.Fatalf("%s %v %s", out, err, stderrOf(err))
	}
	back.stop()
	for _, want := range []string{"missing scope; required: read", `caller=worker@worker error="it needs write"`} {
		if !strings.Contains(back.said(), want) {
			t.Errorf("no %s in\n%s", want, back.said())
		}
	}
}

// selfSigned writes a certificate with this serial number and its key.
func selfSigned(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRenewedCertificatesAreServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, spare := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "spare.pem")
	selfSigned(t, cert, key, 1)
	w := serveWeb(t, nil, filepath.Join("testdata", "tools.yaml"), "--tls-cert", cert, "--tls-key", key)
	serial := func() string {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(w.base, "https://"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return fmt.Sprint(conn.ConnectionState().PeerCertificates[0].SerialNumber)
	}
	if got := serial(); got != "1" {
		t.Errorf("the first certificate is %s", got)
	}
	selfSigned(t, cert, spare, 2) // whose key is not there yet
	eventually(t, "a certificate without its key is warned of", func() bool {
		if got := serial(); got != "1" {
			t.Fatalf("served %s, to which there is no key", got)
		}
		return strings.Contains(w.said(), "cannot reload the TLS certificate")
	})
	selfSigned(t, cert, key, 3)
	eventually(t, "the renewed certificate is served", func() bool { return serial() == "3" })
	w.stop()
	if strings.Count(w.said(), "cannot reload the TLS certificate") != 1 {
		t.Errorf("not one warning:\n%s", w.said())
	}
}

func TestTokensOfTheFlagAreReadAgain(t *testing.T) {
	t.Parallel()
	callers := filepath.Join(t.TempDir(), "callers")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(callers, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ann ann-ann-ann-ann-ann\n")
	file := accessFile(t, "")
	for _, flag := range []string{"", "--watch"} {
		w := serveWeb(t, nil, append([]string{file, "--auth", "bearer", "--auth-tokens", callers}, strings.Fields(flag)...)...)
		status := func(caller string) int {
			got, _, _ := w.use("look", "Authorization", "Bearer "+strings.TrimSuffix(strings.Repeat(caller+"-", 5), "-"))
			return got
		}
		hangUp := func() {
			if flag == "" {
				if err := w.cmd.Process.Signal(syscall.SIGHUP); err != nil {
					t.Fatal(err)
				}
			}
		}
		if ann, bob := status("ann"), status("bob"); ann != 200 || bob != 401 {
			t.Errorf("at first %d %d", ann, bob)
		}
		write("ann short\n")
		hangUp()
		eventually(t, "a file that cannot be used is told of", func() bool { return strings.Contains(w.said(), "cannot reload the file of --auth-tokens") })
		if ann := status("ann"); ann != 200 {
			t.Errorf("after that %d", ann)
		}
		write("bob bob-bob-bob-bob-bob\n")
		hangUp()
		eventually(t, "the file is read again", func() bool { return status("bob") == 200 && status("ann") == 401 })
		w.stop()
		if strings.Contains(w.said(), "bob-bob") || strings.Contains(w.said(), "ann-ann") {
			t.Errorf("a token was written:\n%s", w.said())
		}
		write("ann ann-ann-ann-ann-ann\n")
	}
}

func TestOpaqueTokensOfAnAuthorizationServerLetIn(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	inFile := func(secret string) string {
		return accessFile(t, `  hideUnscopedTools: true
  auth:
    type: oauth
    issuer: `+as.URL+`
    audience: urn:tools
    publicUrl: https://tools.example/mcp
    requiredScopes: [read]
    introspection: {url: `+as.URL+`/introspect, clientId: resource-server, clientSecret: "`+secret+`"}
`)
	}
	byFlags := []string{
		accessFile(t, "  hideUnscopedTools: true\n"), "--auth", "oauth", "--auth-issuer", as.URL, "--auth-audience", "urn:tools", "--auth-scope", "read",
		"--public-url", "https://tools.example/mcp", "--auth-introspection", as.URL + "/introspect", "--auth-introspection-client", "resource-server",
	}
	const secret = "resource-server-secret"
	for _, args := range [][]string{{inFile("${SECRET}")}, byFlags} {
		w := serveWeb(t, []string{"SECRET=" + secret, "MCPGRAPH_AUTH_INTROSPECTION_SECRET=" + secret}, args...)
		for _, c := range []struct {
			name, tool, token string
			status            int
			has               string
		}{
			{"a good token", "look", as.ClientToken(t, "read", "urn:tools"), 200, ""},
			{"every scope", "change", as.ClientToken(t, "read write", "urn:tools"), 200, ""},
			{"for another audience", "look", as.ClientToken(t, "read", "https://elsewhere.example"), 401, `wrong audience`},
			{"for nobody", "look", as.ClientToken(t, "read"), 401, `wrong audience`},
			{"unknown", "look", "no-such-token", 401, `not active`},
			{"without the scope of every caller", "look", as.ClientToken(t, "write", "urn:tools"), 403, `scope="read"`},
		} {
			status, challenge, body := w.use(c.tool, "Authorization", "Bearer "+c.token)
			if status != c.status || !strings.Contains(challenge, c.has) || strings.Contains(body, c.token) {
				t.Errorf("%s: %d %s %s", c.name, status, challenge, body)
			}
		}
		if _, _, body := w.use("change", "Authorization", "Bearer "+as.ClientToken(t, "read", "urn:tools")); !strings.Contains(body, `unknown tool \"change\"; expected \"look\"`) {
			t.Errorf("a hidden tool: %s", body)
		}
		w.stop()
		if strings.Contains(w.said(), secret) {
			t.Errorf("the secret was written:\n%s", w.said())
		}
	}
	w := serveWeb(t, nil, inFile("a-wrong-secret"))
	if status, _, body := w.use("look", "Authorization", "Bearer "+as.ClientToken(t, "read", "urn:tools")); status != 503 {
		t.Errorf("a wrong secret: %d %s", status, body)
	}
	w.stop()
	if said := w.said(); !strings.Contains(said, "returned 401 Unauthorized; check the client id and secret") || strings.Contains(said, "a-wrong-secret") {
		t.Errorf("%s", said)
	}
}
