package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// tlsConfigs gives both ends of TLS over a loopback address.
func tlsConfigs(t *testing.T) (ours, theirs *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: pool}
}

// ofCall is a request of revision 2026-07-28 for a tool.
func (x *testServer) ofCall(ctx context.Context, name, params string) *http.Request {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `",` + params + `"_meta":{"progressToken":1,` + eraMeta + `}}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.Replace(x.url, "http:", "https:", 1)+server.Path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}}
	for headers := modern("tools/call", name); len(headers) > 0; headers = headers[2:] {
		r.Header.Set(headers[0], headers[1])
	}
	return r
}

func TestHTTP2RapidReset(t *testing.T) {
	lost := checkLeaks(t)
	ours, theirs := tlsConfigs(t)
	x := serve(t, hostileOptions(t), server.HTTPOptions{TLS: ours})
	transport := &http.Transport{TLSClientConfig: theirs, ForceAttemptHTTP2: true}
	c := &http.Client{Transport: transport}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				if (i+n)%2 == 0 {
					time.AfterFunc(time.Duration(n)*50*time.Microsecond, cancel)
				} else {
					cancel()
				}
				if response, err := c.Do(x.ofCall(ctx, "hang", "")); err == nil {
					_, _ = io.Copy(io.Discard, response.Body) // it is cut short
					response.Body.Close()
				}
				cancel()
			}
		})
	}
	all.Wait()
	response, err := c.Do(x.ofCall(context.Background(), "echo", `"arguments":{"a":1},`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.ProtoMajor != 2 || !strings.Contains(string(body), `{"a":1}`) {
		t.Errorf("%v %s %s", err, response.Proto, body)
	}
	transport.CloseIdleConnections()
	x.close()
	lost()
}

func TestIdleHTTP2StreamStaysOpen(t *testing.T) {
	server.SetTimes(t, time.Minute, 200*time.Millisecond)
	ours, theirs := tlsConfigs(t)
	opts := hostileOptions(t)
	opts.Call = func(ctx context.Context, q *server.Request) (value.Value, error) {
		q.Reporter().Progress("quiet", 1, 2, "")
		select {
		case <-ctx.Done():
			return value.Undef, context.Cause(ctx)
		case <-time.After(3 * 200 * time.Millisecond): // longer than any write may take
			return q.Args, nil
		}
	}
	x := serve(t, opts, server.HTTPOptions{TLS: ours})
	transport := &http.Transport{TLSClientConfig: theirs, ForceAttemptHTTP2: true}
	response, err := (&http.Client{Transport: transport}).Do(x.ofCall(context.Background(), "echo", `"arguments":{"a":1},`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), "progressToken") || !strings.Contains(string(body), `"structuredContent":{"a":1}`) {
		t.Errorf("%v: %s", err, body)
	}
	transport.CloseIdleConnections()
	x.close()
}

func TestCallersAreIsolated(t *testing.T) {
	lost := checkLeaks(t)
	opts, began, ended := hangingOptions(t)
	x := serve(t, opts, server.HTTPOptions{Guard: guardOf(t, "ann", "bob")})
	ann := x.session("2025-11-25", authorizedAsGuarded("ann")...)
	bob := x.session("2025-11-25", authorizedAsGuarded("bob")...)
	asBob := append(authorizedAsGuarded("bob"), ann[2:]...) // with ann's session
	answered := make(chan httpReply, 1)
	go func() { answered <- x.post(fmt.Sprintf(call, "7", ""), ann...) }()
	<-began
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	for _, c := range []struct {
		name, method, body string
		headers            []string
		status             int
	}{
		{"a cancel in a session of another", http.MethodPost, cancelled, asBob, 404},
		{"a cancel of an id of another", http.MethodPost, cancelled, bob, 202},
		{"a cancel without a session", http.MethodPost, strings.Replace(cancelled, `7}`, `7,"_meta":{`+eraMeta+`}}`, 1), authorizedAsGuarded("bob", modern("notifications/cancelled", "")...), 202},
		{"the end of a session of another", http.MethodDelete, "", asBob, 404},
		{"a call in a session of another", http.MethodPost, fmt.Sprintf(call, "8", ""), asBob, 404},
		{"a made-up session", http.MethodPost, fmt.Sprintf(call, "8", ""), authorizedAsGuarded("bob", "Mcp-Session-Id", "AAAAAAAAAAAAAAAAAAAAAAAAAA"), 404},
		{"no token", http.MethodPost, cancelled, ann[2:], 401},
		{"a token of nobody", http.MethodPost, cancelled, append([]string{"Authorization", "Bearer 0123456789abcdef-cat"}, ann[2:]...), 401},
		{"the beginning of a token", http.MethodPost, cancelled, append([]string{"Authorization", "Bearer 0123456789abcdef-an"}, ann[2:]...), 401},
		{"a token and more", http.MethodPost, cancelled, append([]string{"Authorization", "Bearer 0123456789abcdef-ann x"}, ann[2:]...), 401},
		{"an empty token", http.MethodPost, cancelled, append([]string{"Authorization", "Bearer "}, ann[2:]...), 401},
		{"a token of 60,000 bytes", http.MethodPost, cancelled, append([]string{"Authorization", "Bearer " + strings.Repeat("a", 60_000)}, ann[2:]...), 401},
		{"another scheme", http.MethodPost, cancelled, append([]string{"Authorization", "Basic 0123456789abcdef-ann"}, ann[2:]...), 401},
	} {
		g := x.ask(c.method, server.Path, c.body, c.headers...)
		if g.status != c.status {
			t.Errorf("%s: %d %s", c.name, g.status, g.body)
		}
		if strings.Contains(g.body, "0123456789abcdef") {
			t.Errorf("%s: the answer shows the token: %s", c.name, g.body)
		}
	}
	select {
	case err := <-ended:
		t.Errorf("somebody else ended ann's call: %v", err)
	default:
	}
	x.post(cancelled, ann...)
	if g := <-answered; g.status != http.StatusOK || g.body != "" { // nobody waits for an answer
		t.Errorf("%d %s", g.status, g.body)
	}
	<-ended
	x.close()
	lost()
}
