package memory

import (
	"context"
	"sync/atomic"
)

// unpaid is how many bytes an account counts by itself before it asks the Budget.
const unpaid = 16 << 10

// Account is what one call, or one store, holds. It is safe for concurrent use. A
// nil Account has no bounds.
type Account struct {
	budget *Budget
	caller string
	small  atomic.Int64 // bytes counted and not yet booked; less than 0 where they were given back
	failed atomic.Pointer[Error]
	cancel context.CancelCauseFunc // set before the account is shared

	// Guarded by budget.mu.
	kept     int64
	churn    int64
	reserved int64 // of kept and churn, what is from the reserve
	closed   bool
}

// held is what is booked; budget.mu is held.
func (a *Account) held() int64 { return a.kept + a.churn }

// Grow counts n bytes that are about to be held. The error, an *[Error], means
// that there is no room for them: they must not be allocated, and the context
// that [WithAccount] gave ends with that cause.
func (a *Account) Grow(n int64) error {
	if a == nil || n == 0 {
		return nil
	}
	if err := a.grow(n, true); err != nil {
		a.fail(err)
		return err
	}
	return nil
}

func (a *Account) grow(n int64, wait bool) *Error {
	if total := a.small.Add(n); total < unpaid && total > -unpaid {
		return nil
	}
	booked := a.small.Swap(0)
	err := a.pay(booked, false, wait)
	if err != nil && booked != n {
		a.small.Add(booked - n) // what was counted before is held all the same
	}
	return err
}

// TryGrow is [Account.Grow] for those who must not wait, and reports whether the
// bytes are counted. If it reports false, Grow may still find room, because it
// waits for a collection.
func (a *Account) TryGrow(n int64) bool {
	return a == nil || n == 0 || a.grow(n, false) == nil
}

// Shrink returns n bytes that Grow has counted.
func (a *Account) Shrink(n int64) { _ = a.Grow(-n) }

func (a *Account) pay(n int64, churn, wait bool) *Error {
	if n > 0 {
		return a.budget.draw(a, n, churn, wait)
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	if !a.closed {
		a.budget.giveBack(a, -n, churn)
	}
	return nil
}

// fail ends the call that the account belongs to.
func (a *Account) fail(err *Error) {
	if a.failed.CompareAndSwap(nil, err) && a.cancel != nil {
		a.cancel(err)
	}
}

// Refuse ends the call that the account belongs to as if the account had been
// refused: what it waited for did not fit elsewhere.
func (a *Account) Refuse(err *Error) {
	if a != nil {
		a.fail(err)
	}
}

// Err returns the *[Error] with which the account was first refused something,
// or nil if it was not.
func (a *Account) Err() error {
	if a == nil {
		return nil
	}
	if err := a.failed.Load(); err != nil {
		return err
	}
	return nil
}

// Reset makes n bytes all that the account holds, where that is less than it
// held: the rest is garbage now.
func (a *Account) Reset(n int64) {
	if a == nil {
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	small := a.small.Swap(0)
	n = min(n, a.held()+small)
	b.giveBack(a, a.churn, true)
	b.giveBack(a, a.kept-n, false)
	if more := n - a.kept; more > 0 && !a.closed { // what was not booked yet, or was churn
		a.kept += more
		b.hold(a, more)
	}
	if a.held() > smallAccount {
		b.unreserve(a, a.reserved)
	}
}

// Close releases all that the account holds. It may be called again, and by
// then nothing is counted any more.
func (a *Account) Close() {
	if a == nil {
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.closed {
		return
	}
	b.giveBack(a, a.churn, true)
	b.giveBack(a, a.kept, false)
	a.closed = true
}

// Churn returns the account as evaluations count on it: what they allocate, much
// of which is garbage soon. It is nil for a nil Account.
func (a *Account) Churn() *Churn {
	if a == nil {
		return nil
	}
	return (*Churn)(a)
}

// Churn counts allocations for an [Account]. Where the Budget has no room for
// more, a collection finds out how much of them is garbage.
type Churn Account

// Reserve counts n bytes that are about to be allocated. The error is that of
// [Account.Grow].
func (c *Churn) Reserve(n int64) error {
	if err := c.reserve(n, true); err != nil {
		(*Account)(c).fail(err)
		return err
	}
	return nil
}

// TryReserve is [Churn.Reserve] for those who must not wait, as
// [Account.TryGrow] is.
func (c *Churn) TryReserve(n int64) bool { return c.reserve(n, false) == nil }

func (c *Churn) reserve(n int64, wait bool) *Error {
	switch a := (*Account)(c); {
	case n <= 0:
		return nil
	case n < unpaid: // what is left of a short evaluation
		return a.grow(n, wait)
	default:
		return a.pay(n, true, wait)
	}
}

// Release returns n bytes that Reserve has counted.
func (c *Churn) Release(n int64) {
	if n > 0 {
		_ = (*Account)(c).pay(-n, true, false)
	}
}

type accountKey struct{}

// WithAccount returns a context that carries the account, and that ends, with an
// *[Error] as its cause, when the account is refused something. cancel must be
// called. It may be called once for an account, before others use it.
func WithAccount(ctx context.Context, a *Account) (_ context.Context, cancel func()) {
	if a == nil {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	a.cancel = end
	if err := a.failed.Load(); err != nil {
		end(err)
	}
	return context.WithValue(ctx, accountKey{}, a), func() { end(nil) }
}

// WithoutAccount returns a context for what does not count on the account of ctx, and
// ends with it.
func WithoutAccount(ctx context.Context) context.Context {
	if AccountOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, accountKey{}, (*Account)(nil))
}

// AccountOf returns the account of the call that ctx belongs to, or nil if it
// has none.
func AccountOf(ctx context.Context) *Account {
	a, _ := ctx.Value(accountKey{}).(*Account)
	return a
}
