package durable

import (
	"testing"
	"time"
)

func TestParentsWaitIfAllOfTheirChildrenDo(t *testing.T) {
	t.Parallel()
	over := time.Unix(1, 0)
	for name, c := range map[string]struct {
		list []Summary
		want []bool
	}{
		"a child that asks":         {[]Summary{{ID: "c", Parent: "p", Waiting: true}, {ID: "p"}}, []bool{true, true}},
		"one of two asks":           {[]Summary{{ID: "c", Parent: "p", Waiting: true}, {ID: "d", Parent: "p"}, {ID: "p"}}, []bool{true, false, false}},
		"the other one is over":     {[]Summary{{ID: "c", Parent: "p", Waiting: true}, {ID: "d", Parent: "p", Ended: over}, {ID: "p"}}, []bool{true, false, true}},
		"a grandchild asks":         {[]Summary{{ID: "p"}, {ID: "c", Parent: "p"}, {ID: "g", Parent: "c", Waiting: true}}, []bool{true, true, true}},
		"the parent is over":        {[]Summary{{ID: "c", Parent: "p", Waiting: true}, {ID: "p", Ended: over}}, []bool{true, false}},
		"the parent is not listed":  {[]Summary{{ID: "c", Parent: "p", Waiting: true}, {ID: "q"}}, []bool{true, false}},
		"a run that names itself":   {[]Summary{{ID: "p", Parent: "p"}}, []bool{false}},
		"no children, and no lists": {nil, nil},
	} {
		waitWithChildren(c.list)
		for i, s := range c.list {
			if s.Waiting != c.want[i] {
				t.Errorf("%s: run %s waits: %t", name, s.ID, s.Waiting)
			}
		}
	}
}
