package config

import "testing"

// The value of a variable in an address stays one value, whatever its characters.
func TestVariablesInAddresses(t *testing.T) {
	env := map[string]string{
		"KEY": "a&b=c d#e%41+/é?", "BASE": "https://h.example/mcp?v=1", "PATHS": "one/two", "QUERY": "a=1&b=2",
		"USER": "me@work", "PASS": "p@s/s:w", "HOST": "h.example:8080", "SCHEME": "https",
	}
	const key = "a%26b%3Dc%20d%23e%2541%2B%2F%C3%A9%3F"
	for written, want := range map[string]string{
		"https://h.example/mcp?key=${KEY}":          "https://h.example/mcp?key=" + key,
		"https://h.example/mcp?a=1&key=x-${KEY}&b=": "https://h.example/mcp?a=1&key=x-" + key + "&b=",
		"https://h.example/mcp?key=${NONE:-a b&c}":  "https://h.example/mcp?key=a%20b%26c",
		"${BASE}":                                 env["BASE"],
		"${BASE}&key=${KEY}":                      env["BASE"] + "&key=" + key,
		"https://h.example/mcp?${QUERY}":          "https://h.example/mcp?a=1&b=2",
		"https://h.example/mcp?${QUERY}&c=${KEY}": "https://h.example/mcp?a=1&b=2&c=" + key,
		"https://h.example/${PATHS}/mcp":          "https://h.example/one/two/mcp",
		"${SCHEME}://${HOST}/mcp":                 "https://h.example:8080/mcp",
		"https://${USER}:${PASS}@${HOST}/mcp":     "https://me%40work:p%40s%2Fs%3Aw@h.example:8080/mcp",
		"https://${HOST}/me@work":                 "https://h.example:8080/me@work",
		"https://h.example/mcp?a=$${KEY}":         "https://h.example/mcp?a=${KEY}",
	} {
		f := mustParse(t, "mcpServers: {a: {type: http, url: '"+written+"'}}", Options{
			Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		})
		if got := f.Upstreams[0].URL; got != want {
			t.Errorf("%s\n got %s\nwant %s", written, got, want)
		}
	}
	f := mustParse(t, "mcpServers: {a: {command: x, args: ['--url=http://h/?key=${KEY}']}}", Options{
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	if got := f.Upstreams[0].Args[0]; got != "--url=http://h/?key="+env["KEY"] {
		t.Errorf("an argument is no address: %s", got)
	}
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"tools.example": true, "tools.example:8443": true, "127.0.0.1:65535": true, "[::1]:80": true, "[::1]": true, "::1": true,
		"": false, ":80": false, "127.0.0.1:65536": false, "127.0.0.1:80.evil.example": false, "tools.example:http": false,
		"[::1": false, "::1]": false, "[::1]80": false, "[tools.example]": false, "a:b:1": false, "täols.example": true, "a%41": false,
		"tools.example/x": false, "a@tools.example": false, "tools.example?x": false, "*.example": false, "a, b": false,
	} {
		if got := IsHost(host); got != want {
			t.Errorf("IsHost(%q) is %v, want %v", host, got, want)
		}
		if n := testing.AllocsPerRun(1, func() { IsHost(host) }); want && n > 0 {
			t.Errorf("IsHost(%q) allocates %v times", host, n)
		}
	}
	allowed := []string{"tools.example", "other.example:8443", "[::2]"}
	for host, want := range map[string]bool{
		"tools.example": true, "Tools.Example:1": true, "other.example:8443": true, "[::2]:80": true, "::2": true,
		"other.example": false, "other.example:1": false, "tools.example:1.evil.example": false, "tools.example:99999": false, "": false,
	} {
		if got := AllowsHost(allowed, host); got != want {
			t.Errorf("AllowsHost of %q is %v, want %v", host, got, want)
		}
	}
}
