package config

import (
	"slices"
	"strings"
	"testing"
)

func TestValuesUnderNamesOfCredentialsAreSecrets(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `
mcpServers:
  process: {command: x, env: {GITHUB_TOKEN: ghp_12345, OPENAI_API_KEY: sk-12345678, MAX_TOKENS: 100, MODE: production}}
  address: {url: "https://a.example/mcp?api_key=k-12345678&page=12345678"}
  args:
    command: x
    args: [--token=t-12345678, --api-key, a-12345678, -password, --verbose-12345678, --max-tokens, "100", "token=plain-12345678", --token-file, /token-12345678, --client_secret]
`, Options{})
	for i, want := range [][]string{{"ghp_12345", "sk-12345678"}, {"k-12345678"}, {"t-12345678", "a-12345678"}} {
		if got := f.Upstreams[i].Secrets; !slices.Equal(got, want) {
			t.Errorf("secrets of %s are %q, want %q", f.Upstreams[i].Name, got, want)
		}
	}
}

func TestValuesThatLookLikeCredentialsAreSecrets(t *testing.T) {
	t.Parallel()
	f := mustParse(t, `
mcpServers:
  headers:
    url: "https://a.example/mcp?key=9f86d081884c7d65&sig=Zx81kq&sort_key=created12at34&page=a1b2c3d4e5&lang=en"
    headers: {X-Key: s3cr3t-value, X-Auth: Key q7w8e9r0t1, X-Region: eu-west-1, X-Public-Key: 9f86d081884c7d66, User-Agent: agent/1.2.3, X-Version: 2024abc2024}
  env:
    command: x
    env:
      ACCOUNT_KEY: 3a1f9b7c-0d2e-4f6a
      accountPass: pa55w0rd99
      SERVICE_KEY: report-2024
      CACHE_KEY: 9f86d081884c7d67
      SSH_KEY: ~/.ssh/id_9f86d081
      KEY: /keys/9f86d081884c7d68
      PWD: /home/a1b2c3d4
      AUTH: none
      HASH_KEY: sha256-utf8
      WORD: ghp_0123456789abcdefghij
      AWS: AKIAIOSFODNN7EXAMPLE
      SLUG: sk-learn-classifier-models
      JWT_EXAMPLE: eyJhbGciOiJub25l.eyJzdWIiOiJhIn0xyz.
      DATABASE_URL: "postgres://app:hunter2hunter2@db/app"
      LOCAL_URL: "postgres://postgres:postgres@db/app"
      HOME_PAGE: "https://a.example/?x=1"
      MODE: production
      BUILD: 20240101abcdef
  args: {command: x, args: ["redis://:r3d1s-pass@h", --key, k3yv4lu3, --key-file, k3yv4lu35, sk-0123456789abcdefghij, --level=debug12x]}
`, Options{})
	for i, want := range [][]string{
		{"9f86d081884c7d65", "s3cr3t-value", "q7w8e9r0t1"},
		{"3a1f9b7c-0d2e-4f6a", "pa55w0rd99", "ghp_0123456789abcdefghij", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJub25l.eyJzdWIiOiJhIn0xyz.", "hunter2hunter2"},
		{"r3d1s-pass", "k3yv4lu3", "sk-0123456789abcdefghij"},
	} {
		got := slices.Sorted(slices.Values(f.Upstreams[i].Secrets))
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("secrets of %s are\n%q, want\n%q", f.Upstreams[i].Name, got, want)
		}
	}
}

func TestWordsOfNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"X-Account-Key": "x account key", "account_key": "account key", "accountKey": "account key", "APIKey": "apikey", "--key": "key", "": "",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// An address shows in parts: its path, its query, its host.
func TestPartsOfAddressesFromTheEnvironmentAreSecrets(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"TOKEN": "abcdef", "ALL": "https://u:pa55w0rd99@a.example/mcp/9f86d081884c7d65/sse?key=k3yv4lu3#fr4gm3nt1", "PART": "v1/averylongwordwithoutdigits/mcp",
		"PLAIN": "https://user:averylongpasswordindeed@gateway-7f9c8d6b5.internal.example:8443/mcp",
	}
	f := mustParse(t, `
mcpServers:
  path: {url: "https://a.example/${TOKEN}/mcp#${TOKEN}"}
  all: {url: "${ALL}"}
  part: {url: "https://a.example/${PART}"}
  plain: {url: "${PLAIN}"}
  written: {url: "https://a.example/ghp_0123456789abcdefghij/mcp"}
`, Options{Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	for i, want := range [][]string{
		{"abcdef"},
		{env["ALL"], "pa55w0rd99", "9f86d081884c7d65", "k3yv4lu3", "fr4gm3nt1"},
		{env["PART"], "averylongwordwithoutdigits"},
		{env["PLAIN"], "averylongpasswordindeed"}, // an error that does not name the host helps nobody
		{"ghp_0123456789abcdefghij"},
	} {
		if got := f.Upstreams[i].Secrets; !slices.Equal(got, want) {
			t.Errorf("secrets of %s are %q, want %q", f.Upstreams[i].Name, got, want)
		}
	}
}

func TestNamesOfArgumentsThatHoldSecrets(t *testing.T) {
	for _, name := range []string{
		"password", "Password", "userPassword", "pwd", "db_passwd", "passphrase", "secret", "clientSecret", "client_secrets", "token", "accessToken",
		"X-Auth-Token", "api_key", "apiKey", "apikey", "private-key", "credentials", "Authorization", "jwt", "session_cookie", "otp",
	} {
		if !NamesSecret(name) {
			t.Errorf("%q holds a secret", name)
		}
	}
	for _, name := range []string{
		"", "_", "pageToken", "next_page_token", "continuation-token", "maxTokens", "token_count", "key", "publicKey", "sortKey", "path", "author", "compass", "secretary", "tokenize",
	} {
		if NamesSecret(name) {
			t.Errorf("%q holds no secret", name)
		}
	}
}
