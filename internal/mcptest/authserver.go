package mcptest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// AuthServer is a running OAuth 2.1 authorization server: testdata/authserver,
// whose documentation lists what it supports. Its users are alice, bob and
// carol, each with the password NAME-password; its clients "worker" with the
// secret "worker-secret", and "desktop", which has none and may come back to
// http://127.0.0.1/callback on any port.
type AuthServer struct{ URL string }

var authServer = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	return goTool(filepath.Join(root, "testdata", "authserver"), "authserver")
})

// StartAuthServer starts one, which ends with the test. The flags are those of
// the program: -access, -resource, -register, -jwt.
func StartAuthServer(t testing.TB, flags ...string) *AuthServer {
	t.Helper()
	path, err := authServer()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, flags...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal("the authorization server did not say its address: ", err)
	}
	return &AuthServer{URL: strings.TrimSpace(line)}
}

// Introspection is the authorization server's introspection response for a
// token (RFC 7662).
type Introspection struct {
	Active   bool     `json:"active"`
	Subject  string   `json:"sub"`
	ClientID string   `json:"client_id"`
	Scope    string   `json:"scope"`
	Audience []string `json:"aud"`
}

// Introspect asks about a token.
func (a *AuthServer) Introspect(ctx context.Context, token string) (Introspection, error) {
	var got Introspection
	err := a.post(ctx, "/introspect", "resource-server", "resource-server-secret", url.Values{"token": {token}}, &got)
	return got, err
}

// ClientToken gets an access token for the client "worker" itself, with scopes
// and for resources (RFC 8707).
func (a *AuthServer) ClientToken(t testing.TB, scope string, resources ...string) string {
	t.Helper()
	var got struct {
		Token string `json:"access_token"`
	}
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {scope}, "resource": resources}
	if err := a.post(t.Context(), "/token", "worker", "worker-secret", form, &got); err != nil {
		t.Fatal(err)
	}
	return got.Token
}

func (a *AuthServer) post(ctx context.Context, path, user, password string, form url.Values, to any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(user, password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(to)
}

// Browse does what a person with a browser does in a login: it opens the
// address, logs in there and follows the redirects.
func Browse(ctx context.Context, address, user string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	request.SetBasicAuth(user, user+"-password")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the browser ended at %s with %s", response.Request.URL.Path, response.Status)
	}
	return nil
}
