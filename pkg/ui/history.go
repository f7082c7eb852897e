package ui

import (
	"iter"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// history is what a run did. *executor.Run implements it.
type history interface {
	Args() value.Value
	Seed() uint64
	Records(from int) iter.Seq[executor.Record]
	Done() bool
	Result() value.Value
	Graph() *graph.Graph
}

// bareRun is the history of a run whose graph is not known: its records and nothing
// that has to be computed from them. It is safe for concurrent use.
type bareRun struct {
	graph *graph.Graph // has a name and no nodes
	args  value.Value
	seed  uint64

	mu      sync.Mutex
	records []executor.Record
	done    bool
	result  value.Value
}

func newBareRun(tool string, args value.Value, seed uint64) *bareRun {
	return &bareRun{graph: &graph.Graph{Name: tool}, args: args, seed: seed}
}

func (b *bareRun) Args() value.Value   { return b.args }
func (b *bareRun) Seed() uint64        { return b.seed }
func (b *bareRun) Graph() *graph.Graph { return b.graph }

func (b *bareRun) Done() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done
}

func (b *bareRun) Result() value.Value {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.result
}

func (b *bareRun) Records(from int) iter.Seq[executor.Record] {
	b.mu.Lock()
	at, _ := slices.BinarySearchFunc(b.records, from, func(r executor.Record, index int) int { return r.Index - index })
	list := b.records[at:len(b.records):len(b.records)]
	b.mu.Unlock()
	return slices.Values(list)
}

// NextIndex returns the index of the next record.
func (b *bareRun) NextIndex() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.records) == 0 {
		return 0
	}
	return b.records[len(b.records)-1].Index + 1
}

// Follow adds the next record.
func (b *bareRun) Follow(rec executor.Record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records = append(b.records, rec)
	return nil
}

// end notes what came of the run.
func (b *bareRun) end(result value.Value) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done, b.result = true, result
}
