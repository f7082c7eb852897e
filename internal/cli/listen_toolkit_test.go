//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestToolkitFollowsTheSettingsOfTheServer changes who may use it while it listens.
func TestToolkitFollowsTheSettingsOfTheServer(t *testing.T) {
	t.Parallel()
	p := &portal{T: t, name: toolkitHTTP}
	tokens := "  auth:\n    type: bearer\n    tokensFile: callers\n    tokens:\n      ann: \"${ANN}\"\n"
	p.start(tokens)
	p.wants(goodToken, 200)
	// Nobody who may come in calls anything: it reads the files by itself.
	p.replace("tools.yaml", `ann: "${ANN}"`, `bob: "${BOB}"`)
	p.soon("bob-bob-bob-bob-bob")
	p.wants(goodToken, 401)
	p.replace("callers", "cat-cat-cat-cat-cat-cat", "dog-dog-dog-dog-dog-dog")
	p.soon("dog-dog-dog-dog-dog-dog")
	p.wants("cat-cat-cat-cat-cat-cat", 401)
	p.wants("bob-bob-bob-bob-bob", 200)
	// At SIGHUP it reads them, also if nothing has changed.
	p.hangUp()
	p.wants("bob-bob-bob-bob-bob", 200)
	// Nobody opens it by taking the settings away.
	p.replace("tools.yaml", strings.Replace(tokens, `ann: "${ANN}"`, `bob: "${BOB}"`, 1), "")
	p.until("removing server.auth needs a restart")
	p.wants("bob-bob-bob-bob-bob", 200)
	p.wants(none, 401)
}

// TestToolkitFollowsTheFileOfAuthTokens changes the file of the flag, which the file of
// tools does not name, while the file of tools has errors.
func TestToolkitFollowsTheFileOfAuthTokens(t *testing.T) {
	t.Parallel()
	p := &portal{T: t, name: toolkitHTTP, flags: []string{"--auth", "bearer", "--auth-tokens", "callers"}}
	p.start("")
	p.wants("cat-cat-cat-cat-cat-cat", 200)
	p.replace("callers", "cat-cat-cat-cat-cat-cat", "dog-dog-dog-dog-dog-dog")
	p.soon("dog-dog-dog-dog-dog-dog")
	p.wants("cat-cat-cat-cat-cat-cat", 401)
	p.replace("tools.yaml", "server:", "servr:")
	p.until("still serving the previous version")
	p.replace("callers", "dog-dog-dog-dog-dog-dog", "eel-eel-eel-eel-eel-eel")
	p.soon("eel-eel-eel-eel-eel-eel")
	p.wants("dog-dog-dog-dog-dog-dog", 401)
}

// TestToolkitNeedsTheScopesOfNewTools adds a tool for few: who lacks its scope may not
// use the toolkit from then on.
func TestToolkitNeedsTheScopesOfNewTools(t *testing.T) {
	t.Parallel()
	p := &portal{T: t, name: toolkitHTTP}
	p.start("  auth:\n    type: bearer\n    tokens:\n      ann: \"${ANN}\"\n      bob: {token: \"${BOB}\", scopes: [write]}\n")
	p.wants(goodToken, 200)
	status, text := p.send(request{token: goodToken, call: "addGraphTool", args: `{"tool":{"name":"few","description":"For few","requiredScopes":["write"],` +
		`"inputSchema":{"type":"object"},"nodes":[{"id":"entry","type":"entry","next":"exit"},{"id":"exit","type":"exit"}]}}`})
	if status != 200 || !strings.Contains(text, `"success":true`) {
		t.Fatalf("HTTP %d: %s", status, text)
	}
	p.wants(goodToken, 403)
	p.wants("bob-bob-bob-bob-bob", 200)
}

// replace changes a file of the command.
func (p *portal) replace(name, old, new string) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		p.Fatal(err)
	}
}

// wants calls with a token.
func (p *portal) wants(token string, want int) {
	p.Helper()
	if status, text := p.send(request{token: token}); status != want {
		p.Errorf("%s: HTTP %d, want %d: %s", token, status, want, text)
	}
}

// soon waits until calls with a token are accepted.
func (p *portal) soon(token string) {
	p.Helper()
	status := 0
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if status, _ = p.send(request{token: token}); status == 200 {
			return
		}
	}
	p.Fatalf("%s: HTTP %d", token, status)
}

// hangUp sends SIGHUP and waits until the command says that it has read its file.
func (p *portal) hangUp() {
	p.Helper()
	for len(p.log) > 0 {
		<-p.log
	}
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		p.Fatal(err)
	}
	p.until("reloaded the file")
}

// until waits until the command has said something.
func (p *portal) until(text string) {
	p.Helper()
	for line := range p.log {
		if strings.Contains(line, text) {
			return
		}
	}
	p.Fatalf("it has ended and did not say %q", text)
}
