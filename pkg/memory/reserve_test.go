package memory

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
)

// hold returns an account that holds n bytes, or nil.
func hold(b *Budget, caller string, n int64) *Account {
	if a := b.Account(caller); a.Grow(n) == nil {
		return a
	}
	return nil
}

func TestShortCallsAreServedWhateverTheHeapHolds(t *testing.T) {
	b, h := newBudget()
	for hold(b, "", mib) != nil {
	}
	h.inUse = 200 * mib // garbage that the last collection has still seen
	for i := range 32 {
		if hold(b, "", smallAccount) == nil {
			t.Fatalf("short call %d was refused", i)
		}
	}
	if hold(b, "", unpaid) != nil {
		t.Error("an account got more than there is")
	}
	if b.Held() != 64*mib {
		t.Errorf("%s are held", Format(b.Held()))
	}
}

func TestFiftyCallersLeaveOthersTheirShortCalls(t *testing.T) {
	b, h := newBudget()
	take := func(n int64) {
		for i := range 50 {
			for hold(b, fmt.Sprint("hostile ", i), n) != nil {
			}
		}
	}
	h.inUse = 40 * mib
	take(mib)
	h.inUse = 60 * mib
	for range 3 { // many small accounts, and many that are smaller
		take(100 << 10)
		take(unpaid)
	}
	for i := range 14 {
		a := hold(b, fmt.Sprint("other ", i), unpaid)
		if a == nil {
			t.Fatalf("the short call of caller %d was refused", i)
		}
		a.Close()
		if hold(b, fmt.Sprint("other ", i), 2*unpaid) == nil {
			t.Fatalf("the next call of caller %d was refused", i)
		}
	}
	if b.Held() > 64*mib {
		t.Errorf("%s are held", Format(b.Held()))
	}
}

func TestOneCallerLeavesMostOfTheReserve(t *testing.T) {
	b, h := newBudget()
	h.inUse = 60 * mib
	n := int64(0)
	for hold(b, "hostile", unpaid) != nil {
		n += unpaid
	}
	if n != 2*mib { // of 8
		t.Errorf("one caller got %s of the reserve", Format(n))
	}
}

func TestOnlySmallAccountsHoldTheReserve(t *testing.T) {
	b, h := newBudget()
	check := func(step string, used, reserved int64) {
		t.Helper()
		if b.used != used || b.reserve.used != reserved || b.byCaller["ann"] != used || b.reserve.byCaller["ann"] != reserved {
			t.Errorf("%s: %d and %d of the reserve are held, want %d and %d", step, b.used, b.reserve.used, used, reserved)
		}
	}
	h.inUse = 60 * mib
	a := hold(b, "ann", 200<<10)
	check("while memory is short", 0, 200<<10)
	if err := a.Grow(100 << 10); err == nil {
		t.Error("an account grew beyond the size of small ones")
	}
	h.inUse = 0
	if err := a.Grow(100 << 10); err != nil {
		t.Fatal(err)
	}
	check("grown", 300<<10, 0)
	a.Shrink(200 << 10)
	h.inUse = 60 * mib
	if err := a.Churn().Reserve(64 << 10); err != nil {
		t.Fatal(err)
	}
	check("shrunk and grown again", 100<<10, 64<<10)
	a.Churn().Release(32 << 10)
	check("given back", 100<<10, 32<<10)
	a.small.Store(mib)
	a.Reset(mib)
	check("reset to more than a small account holds", mib, 0)
	a.Close()
	check("closed", 0, 0)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.byCaller) != 0 || len(b.reserve.byCaller) != 0 {
		t.Errorf("%v, %v are left", b.byCaller, b.reserve.byCaller)
	}
}

func TestTryingDoesNotWaitAndEndsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBudget()
		a := b.Account("")
		defer a.Close()
		if !a.TryGrow(mib) || !a.Churn().TryReserve(mib) || !a.Churn().TryReserve(100) || !a.TryGrow(0) || !(*Account)(nil).TryGrow(mib) {
			t.Error("refused although there is room")
		}
		h.inUse = 60 * mib
		if a.TryGrow(mib) || a.Churn().TryReserve(mib) || h.collections != 0 || a.Err() != nil {
			t.Errorf("%d collections, %v", h.collections, a.Err())
		}
		var refused *Error
		if err := a.Churn().Reserve(mib); !errors.As(err, &refused) || h.collections != 1 || a.Err() == nil {
			t.Errorf("%v after %d collections", err, h.collections)
		}
		h.inUse = 0
		if held := b.Held() + a.small.Load(); held != 2*mib+100 || !a.TryGrow(mib) {
			t.Errorf("%d bytes are held", held)
		}
	})
}
