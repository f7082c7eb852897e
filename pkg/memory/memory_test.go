package memory

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// fakeHeap is what a test says that is in use.
type fakeHeap struct {
	mu                     sync.Mutex
	inUse, idleBytes       int64
	collections, givenBack int
}

func (h *fakeHeap) live() int64 { h.mu.Lock(); defer h.mu.Unlock(); return h.inUse }
func (h *fakeHeap) collect()    { h.mu.Lock(); defer h.mu.Unlock(); h.collections++ }
func (h *fakeHeap) idle() int64 { h.mu.Lock(); defer h.mu.Unlock(); return h.idleBytes }
func (h *fakeHeap) times() int  { h.mu.Lock(); defer h.mu.Unlock(); return h.givenBack }
func (h *fakeHeap) free()       { h.mu.Lock(); defer h.mu.Unlock(); h.givenBack++ }

// newBudget returns one of 128 MiB, of which 64 can be held, 8 of them only by
// small accounts.
func newBudget() (*Budget, *fakeHeap) {
	b, h := New(128*mib), &fakeHeap{}
	b.heap = h
	b.apart = func(start func()) { start() } // the time of the test is that of the budget
	return b, h
}

func TestAnAccountIsRefusedWhatDoesNotFitAndOthersAreNot(t *testing.T) {
	b, _ := newBudget()
	long, other := b.Account(""), b.Account("")
	ctx, cancel := WithAccount(t.Context(), long)
	defer cancel()
	if err := long.Grow(56 * mib); err != nil {
		t.Fatal(err)
	}
	err := long.Grow(mib)
	var refused *Error
	if !errors.As(err, &refused) || refused.Needed != mib || refused.Free != 0 || !refused.Alone || refused.Failure() != "interrupted" {
		t.Fatalf("err = %#v", err)
	}
	if context.Cause(ctx) != error(refused) || long.Err() != error(refused) {
		t.Errorf("the call goes on: %v, %v", context.Cause(ctx), long.Err())
	}
	if err := other.Grow(mib); err == nil {
		t.Error("an account that is not small got the share of small ones")
	}
	if err := b.Account("").Grow(200 << 10); err != nil {
		t.Errorf("a small account was refused: %v", err)
	}
	long.Close()
	long.Close()
	if err := b.Account("").Grow(50 * mib); err != nil {
		t.Errorf("what was given back cannot be had: %v", err)
	}
	if err := long.Grow(60 * mib); err != nil {
		t.Errorf("an account that is closed counts: %v", err)
	}
}

func TestNoCallerTakesTheLastFromOthers(t *testing.T) {
	b, _ := newBudget()
	took := func(caller string) (n int64) {
		a := b.Account(caller)
		for a.Grow(mib) == nil {
			n++
		}
		return n
	}
	// Each gets half of what the ones before have left of 56.
	if n := took("a"); n != 28 {
		t.Errorf("the first caller got %d MiB", n)
	}
	if n := took("a"); n != 0 {
		t.Errorf("with another call it got %d MiB more", n)
	}
	if n := took("b"); n != 14 {
		t.Errorf("the second caller got %d MiB", n)
	}
	for range 90 { // 7 MiB of the 14, and a quarter of the reserve
		if err := b.Account("c").Grow(100 << 10); err != nil {
			t.Fatalf("a third caller's small call was refused: %v", err)
		}
	}
}

func TestWhatIsGivenBackIsCountedToTheByte(t *testing.T) {
	b, _ := newBudget()
	a := b.Account("x")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range int64(2000) {
				if err := a.Grow(i); err != nil {
					t.Error(err)
					return
				}
				a.Shrink(i)
			}
		})
	}
	wg.Wait()
	if total := b.Held() + a.small.Load(); total != 0 {
		t.Errorf("%d bytes are left", total)
	}
	_ = a.Grow(3 * mib)
	_ = a.Churn().Reserve(2 * mib)
	a.Churn().Release(mib)
	if total := b.Held() + a.small.Load(); total != 4*mib {
		t.Errorf("%d bytes are held", total)
	}
	a.Close()
	if b.Held() != 0 || len(b.byCaller) != 0 || len(b.churning) != 0 || b.churn != 0 {
		t.Errorf("after Close %d bytes, %v, %v are held", b.Held(), b.byCaller, b.churning)
	}
}

func TestGarbageOfEvaluationsIsNotHeldAgainstThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBudget()
		a := b.Account("")
		defer a.Close()
		h.inUse = 2 * mib
		for i := range 1000 { // a thousand MiB, of which two are in use
			if err := a.Churn().Reserve(mib); err != nil {
				t.Fatalf("refused after %d MiB: %v", i, err)
			}
		}
		if h.collections == 0 || h.collections > 20 {
			t.Errorf("%d collections", h.collections)
		}
		// What is kept for good is not garbage, whatever the heap says.
		kept := b.Account("")
		defer kept.Close()
		if err := kept.Grow(50 * mib); err != nil {
			t.Fatal(err)
		}
		h.mu.Lock()
		h.inUse = 60 * mib
		h.mu.Unlock()
		if err := a.Churn().Reserve(20 * mib); err == nil {
			t.Error("an evaluation got what is in use")
		}
	})
}

func TestTheHeapItselfIsABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBudget()
		h.inUse = 60 * mib // that nobody has counted
		if err := b.Account("").Grow(mib); err == nil {
			t.Error("an account got what is in use")
		}
		if h.collections != 1 {
			t.Errorf("%d collections; the heap was not measured again", h.collections)
		}
		h.inUse = 0
		if err := b.Account("").Grow(mib); err != nil {
			t.Error(err)
		}
	})
}

func TestMemoryIsGivenBackWithinTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBudget()
		h.idleBytes = 100 * mib
		_ = b.Account("").Grow(mib)
		time.Sleep(time.Minute)
		if h.times() != 0 {
			t.Error("for a call of 1 MiB memory was given back")
		}
		a := b.Account("")
		_ = a.Grow(30 * mib)
		a.Close()
		time.Sleep(10 * time.Second)
		if h.times() != 1 {
			t.Errorf("after a load memory was given back %d times", h.times())
		}
		for range 100 { // ten seconds of load
			a := b.Account("")
			_ = a.Grow(10 * mib)
			a.Close()
			time.Sleep(100 * time.Millisecond)
		}
		if h.times() > 3 {
			t.Errorf("under a load memory was given back %d times", h.times()-1)
		}
		time.Sleep(10 * time.Second)
		// What a slow reader has held for long goes, too.
		held := b.Account("")
		_ = held.Grow(30 * mib)
		time.Sleep(time.Minute)
		before := h.times()
		held.Close()
		time.Sleep(10 * time.Second)
		if h.times() != before+1 {
			t.Error("what was given back late is kept")
		}
		was := h.times()
		time.Sleep(time.Hour)
		if h.times() != was {
			t.Error("nothing happens and memory is given back")
		}
	})
}

func TestWithoutABudgetThereAreNoBounds(t *testing.T) {
	var b *Budget
	a := b.Account("x")
	ctx, cancel := WithAccount(t.Context(), a)
	defer cancel()
	if err := AccountOf(ctx).Grow(1 << 60); err != nil || a.Err() != nil || a.Churn() != nil || b.Limit() != 0 || b.Held() != 0 {
		t.Error("a nil Budget has bounds")
	}
	a.Shrink(1)
	a.Close()
	b.Apply()
}

func TestErrorsSayWhatToDo(t *testing.T) {
	b, _ := newBudget()
	full := b.Account("")
	_ = full.Grow(50 * mib)
	err := b.Account("bob").Grow(20 * mib)
	if text := err.Error(); !strings.Contains(text, "needs 20 MiB more, 6 MiB of 128 MiB are free") || !strings.Contains(text, "try again later") {
		t.Error(text)
	}
	full.Close()
	err = b.Account("").Grow(200 * mib)
	if text := err.Error(); !strings.Contains(text, "200 MiB more") || !strings.Contains(text, "--memory") {
		t.Error(text)
	}
	for bytes, want := range map[int64]string{-1: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 1 << 20: "1 MiB", 1 << 30: "1 GiB"} {
		if got := Format(bytes); got != want {
			t.Errorf("Format(%d) = %s", bytes, got)
		}
	}
}

func TestSizesAreRead(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "7": 7, "7b": 7, "512MiB": 512 * mib, "512mib": 512 * mib, "2 GiB": 2 << 30, "1Ki": 1024, "1TiB": 1 << 40} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "-1", "1MB", "1.5GiB", "9999999999TiB", "MiB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d", text, got)
		}
	}
}

func TestTheLimitOfTheProcessIsFound(t *testing.T) {
	limit, source := Detect()
	if limit < MinLimit || source == "" {
		t.Errorf("%s of the %s", Format(limit), source)
	}
}

func BenchmarkAccount(b *testing.B) {
	budget := New(1 << 30)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			a := budget.Account("caller")
			_ = a.Grow(unpaid)
			_ = a.Grow(100)
			a.Close()
		}
	})
}

func TestWhatWasCountedBeforeARefusalIsHeld(t *testing.T) {
	b, _ := newBudget()
	a := b.Account("")
	const before = 10 << 10 // too little to be booked alone
	if err := a.Grow(before); err != nil || b.Held() != 0 {
		t.Fatalf("%v, %d bytes are booked", err, b.Held())
	}
	if err := a.Grow(100 * mib); err == nil {
		t.Fatal("an account got more than there is")
	}
	if err := a.Grow(unpaid); err != nil || b.Held() != before+unpaid {
		t.Errorf("%v: %d bytes are held, want %d", err, b.Held(), before+unpaid)
	}
	a.Close()
	if b.Held() != 0 {
		t.Errorf("%d bytes stay", b.Held())
	}
}

func TestResetCountsWhatWasNotBookedYet(t *testing.T) {
	b, _ := newBudget()
	for _, c := range []struct{ kept, churn, small, reset, want int64 }{
		{0, 0, 10 << 10, 8 << 10, 8 << 10},
		{0, 0, 10 << 10, 50 << 10, 10 << 10},
		{mib, 0, 10 << 10, 8 << 10, 8 << 10},
		{0, mib, 0, 8 << 10, 8 << 10},
		{mib, mib, 0, 3 * mib, 2 * mib},
	} {
		a := b.Account("ann")
		if err := errors.Join(a.Grow(c.kept), a.Churn().Reserve(c.churn), a.Grow(c.small)); err != nil {
			t.Fatal(err)
		}
		if a.Reset(c.reset); b.Held() != c.want {
			t.Errorf("%+v: %d bytes are held", c, b.Held())
		}
		a.Close()
		if b.Held() != 0 {
			t.Fatalf("%+v: %d bytes stay", c, b.Held())
		}
	}
}
