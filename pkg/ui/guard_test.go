package ui

import (
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"context"
	"log/slog"
)

// TestGuardRefuses sends what only an attacker sends.
func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	_, port, _ := net.SplitHostPort(s.host)
	const own = "GET /api/state"
	for _, c := range []struct {
		name, what string
		change     func(r *http.Request)
		status     int
		code       string
	}{
		{"as it should be", own, func(*http.Request) {}, 200, ""},
		{"localhost", own, func(r *http.Request) { r.Host = "localhost:" + port }, 200, ""},
		{"IPv6 loopback", own, func(r *http.Request) { r.Host = "[::1]:" + port }, 200, ""},
		{"own origin", own, func(r *http.Request) { r.Header.Set("Origin", "http://"+s.host) }, 200, ""},
		{"scheme in lower case", own, func(r *http.Request) { r.Header.Set("Authorization", "bearer "+s.token) }, 200, ""},

		{"no token", own, func(r *http.Request) { r.Header.Del("Authorization") }, 401, "unauthorized"},
		{"wrong token", own, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+newToken()) }, 401, "unauthorized"},
		{"part of the token", own, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s.token[:42]) }, 401, "unauthorized"},
		{"token and more", own, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s.token+"x") }, 401, "unauthorized"},
		{"Basic", own, func(r *http.Request) { r.SetBasicAuth("", s.token) }, 401, "unauthorized"},
		{"two tokens", own, func(r *http.Request) { r.Header.Add("Authorization", "Bearer x") }, 401, "unauthorized"},
		{"token in a cookie", own, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Cookie", "token="+s.token)
		}, 401, "unauthorized"},
		{"token in the query", own, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "token=" + s.token
		}, 400, "token_in_url"},
		{"token in both", own, func(r *http.Request) { r.URL.RawQuery = "access_token=" + s.token }, 400, "token_in_url"},

		{"rebound name", own, func(r *http.Request) { r.Host = "attacker.example:" + port }, 403, "forbidden_host"},
		{"name that ends like one", own, func(r *http.Request) { r.Host = "localhost.attacker.example:" + port }, 403, "forbidden_host"},
		{"name in the place of the address", own, func(r *http.Request) { r.Host = "127.0.0.1.nip.io:" + port }, 403, "forbidden_host"},
		{"other loopback address", own, func(r *http.Request) { r.Host = "127.0.0.2:" + port }, 403, "forbidden_host"},
		{"other port", own, func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403, "forbidden_host"},
		{"no port", own, func(r *http.Request) { r.Host = "127.0.0.1" }, 403, "forbidden_host"},
		{"rebound name of a file", "GET /", func(r *http.Request) { r.Host = "attacker.example:" + port }, 403, "forbidden_host"},
		{"other origin", own, func(r *http.Request) { r.Header.Set("Origin", "https://attacker.example") }, 403, "forbidden_origin"},
		{"origin of another port", own, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403, "forbidden_origin"},
		{"origin of another name", own, func(r *http.Request) { r.Header.Set("Origin", "http://localhost:"+port) }, 403, "forbidden_origin"},
		{"origin over TLS", own, func(r *http.Request) { r.Header.Set("Origin", "https://"+s.host) }, 403, "forbidden_origin"},
		{"origin null", own, func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, "forbidden_origin"},
		{"two origins", own, func(r *http.Request) {
			r.Header["Origin"] = []string{"http://" + s.host, "http://" + s.host}
		}, 403, "forbidden_origin"},
		{"another site", own, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, "forbidden_origin"},
		{"another port of the site", own, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403, "forbidden_origin"},

		{"a form", "POST /api/runs/import", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "bad_content_type"},
		{"a form of fields", "POST /api/sessions", func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}, 415, "bad_content_type"},
		{"no type", "POST /api/sessions", func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "bad_content_type"},
		{"another method", "DELETE /api/file", func(*http.Request) {}, 405, "bad_method"},
		{"preflight", "OPTIONS /api/state", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Access-Control-Request-Method", "POST")
		}, 401, "unauthorized"},
		{"GET of a command", "GET /api/sessions", func(*http.Request) {}, 405, "bad_method"},
		{"POST of a file", "POST /main.js", func(*http.Request) {}, 405, "bad_method"},
		{"no path", "GET /api/nothing", func(*http.Request) {}, 404, "not_found"},
		{"a file that is not there", "GET /embed.go", func(*http.Request) {}, 404, "not_found"},
		{"out of the folder", "GET /", func(r *http.Request) { r.URL.Opaque = "/..%2f..%2f..%2fetc/passwd" }, 404, "not_found"},
		{"out with backslashes", "GET /", func(r *http.Request) { r.URL.Opaque = "/..%5c..%5cembed.go" }, 404, "not_found"},
		{"an absolute path", "GET /", func(r *http.Request) { r.URL.Opaque = "/%2fetc/passwd" }, 404, "not_found"},
		{"a byte 0", "GET /", func(r *http.Request) { r.URL.Opaque = "/main.js%00" }, 404, "not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			method, path, _ := strings.Cut(c.what, " ")
			r := s.request(method, path, "")
			c.change(r)
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			if answer.StatusCode != c.status || !strings.Contains(string(text), c.code) {
				t.Errorf("got %d %s, want %d %s", answer.StatusCode, text, c.status, c.code)
			}
			if strings.Contains(string(text), s.token) {
				t.Error("the answer has the token")
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
			} {
				if got := answer.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if csp := answer.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'; script-src 'self';") ||
				!strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("Content-Security-Policy is %q", csp)
			}
			for name := range answer.Header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
					t.Errorf("the answer has the header %s", name)
				}
			}
		})
	}
}

