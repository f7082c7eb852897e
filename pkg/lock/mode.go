package lock

import "slices"

// Mode is what happens to calls of a tool that differs from the lock file.
type Mode string

// The modes.
const (
	// Default fails calls of tools whose schemas or annotations differ, and calls of
	// tools that are not locked. A description that differs is logged.
	Default Mode = "default"
	// Strict fails calls of tools whose descriptions differ, too.
	Strict Mode = "strict"
	// Warn logs every difference and lets all calls through.
	Warn Mode = "warn"
	// Off does not read the lock file.
	Off Mode = "off"
)

// Modes lists the modes.
var Modes = []Mode{Default, Strict, Warn, Off}

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool { return slices.Contains(Modes, m) }
