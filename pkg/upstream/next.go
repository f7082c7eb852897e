package upstream

import (
	"reflect"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// sameEntry reports whether two entries differ in nothing but their places.
func sameEntry(a, b *config.Upstream) bool {
	x, y := *a, *b
	x.File, y.File = "", ""
	x.Pos, y.Pos = diag.Pos{}, diag.Pos{}
	x.ForwardHeaders, y.ForwardHeaders = withoutPositions(x.ForwardHeaders), withoutPositions(y.ForwardHeaders)
	x.ForwardMeta, y.ForwardMeta = withoutPositions(x.ForwardMeta), withoutPositions(y.ForwardMeta)
	return reflect.DeepEqual(x, y)
}

func withoutPositions(all []config.Forward) []config.Forward {
	all = slices.Clone(all)
	for i := range all {
		all[i].Pos = diag.Pos{}
	}
	return all
}
