package config

import (
	"slices"
	"time"
)

// addressNames are the names of the field with a server's URL; the first one
// present wins.
var addressNames = []string{"httpUrl", "url", "serverUrl"}

// addressField returns the field with a server's URL; nil if there is none.
func (s *section) addressField() *Field {
	for _, name := range addressNames {
		if f, ok := s.node.Field(name); ok {
			return &f
		}
	}
	return nil
}

// transportField returns the field with a server's transport, under either of
// its names; nil if there is none.
func (s *section) transportField() *Node {
	if f := s.node.Get("type"); f != nil {
		return f
	}
	return s.node.Get("transport")
}

// isForeignAuth reports whether "auth" is Cursor's, which has no type.
func (s *section) isForeignAuth() bool {
	f := s.node.Get("auth")
	return s.decoder.foreign && f != nil && f.Get("type") == nil
}

// timeout returns the timeout of a call: timeoutMs, or the timeout of other
// programs.
func (s *section) timeout() time.Duration {
	const limit = 1000 // timeouts in seconds are shorter
	if !s.has("timeout") || s.has("timeoutMs") {
		return s.duration("timeoutMs")
	}
	n := s.number("timeout")
	switch {
	case n == 0: // reported
		return DefaultTimeout
	case n < limit, s.node.Get("autoApprove") != nil, s.node.Get("alwaysAllow") != nil:
		return time.Duration(n) * time.Second
	}
	return time.Duration(n) * time.Millisecond
}

// addForeignFilter adds what other programs write to a tool filter.
func (s *section) addForeignFilter(f *ToolFilter) {
	for name, list := range map[string]*[]string{"includeTools": &f.Allow, "excludeTools": &f.Deny, "disabledTools": &f.Deny} {
		if globs := s.globs(name); globs != nil {
			*list = slices.Concat(*list, globs)
			if *list == nil {
				*list = []string{} // an empty list allows nothing
			}
		}
	}
}
