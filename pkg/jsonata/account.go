package jsonata

import (
	"runtime"
	"runtime/metrics"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What the parts of lists take in memory.
const (
	cellBytes     = 24 // an element of an array
	entryBytes    = 40 // an entry of an object
	variableBytes = 32
	tupleBytes    = 48
)

// An evaluation counts what it allocates, wherever that can become much. What
// it holds is less: the collector takes back what it has dropped. So an
// evaluation is only looked at once it has allocated more than it may hold, and
// only ended where the heap has in fact grown by so much.
const (
	defaultMemory = 1 << 30
	lookEvery     = 128 << 20 // at most
)

// meter counts bytes that the evaluation is about to allocate.
func (ev *evaluator) meter(n int) *Error {
	ev.metered += int64(n)
	if ev.metered > ev.look {
		return ev.weigh(int64(n))
	}
	return nil
}

// chunk is how many bytes an evaluation allocates between two times that it asks
// for shared memory.
const chunk = 256 << 10

// settle returns what was reserved but for what the result holds.
func (ev *evaluator) settle(result value.Value, failed bool) {
	if ev.opts.Memory == nil {
		return
	}
	kept := int64(0)
	if !failed {
		kept = result.Footprint(ev.made + ev.metered)
	}
	if n := ev.made - kept; n > 0 {
		ev.opts.Memory.Release(n)
	} else if n < 0 {
		// It is too little to be refused: the next evaluation is.
		_ = ev.opts.Memory.Reserve(-n)
	}
}

// weigh ends an evaluation for which there is no more memory: it has made more
// than it may hold, and so much is held beyond what there was before it, the next
// bytes included.
func (ev *evaluator) weigh(next int64) *Error {
	if ev.opts.Memory != nil {
		n := ev.metered
		ev.metered = 0
		if err := ev.opts.Memory.Reserve(n); err != nil {
			failed := stopped(-1, err.Error())
			failed.Err = err
			return failed
		}
		ev.made += n
		return nil
	}
	ev.made += ev.metered
	ev.metered = 0
	size := heapBytes()
	if ev.heap == 0 {
		ev.heap = max(size+next-ev.made, 1)
	}
	most := ev.limits.Memory - next
	if ev.made <= ev.limits.Memory || size-ev.heap <= most {
		return nil
	}
	runtime.GC()
	if heapBytes()-ev.heap <= most {
		return nil
	}
	return stopped(-1, "it holds too much memory")
}

func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// cells counts the n elements of an array that is about to be made.
func (ev *evaluator) cells(n int) *Error {
	if n > ev.limits.Sequence {
		return newError("D2015", -1, details{index: ev.limits.Sequence})
	}
	return ev.meter(cellBytes * n)
}

// push appends a value to a list.
func (ev *evaluator) push(list []value.Value, v value.Value) ([]value.Value, *Error) {
	if len(list) == cap(list) {
		if len(list) >= ev.limits.Sequence {
			return list, newError("D2015", -1, details{index: ev.limits.Sequence})
		}
		var err *Error
		if list, err = room(ev, list, 1, cellBytes); err != nil {
			return list, err
		}
	}
	return append(list, v), nil
}

// pushAll appends values to a list.
func (ev *evaluator) pushAll(list, more []value.Value) ([]value.Value, *Error) {
	if len(list)+len(more) > ev.limits.Sequence {
		return list, newError("D2015", -1, details{index: ev.limits.Sequence})
	}
	if err := ev.spend(len(more) >> 3); err != nil {
		return list, err
	}
	list, err := room(ev, list, len(more), cellBytes)
	if err != nil {
		return list, err
	}
	return append(list, more...), nil
}

// room returns a list with room for n more elements of so many bytes each.
func room[T any](ev *evaluator, list []T, n, bytes int) ([]T, *Error) {
	need := len(list) + n
	if need <= cap(list) {
		return list, nil
	}
	size := max(need, cap(list)+cap(list)/2, min(2*cap(list), 1024), 4)
	if err := ev.meter(bytes * size); err != nil {
		return list, err
	}
	wider := make([]T, len(list), size)
	copy(wider, list)
	return wider, nil
}

// text counts the bytes of a string that is about to be built.
func (ev *evaluator) text(n int) *Error {
	if n > ev.limits.StringBytes {
		return newError("D2016", -1, details{index: ev.limits.StringBytes})
	}
	if err := ev.spend(n >> 6); err != nil {
		return err
	}
	return ev.meter(n)
}

// builds counts what a buffer has grown by since it had the length and the
// room that were counted before.
func (ev *evaluator) builds(buf []byte, was *textSize) *Error {
	if len(buf) > ev.limits.StringBytes {
		return newError("D2016", -1, details{index: ev.limits.StringBytes})
	}
	grown := len(buf) - was.len
	was.len = len(buf)
	if cap(buf) > was.cap {
		was.cap = cap(buf)
		if err := ev.meter(was.cap); err != nil {
			return err
		}
	}
	return ev.spend(grown >> 5)
}

// textSize is what is counted of a buffer.
type textSize struct{ len, cap int }
