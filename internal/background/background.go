// Package background runs functions on goroutines of the process.
//
// A goroutine that starts in a bubble of virtual time (testing/synctest) belongs to the
// bubble, as its channels and timers do, and ends with it. What the whole process uses,
// and what is started when it is first needed, must therefore be started here.
package background

import "sync"

// work is read by a goroutine that starts with the process, so in no bubble.
var work = func() chan<- func() {
	c := make(chan func())
	go func() {
		for f := range c {
			go f()
		}
	}()
	return c
}()

// Do runs f on a goroutine that belongs to no bubble, as the goroutines that f starts, and
// returns when f has returned. The time of the bubble of the caller stands still meanwhile.
// f must not use channels, timers or WaitGroups of a bubble, and must not panic.
func Do(f func()) {
	var done sync.Mutex // a channel would belong to the bubble of the caller
	done.Lock()
	work <- func() {
		defer done.Unlock()
		f()
	}
	done.Lock()
	defer done.Unlock()
}
