package memory

import (
	"testing"
	"testing/synctest"
)

// TestTheTimerOfABudgetOutlivesABubble draws memory first in a bubble of virtual time: the
// timer that begins then is one of the process.
func TestTheTimerOfABudgetOutlivesABubble(t *testing.T) {
	b := New(64 << 20)
	synctest.Test(t, func(*testing.T) {
		account := b.Account("")
		defer account.Close()
		if err := account.Grow(reclaimFrom); err != nil {
			t.Error(err)
		}
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer == nil {
		t.Fatal("there is no timer")
	}
	b.timer.Stop() // panics for a timer of a bubble
}
