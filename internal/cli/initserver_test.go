package cli

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

func TestSecretsAreNotCopiedIntoNewFiles(t *testing.T) {
	t.Parallel()
	source := []byte(`
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
  defaults:
    command: x
    args: ["${DIR:-/tmp}"]
    env: {HOME_OF: "${env:HOME}", MODE: "${MODE:-fast}", API_TOKEN: "${TOK:-sk-abcdefghijklmnop1234}", DB: "${DB:-postgres://app:hunter2hunter2@db/app}"}
  away:
    url: "${BASE:-https://a.example}/mcp?page=${env:PAGE}&size=${SIZE:-1}"
    headers: {Authorization: "Bearer ${TOKEN:-abc}"}
`)
	opts := config.Options{ServersOnly: true, Getenv: func(string) (string, bool) { return "", false }, AllowUnset: true}
	expanded, _ := config.Parse("mcp.json", source, opts)
	opts.KeepVariables = true
	f, ds := config.Parse("mcp.json", source, opts)
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
		{ // defaults stay, but for secrets
			`{"command":"x","args":["${DIR:-/tmp}"],"env":{"HOME_OF":"${HOME}","MODE":"${MODE:-fast}","API_TOKEN":"${TOK}","DB":"${DB}"}}`,
			"TOK DB",
		},
		{
			`{"url":"${BASE:-https://a.example}/mcp?page=${PAGE}&size=${SIZE:-1}","headers":{"Authorization":"Bearer ${TOKEN}"}}`,
			"TOKEN",
		},
	} {
		entry, unset := entryValue(f.Upstreams[i], expanded.Upstreams[i].Secrets)
		if got := entry.JSON(); got != want.entry || strings.Join(unset, " ") != want.unset {
			t.Errorf("got %s\nand %q, want %s\nand %s", got, unset, want.entry, want.unset)
		}
	}
}
