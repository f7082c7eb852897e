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
	return r.log.next > 0
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

// detach forgets what a drive that is over knew of the frames of the run, which is
// parked: contexts and observers keep the request alive that caused the drive.
func (r *Run) detach(open []*frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range open {
		f.local, f.env.Processor = local{}, nil
	}
	for _, e := range r.log.list {
		if f := e.frame; f.state == ended {
			f.local, f.env.Processor = local{}, nil
		}
	}
}

// waiting returns the frames that wait for what they opened, the outermost first.
func (r *Run) waiting() []*frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []*frame{}
	var add func(f *frame)
	add = func(f *frame) {
		if f.opened != nil && f.state != ended {
			list = append(list, f)
			for _, body := range f.opened.live {
				add(body)
			}
		}
	}
	add(&r.root)
	return list
}
