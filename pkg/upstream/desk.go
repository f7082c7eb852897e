package upstream

import "sync"

// desk keeps the requests of one connection that wait for their answers.
type desk struct {
	odd func(what string) // called with answers that nobody waits for

	mu      sync.Mutex
	waiting map[string]chan answer // by the id's JSON text
	givenUp map[string]bool        // ids that nobody waits for any more
}

// maxGivenUp bounds the ids remembered only to tell late answers from odd ones.
const maxGivenUp = 1000

func newDesk(odd func(string)) *desk {
	return &desk{odd: odd, waiting: map[string]chan answer{}, givenUp: map[string]bool{}}
}

// wait returns where the answer to the request with this id will come.
func (d *desk) wait(id string) chan answer {
	reply := make(chan answer, 1)
	d.mu.Lock()
	d.waiting[id] = reply
	d.mu.Unlock()
	return reply
}

// forget gives the request up.
func (d *desk) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.waiting[id]; !ok {
		return
	}
	delete(d.waiting, id)
	if len(d.givenUp) >= maxGivenUp {
		clear(d.givenUp)
	}
	d.givenUp[id] = true
}

// deliver gives a to the request that waits for it.
func (d *desk) deliver(id string, a answer) {
	d.mu.Lock()
	reply, ok := d.waiting[id]
	delete(d.waiting, id)
	late := d.givenUp[id]
	delete(d.givenUp, id)
	d.mu.Unlock()
	switch {
	case ok:
		reply <- a
	case !late:
		d.odd("an answer with an id that no request waits for: " + quote([]byte(id)))
	}
}

// deliverOnly gives a to the request with that id, or to the only one that
// waits: what came can have been meant for no other.
func (d *desk) deliverOnly(id string, a answer) {
	d.mu.Lock()
	if _, ok := d.waiting[id]; !ok && len(d.waiting) == 1 {
		for id = range d.waiting {
		}
	}
	reply, ok := d.waiting[id]
	delete(d.waiting, id)
	d.mu.Unlock()
	if ok {
		reply <- a
	}
}
