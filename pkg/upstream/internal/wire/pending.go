package wire

import (
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// pendingRequests keeps the requests of one connection that wait for their answers.
type pendingRequests struct {
	unexpected func(what string) // called with answers that nobody waits for

	mu        sync.Mutex
	waiting   map[string]chan answer // by the id's JSON text
	abandoned map[string]bool        // ids that nobody waits for any more
}

// maxAbandoned bounds the ids remembered only to tell late answers from odd ones.
const maxAbandoned = 1000

func newPendingRequests(odd func(string)) *pendingRequests {
	return &pendingRequests{unexpected: odd, waiting: map[string]chan answer{}, abandoned: map[string]bool{}}
}

// expect returns where the answer to the request with this id will come.
func (p *pendingRequests) expect(id string) chan answer {
	reply := make(chan answer, 1)
	p.mu.Lock()
	p.waiting[id] = reply
	p.mu.Unlock()
	return reply
}

// abandon returns the request up.
func (p *pendingRequests) abandon(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.waiting[id]; !ok {
		return
	}
	delete(p.waiting, id)
	if len(p.abandoned) >= maxAbandoned {
		clear(p.abandoned)
	}
	p.abandoned[id] = true
}

// deliver returns a to the request that waits for it.
func (p *pendingRequests) deliver(id string, a answer) {
	p.mu.Lock()
	reply, ok := p.waiting[id]
	delete(p.waiting, id)
	late := p.abandoned[id]
	delete(p.abandoned, id)
	p.mu.Unlock()
	switch {
	case ok:
		reply <- a
	case !late:
		p.unexpected("an answer with an id that no request waits for: " + redact.Quote([]byte(id)))
	}
}

// deliverOnly returns a to the request with that id, or to the only one that
// waits: what came can have been meant for no other.
func (p *pendingRequests) deliverOnly(id string, a answer) {
	p.mu.Lock()
	if _, ok := p.waiting[id]; !ok && len(p.waiting) == 1 {
		for id = range p.waiting {
		}
	}
	reply, ok := p.waiting[id]
	delete(p.waiting, id)
	p.mu.Unlock()
	if ok {
		reply <- a
	}
}
