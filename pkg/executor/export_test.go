package executor

import "fmt"

// Dump shows where the walks of a run stand.
func (r *Run) Dump() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf("held %d, clock %+v, forks %d, queue %d\n", r.held, r.clock, len(r.forks), len(r.queue.list))
	var show func(f *frame)
	show = func(f *frame) {
		node := "-"
		if f.node != nil {
			node = f.node.ID
		}
		text += fmt.Sprintf("%q at %s: state %d phase %d try %d pending %v cancelled %v\n", f.id(), node, f.state, f.phase, f.try, f.pending, f.cancelled)
		if o := f.opened; o != nil {
			text += fmt.Sprintf("  opened %d: next %d of %d, ended %d, closing %v, live %d queued %v err %v\n", o.do, o.next, o.bodies, o.ended, o.closing, len(o.live), o.queued, o.err)
			for _, b := range o.live {
				show(b)
			}
		}
	}
	show(&r.root)
	return text
}

// Queued returns the room that the queue takes, in frames.
func (r *Run) Queued() int { return cap(r.queue.list) }
