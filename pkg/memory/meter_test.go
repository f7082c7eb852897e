package memory

import (
	"context"
	"testing"
	"testing/synctest"
)

// A computation may count on after it was refused, because it ends at places of its own:
// it does not wait for another collection each time.
func TestAMeterIsRefusedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBudget()
		h.inUse = 200 * mib
		ctx, done := WithAccount(context.Background(), b.Account(""))
		defer done()
		m, before := NewMeter(ctx), h.collections
		for range 1000 {
			if m.Hold(mib) {
				t.Fatal("there was room")
			}
		}
		if n := h.collections - before; n > 1 {
			t.Errorf("%d collections", n)
		}
	})
}
