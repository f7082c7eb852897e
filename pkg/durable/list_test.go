package durable

import (
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

func TestParentsWaitIfAllOfTheirChildrenDo(t *testing.T) {
	t.Parallel()
	over := time.Unix(1, 0)
	for name, c := range map[string]struct {
		list []runs.Summary
		want []bool
	}{
		"a child that asks":         {[]runs.Summary{{ID: "c", Parent: "p", Status: runs.Waiting}, {ID: "p"}}, []bool{true, true}},
		"one of two asks":           {[]runs.Summary{{ID: "c", Parent: "p", Status: runs.Waiting}, {ID: "d", Parent: "p"}, {ID: "p"}}, []bool{true, false, false}},
		"the other one is over":     {[]runs.Summary{{ID: "c", Parent: "p", Status: runs.Waiting}, {ID: "d", Parent: "p", Ended: over}, {ID: "p"}}, []bool{true, false, true}},
		"a grandchild asks":         {[]runs.Summary{{ID: "p"}, {ID: "c", Parent: "p"}, {ID: "g", Parent: "c", Status: runs.Waiting}}, []bool{true, true, true}},
		"the parent is over":        {[]runs.Summary{{ID: "c", Parent: "p", Status: runs.Waiting}, {ID: "p", Ended: over}}, []bool{true, false}},
		"the parent is not listed":  {[]runs.Summary{{ID: "c", Parent: "p", Status: runs.Waiting}, {ID: "q"}}, []bool{true, false}},
		"a run that names itself":   {[]runs.Summary{{ID: "p", Parent: "p"}}, []bool{false}},
		"no children, and no lists": {nil, nil},
	} {
		waitWithChildren(c.list)
		for i, s := range c.list {
			if (s.Status == runs.Waiting) != c.want[i] {
				t.Errorf("%s: run %s waits: %t", name, s.ID, s.Status == runs.Waiting)
			}
		}
	}
}
