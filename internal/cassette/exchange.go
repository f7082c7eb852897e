package cassette

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Exchange is one call of an upstream tool and what came of it.
type Exchange struct {
	Line         int    // in the file, from 1; 0 if it is not from a file
	Test         string // the name of the test; empty: it answers every test
	Server, Tool string
	Arguments    value.Value
	// Reply is the whole result object of tools/call. It is undefined if the call
	// failed.
	Reply   value.Value
	Failure *upstream.Failure // nil if there is a reply
}

// The keys of lines.
const (
	keyArguments  = "arguments"
	keyConfig     = "config"
	keyFailure    = "failure"
	keyFinal      = "final"
	keyMessage    = "message"
	keyReply      = "reply"
	keyRetryAfter = "retryAfterMs"
	keyRun        = "run"
	keyServer     = "server"
	keyTest       = "test"
	keyTool       = "tool"
)

// maxRetryAfter bounds retryAfterMs: about 30 years.
const maxRetryAfter = 1e12

var exchangeKeys = []string{keyArguments, keyFailure, keyFinal, keyMessage, keyReply, keyRetryAfter, keyServer, keyTest, keyTool}

var runKeys = []string{keyArguments, keyConfig, keyRun}

// value returns the exchange as the object of its line. The keys are sorted.
func (x *Exchange) value() value.Value {
	b := value.NewBuilder(6)
	b.Set(keyArguments, x.Arguments)
	if f := x.Failure; f != nil {
		b.Set(keyFailure, value.FromString(f.Name))
		if f.Final {
			b.Set(keyFinal, value.True)
		}
		if f.Message != "" {
			b.Set(keyMessage, value.FromString(f.Message))
		}
		if f.RetryAfter > 0 {
			b.Set(keyRetryAfter, value.FromInt(f.RetryAfter.Milliseconds()))
		}
	} else {
		b.Set(keyReply, x.Reply)
	}
	b.Set(keyServer, value.FromString(x.Server))
	if x.Test != "" {
		b.Set(keyTest, value.FromString(x.Test))
	}
	b.Set(keyTool, value.FromString(x.Tool))
	return b.Value()
}

func (x *Exchange) line() []byte { return append(x.value().Append(nil), '\n') }

func (r *Run) line() []byte {
	b := value.NewBuilder(3)
	b.Set(keyArguments, r.Arguments)
	b.Set(keyConfig, value.FromString(r.Config))
	b.Set(keyRun, value.FromString(r.Tool))
	return append(b.Value().Append(nil), '\n')
}

// add adds a line.
func (c *Cassette) add(text string, n int) error {
	v, err := value.ParseStrict(text)
	if err != nil {
		return fmt.Errorf("not a line of a cassette: %w", err)
	}
	if v.Kind() != value.Object {
		return errors.New("not a line of a cassette: expected an object")
	}
	known := exchangeKeys
	run := !v.Get(keyRun).IsUndefined()
	if run {
		known = runKeys
	}
	for _, m := range v.Entries() {
		if !slices.Contains(known, m.Key) {
			return fmt.Errorf("unknown key %q; expected %s", m.Key, diag.List(known))
		}
	}
	if v.Get(keyArguments).Kind() != value.Object {
		return fmt.Errorf("%q has to be an object", keyArguments)
	}
	if run {
		if len(c.Exchanges) > 0 || c.Run != nil {
			return fmt.Errorf("%q is expected in the first line only", keyRun)
		}
		r := &Run{Arguments: v.Get(keyArguments)}
		c.Run = r
		return errors.Join(textIn(v, keyRun, &r.Tool, true), textIn(v, keyConfig, &r.Config, false))
	}
	x, err := exchangeOf(v)
	x.Line = n
	c.Exchanges = append(c.Exchanges, x)
	return err
}

// exchangeOf returns the exchange whose value v is.
func exchangeOf(v value.Value) (Exchange, error) {
	x := Exchange{Arguments: v.Get(keyArguments), Reply: v.Get(keyReply)}
	if err := errors.Join(textIn(v, keyServer, &x.Server, true), textIn(v, keyTool, &x.Tool, true), textIn(v, keyTest, &x.Test, false)); err != nil {
		return x, err
	}
	failed := !v.Get(keyFailure).IsUndefined()
	switch {
	case failed == !x.Reply.IsUndefined():
		return x, fmt.Errorf("expected either %q or %q", keyReply, keyFailure)
	case !failed && x.Reply.Kind() != value.Object:
		return x, fmt.Errorf("%q has to be an object: the result of tools/call", keyReply)
	case !failed:
		return x, nil
	}
	f := &upstream.Failure{Final: v.Get(keyFinal).Bool()}
	x.Failure = f
	if after := v.Get(keyRetryAfter); !after.IsUndefined() {
		ms := after.Float()
		if !(ms >= 0 && ms <= maxRetryAfter) {
			return x, fmt.Errorf("%q has to be a number of milliseconds, at most %d", keyRetryAfter, int64(maxRetryAfter))
		}
		f.RetryAfter = time.Duration(ms) * time.Millisecond
	}
	if err := errors.Join(textIn(v, keyFailure, &f.Name, true), textIn(v, keyMessage, &f.Message, false)); err != nil {
		return x, err
	}
	return x, upstream.CheckFailureName(f.Name)
}

// textIn reads the string of a key.
func textIn(v value.Value, key string, into *string, required bool) error {
	t := v.Get(key)
	if t.IsUndefined() && !required {
		return nil
	}
	if *into = t.Str(); t.Kind() != value.String || required && strings.TrimSpace(*into) == "" {
		return fmt.Errorf("%q has to be a string", key)
	}
	return nil
}
