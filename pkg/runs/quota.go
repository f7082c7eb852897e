package runs

// quota bounds something in all and for each caller.
type quota struct {
	max, maxPerCaller int
	all               int
	of                map[string]int // by caller
}

func newQuota(all, perCaller int) quota { return quota{all, perCaller, 0, map[string]int{}} }

// full reports whether there is as much as there can be, in all or of a caller.
func (q *quota) full(caller string) (all, own bool) {
	return q.all >= q.max, q.of[caller] >= q.maxPerCaller
}

func (q *quota) add(caller string) {
	q.all++
	q.of[caller]++
}

func (q *quota) remove(caller string) {
	q.all--
	if q.of[caller]--; q.of[caller] == 0 {
		delete(q.of, caller)
	}
}

// most returns the caller that has the most.
func (q *quota) most() (caller string) {
	n := 0
	for name, has := range q.of {
		if has > n {
			caller, n = name, has
		}
	}
	return caller
}
