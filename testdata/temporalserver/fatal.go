package main

import (
	"fmt"
	"log"
	"strings"

	tlog "go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// quiet logs nothing but why the server cannot go on, and ends the program then: the
// server goes on after Fatal, without what it could not make.
type quiet struct{ tlog.Logger }

// newQuiet returns a logger for the server.
func newQuiet() quiet { return quiet{tlog.NewNoopLogger()} }

// With implements log.WithLogger.
func (q quiet) With(...tag.Tag) tlog.Logger { return q }

// Fatal prints the message with its tags, and ends the program.
func (quiet) Fatal(message string, tags ...tag.Tag) { log.Fatal(described(message, tags)) }

// Panic is Fatal.
func (q quiet) Panic(message string, tags ...tag.Tag) { q.Fatal(message, tags...) }

func described(message string, tags []tag.Tag) string {
	var b strings.Builder
	b.WriteString("the server cannot go on: " + message)
	for _, t := range tags {
		fmt.Fprintf(&b, ", %s %v", t.Key(), t.Value())
	}
	return b.String()
}
