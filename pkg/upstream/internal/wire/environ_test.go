package wire

import (
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

func TestOwnVariablesWinOverInheritedOnes(t *testing.T) {
	u := &config.Upstream{InheritEnv: config.Inherit{All: true}, Env: []config.EnvVar{{Name: "A", Value: "own"}}}
	got := environ(u, []string{"A=ours", "B=ours"})
	if i, j := slices.Index(got, "A=ours"), slices.Index(got, "A=own"); j < i || !slices.Contains(got, "B=ours") {
		t.Errorf("%q", got) // of two, exec takes the last
	}
}
