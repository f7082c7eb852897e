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
