package config

import (
	"slices"
	"time"
)

// addressNames are the names of the field with a server's URL; the first one
// present wins.
var addressNames = []string{"httpUrl", "url", "serverUrl"}

// addressField returns the field with a server's URL; nil if there is none.
func addressField(s *section) *Field {
	for _, name := range addressNames {
		if f, ok := s.node.Field(name); ok {
			return &f
		}
	}
	return nil
}

// transportField returns the field with a server's transport, under either of
// its names; nil if there is none.
func transportField(s *section) *Node {
	if f := s.node.Get("type"); f != nil {
		return f
	}
	return s.node.Get("transport")
}

// isForeignAuth reports whether "auth" is Cursor's, which has no type.
func isForeignAuth(s *section) bool {
	f := s.node.Get("auth")
	return s.decoder.foreign && f != nil && f.Get("type") == nil
}

// decodeTimeout returns the timeout of a call: timeoutMs, or the timeout of other
// programs.
func decodeTimeout(s *section) time.Duration {
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
func addForeignFilter(s *section, f *ToolFilter) {
	for name, list := range map[string]*[]string{"includeTools": &f.Allow, "excludeTools": &f.Deny, "disabledTools": &f.Deny} {
		if globs := decodeGlobs(s, name); globs != nil {
			*list = slices.Concat(*list, globs)
			if *list == nil {
				*list = []string{} // an empty list allows nothing
			}
		}
	}
}