func TestIndexHasANonceOfItsOwn(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	seen := map[string]bool{}
	for range 3 {
		r := s.request("GET", "/", "")
		r.Header.Del("Authorization") // the page has none yet
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		_, after, _ := strings.Cut(answer.Header.Get("Content-Security-Policy"), "'nonce-")
		nonce, _, _ := strings.Cut(after, "'")
		if len(nonce) < 20 || seen[nonce] || !strings.Contains(string(text), `nonce="`+nonce+`"`) {
			t.Errorf("the nonce %q is not that of the text, or not a new one", nonce)
		}
		seen[nonce] = true
	}
}

func TestFilesAreCompressedAndKnownAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	r := s.request("GET", "/main.js", "")
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(unzipped)
	answer.Body.Close()
	if err != nil || answer.Header.Get("Content-Encoding") != "gzip" || answer.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("%v: got %v", err, answer.Header)
	}
	r.Header.Set("Accept-Encoding", "identity")
	if status, text := s.do(r); status != http.StatusOK || text != string(script) || len(text) < 100_000 {
		t.Errorf("without compression: got %d and %d bytes, want the %d that were compressed", status, len(text), len(script))
	}
	r.Header.Set("If-None-Match", answer.Header.Get("ETag"))
	if status, text := s.do(r); status != http.StatusNotModified || text != "" {
		t.Errorf("got %d and %d bytes, want 304", status, len(text))
	}
}

func TestNamesOfThePage(t *testing.T) {
	t.Parallel()
	names := namesOf(&net.TCPAddr{IP: net.IPv4zero, Port: 7000})
	for host, want := range map[string]bool{
		"192.0.2.7:7000": true, "localhost:7000": true, "attacker.example:7000": false, "192.0.2.7:1": false, "127.0.0.1:7000.attacker.example": false,
	} {
		if got := names.has(host, nil); got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
	allowed := []string{"tools.example", "other.example:8443"}
	for host, want := range map[string]bool{
		"tools.example": true, "tools.example:443": true, "TOOLS.example:7000": true, "other.example:8443": true, "other.example:7000": false,
		"localhost:7000": true, "192.0.2.7:7000": false, "tools.example:443.attacker.example": false,
	} {
		if got := names.has(host, allowed); got != want {
			t.Errorf("with allowed hosts, %s: %v, want %v", host, got, want)
		}
	}
}

func TestLargeBodies(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	for path, most := range map[string]int{
		"/api/runs/x/eval": maxCommand, "/api/servers/files/check": maxCommand, "/api/file/check": maxText, "/api/sessions": maxText,
	} {
		body := `{"text":"` + strings.Repeat("x", most) + `"}`
		if status, code := s.code("POST", path, body); status != http.StatusRequestEntityTooLarge || code != "too_large" {
			t.Errorf("%s: %d %s", path, status, code)
		}
	}
	for body, want := range map[string]string{
		"": "bad_request", "{": "bad_request", "[]": "bad_request", `{"nothing":1}`: "bad_request", `{} {}`: "bad_request", "null": "",
	} {
		if _, code := s.code("POST", "/api/file/check", body); code != want {
			t.Errorf("%s: %s, want %s", body, code, want)
		}
	}
}

// TestSlowClients sends headers and bodies that do not come to an end, on virtual time.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]string{
		"header": "GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:7000\r\n",
		"body": "POST /api/file/check HTTP/1.1\r\nHost: 127.0.0.1:7000\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\n" +
			"Content-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				page := New(Options{Path: "none.yaml", Log: slog.New(slog.DiscardHandler)})
				defer page.Close()
				l := newPipes()
				ctx, cancel := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- page.Serve(ctx, l) }()
				c := l.dial()
				if _, err := io.WriteString(c, strings.ReplaceAll(sent, "TOKEN", page.token)); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				answer, _ := io.ReadAll(c)
				if took := time.Since(began); took > bodyTime+time.Second {
					t.Errorf("the connection ended after %v", took)
				}
				if name == "body" && !strings.Contains(string(answer), "the body did not come as a whole") {
					t.Errorf("got %q", answer)
				}
				c.Close()
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
