package testscale

import "runtime"

// Heap returns how many bytes the heap holds after garbage collection, for tests of what
// is kept.
func Heap() int64 {
	runtime.GC()
	runtime.GC() // what a finalizer held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
