package cli_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/cli"
	mcpserver "github.com/mcpgraph/mcpgraph/pkg/server"
)

// health runs the command and returns its exit code and what it printed.
func health(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = cli.Main(append([]string{"health"}, args...), strings.NewReader(""), &out, &errs, nil, nil)
	return code, out.String(), errs.String()
}

// TestHealthOfAServer asks the server itself, whose file lets nobody in without
// a token.
func TestHealthOfAServer(t *testing.T) {
	t.Parallel()
	engine, err := mcpgraph.LoadBytes("tools.yaml", []byte(`version: "1.0"
server:
  name: t
  version: 1.0.0
  auth: {type: bearer, tokens: {ann: 0123456789abcdef0123}}
tools: []
`))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- engine.ServeHTTP(ctx, listener, mcpserver.HTTPOptions{}) }()
	url := "http://" + listener.Addr().String()
	for argument, want := range map[string]string{url: "ok\n", url + "/": "ok\n", url + "/healthz": "ok\n", url + "/readyz": "ready\n"} {
		if code, out, errs := health(argument); code != 0 || out != want || errs != "" {
			t.Errorf("health %s: code %d, %q, %q", argument, code, out, errs)
		}
	}
	if code, out, errs := health(url + "/mcp"); code != 1 || out != "" || !strings.Contains(errs, "/mcp: HTTP 401") {
		t.Errorf("health of the endpoint: code %d, %q, %q", code, out, errs)
	}
	stop()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if code, _, errs := health(url); code != 1 || !strings.Contains(errs, "mcpgraph: "+url+"/healthz: no answer: ") {
		t.Errorf("health of a server that is gone: code %d, %q", code, errs)
	}
}

func TestHealthOfWrongAnswers(t *testing.T) {
	t.Parallel()
	wait := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/fine", http.StatusFound) })
	mux.HandleFunc("/fine", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") })
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
	})
	mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-wait:
		case <-r.Context().Done():
		}
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	defer close(wait)
	secure := httptest.NewTLSServer(mux)
	defer secure.Close()
	for _, e := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{web.URL + "/fine"}, 0, "fine\n"},
		// The certificate of the test server is nobody's whom this machine knows.
		{[]string{secure.URL + "/fine"}, 0, "fine\n"},
		{[]string{web.URL + "/moved"}, 1, "/moved: HTTP 302 Found"},
		{[]string{web.URL + "/long"}, 1, `HTTP 503 Service Unavailable: "` + strings.Repeat("x", 200) + `"`},
		{[]string{web.URL + "/never", "--timeout", "50ms"}, 1, "/never: no response within 50ms"},
		{[]string{strings.Replace(web.URL, "http://", "http://u:secret@", 1) + "/long"}, 1, "http://u:xxxxx@"},
		{[]string{web.URL, "--timeout", "0s"}, 2, "--timeout must be more than 0"},
		{[]string{strings.TrimPrefix(web.URL, "http://")}, 2, "expected one like http://127.0.0.1:8080"},
		{[]string{"ftp://127.0.0.1"}, 2, "expected one like http://127.0.0.1:8080"},
		{nil, 2, "missing URL"},
	} {
		code, out, errs := health(e.args...)
		if code != e.code || !strings.Contains(out+errs, e.want) || (code == 0) != (errs == "") || (code == 0) != (out != "") {
			t.Errorf("health %v: code %d, %q, %q; want code %d and %q", e.args, code, out, errs, e.code, e.want)
		}
	}
}
