package memory

import "context"

// Meter counts what a computation holds on the account of its context, and tells it
// when to stop: when the context ends, or when the account is refused. A nil Meter
// never stops. It is safe for concurrent use.
type Meter struct {
	ctx     context.Context
	account *Account
}

// NewMeter returns the Meter of a context; see [WithAccount].
func NewMeter(ctx context.Context) *Meter { return &Meter{ctx, AccountOf(ctx)} }

// Hold counts n bytes and reports whether the computation may go on. If it may not,
// the cause of the context says why.
func (m *Meter) Hold(n int) bool {
	// Asking a full Budget takes a collection each time, so it is asked once: what the
	// account was refused ends the context.
	return m == nil || m.ctx.Err() == nil && m.account.Grow(int64(n)) == nil
}
