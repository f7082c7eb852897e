package executor

import (
	"time"
)

// arm sets the timer to the next deadline of the run, if a goroutine waits.
func (d *driving) arm() {
	if !d.ctx.awaited() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.run.Wake()
	if d.over.Load() || ok && at.Equal(d.armed) {
		return
	}
	if d.stop != nil {
		d.stop()
		d.stop = nil
	}
	if d.armed = at; ok {
		d.stop = d.port.AfterFunc(max(0, at.Sub(d.port.Now())), func() { d.tick(at) })
	}
}

// tick is the end of the timer for a time. Another one may be armed by now.
func (d *driving) tick(at time.Time) {
	if !d.advance(at) {
		return
	}
	d.run.changed.Store(true)
	d.applyChanges()
	d.signal()
}

// advance sets the time of the run, unless another goroutine may drive it by
// now.
func (d *driving) advance(at time.Time) bool {
	now := d.port.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over.Load() {
		return false
	}
	if at.After(now) {
		now = at // a timer may be early by the clock
	}
	if at.Equal(d.armed) {
		d.armed, d.stop = time.Time{}, nil
	}
	d.run.Advance(now)
	return true
}

func (d *driving) disarm() {
	d.run.attach(nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over.Store(true)
	if d.stop != nil {
		d.stop()
	}
}
