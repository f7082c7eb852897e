package memory

// smallAccount is the size in bytes up to which an account may draw on the
// reserve.
const smallAccount = 256 << 10

// The reserve has two halves. Of the first one each named caller may hold as much
// as is still free in it. The second one is for named callers that hold little of
// the reserve: a share of it each, so that as many callers have theirs for certain.
const reserveCallers = 64

// reserve is the part of a Budget that only small accounts draw on, once they get
// nothing else. It is counted apart: how large the heap is measured to be does not
// matter, because right after a load that is more than what is in use. Guarded by
// Budget.mu.
type reserve struct {
	size     int64
	used     int64
	byCaller map[string]int64 // what each named caller holds
}

// free returns the bytes that a small account of the caller may still have.
func (r *reserve) free(caller string) int64 {
	left := r.size - r.used
	if caller == "" {
		return left
	}
	half, own := r.size/2, r.byCaller[caller]
	return max(0, half-r.used-own, min(left, half/reserveCallers-own))
}

// hold counts n bytes, which may be less than 0, for the caller.
func (r *reserve) hold(caller string, n int64) {
	r.used += n
	count(r.byCaller, caller, n)
}
