package cli

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

func TestSecretsAreNotCopiedIntoNewFiles(t *testing.T) {
	t.Parallel()
	f, ds := config.Parse("mcp.json", []byte(`
mcpServers:
  9web:
    url: "https://app:hunter2hunter2@a.example/mcp?api_key=k-12345678&page=1"
    headers: {Authorization: Bearer b3arer-token, X-Key: 9f86d081884c7d65, X-Home: "${HOME_OF}", X-Plain: plain}
  files:
    command: x
    args: [--api-key, a-12345678, --token=t-12345678, --again=t-12345678, plain]
    env: {API_TOKEN: s3cret-value, DB: "postgres://app:hunter2hunter2@db/app", MODE: production}
  deep:
    command: x
    args: [--token=t-1234567890, t-1234567890 and EEP_SECRET]
    env: {API_TOKEN: EEP_SECRET}
`), config.Options{ServersOnly: true, Getenv: func(name string) (string, bool) { return "${" + name + "}", true }, AllowUnset: true})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for i, want := range []struct{ entry, unset string }{
		{
			`{"url":"https://app:${_9WEB_SECRET}@a.example/mcp?api_key=${_9WEB_SECRET_2}&page=1","headers":` +
				`{"Authorization":"Bearer ${AUTHORIZATION}","X-Key":"${X_KEY}","X-Home":"${HOME_OF}","X-Plain":"plain"}}`,
			"AUTHORIZATION X_KEY _9WEB_SECRET _9WEB_SECRET_2",
		},
		{
			`{"command":"x","args":["--api-key","${FILES_SECRET}","--token=${FILES_SECRET_2}","--again=${FILES_SECRET_2}","plain"],` +
				`"env":{"API_TOKEN":"${API_TOKEN}","DB":"postgres://app:${DB}@db/app","MODE":"production"}}`,
			"API_TOKEN DB FILES_SECRET FILES_SECRET_2",
		},
		{ // one secret is part of the name of the variable for another
			`{"command":"x","args":["--token=${DEEP_SECRET}","${DEEP_SECRET} and ${API_TOKEN}"],"env":{"API_TOKEN":"${API_TOKEN}"}}`,
			"API_TOKEN DEEP_SECRET",
		},
	} {
		entry, unset := entryValue(f.Upstreams[i])
		if got := entry.JSON(); got != want.entry || strings.Join(unset, " ") != want.unset {
			t.Errorf("got %s\nand %q, want %s\nand %s", got, unset, want.entry, want.unset)
		}
	}
}
