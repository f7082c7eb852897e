package upstream

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

func TestEveryKindIsInTheTable(t *testing.T) {
	names := append(FailureNames(), failedCancelled)
	for i := range kinds {
		k := Kind(i)
		if !slices.Contains(names, k.Name()) || k.Error() == "" {
			t.Errorf("kind %d: name %q, words %q", i, k.Name(), k.Error())
		}
		if row := kinds[k]; row.final && row.retried {
			t.Errorf("kind %q is retried although it is final", k.Error())
		}
		if got := kindOf(fmt.Errorf("wrapped: %w", wire.NotWritten(k)), false); got != k {
			t.Errorf("%q became %q", k.Error(), got.Error())
		}
	}
	if len(kinds) != int(KindOther)+1 {
		t.Errorf("%d kinds", len(kinds))
	}
	for name, k := range kindsByName {
		if k.Name() != name || finalKind(k).Name() != name || finalKind(k) != k && !kinds[finalKind(k)].final {
			t.Errorf("%q is %q, finally %q", name, k.Name(), finalKind(k).Name())
		}
	}
}

func TestNamesOfFailuresAreThoseOfTheConfig(t *testing.T) {
	if got := []string{failedConnect, failedClosed, failedTimeout, failedMalformed}; !slices.Equal(got, config.FailureNames()) {
		t.Errorf("%q, the config has %q", got, config.FailureNames())
	}
}

// The end of a connection while a session opens is no call whose effect is unknown.
func TestNothingIsUnknownOfARequestThatWasNotSent(t *testing.T) {
	s := layered(t)
	for _, e := range []*Error{
		s.newError(opStart, "", "", "", KindClosed), s.newError(opHandshake, "", "", "", wire.ErrMalformed),
		s.newError(opCall, "", "", "", wire.NotWritten(KindTimeout)),
	} {
		if e.unknown() || !e.Unsent {
			t.Errorf("%+v", e)
		}
	}
	e := s.newError(opCall, "look", "", "", errors.Join(wire.ErrLost))
	if !e.unknown() || e.Hint == "" || e.Kind != KindClosed {
		t.Errorf("%+v", e)
	}
}
