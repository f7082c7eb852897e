package executor

// waiter is a driver that may wait while something changes.
type waiter interface {
	// runChanged is called after somebody else has changed the run.
	runChanged()
}

// attach sets the driver of the run; nil removes it. It reports whether the run
// has begun before.
func (r *Run) attach(w waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.driver = w
	return r.next > 0
}

// notify wakes the driver because the run has changed.
func (r *Run) notify() {
	r.mu.Lock()
	w := r.driver
	r.mu.Unlock()
	if w != nil {
		w.runChanged()
	}
}
