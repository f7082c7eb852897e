package config_test

import (
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

const unsetFile = `version: "1.0"
server: {name: x, version: "1"}
mcpServers:
  web: {url: "${BASE}/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
  cmd: {command: "${PROGRAM}", args: ["${input:id}"], env: {A: "${B:-c}"}}
tools: []
`

func TestUnsetVariablesAreAllowed(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	if _, ds := config.Parse("x.yaml", []byte(unsetFile), config.Options{Getenv: none}); len(ds) != 4 {
		t.Errorf("%d problems: %v", len(ds), ds)
	}
	f, ds := config.Parse("x.yaml", []byte(unsetFile), config.Options{Getenv: none, AllowUnset: true})
	if len(ds) != 0 {
		t.Fatal(ds)
	}
	if u := f.Upstreams; len(u) != 2 || u[0].URL != "${BASE}/mcp" || u[1].Command != "${PROGRAM}" || u[1].Args[0] != "${input:id}" {
		t.Errorf("%+v", u)
	}
	if u := f.Upstreams; !slices.Equal(u[0].Unset, []string{"BASE", "TOKEN"}) || !slices.Equal(slices.Sorted(slices.Values(u[1].Unset)), []string{"${input:id}", "PROGRAM"}) {
		t.Errorf("not set are %q and %q", u[0].Unset, u[1].Unset)
	}
}
