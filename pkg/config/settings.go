package config

import (
	"fmt"
	"math"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var (
	serverFields = names(serverSettings)
	limitFields  = names(limitSettings)
)

func (d *decoder) server(n *Node) {
	const owner = "the server"
	d.report(unknownFields(n, owner, serverFields)...)
	s := &d.file.Server
	e := &entry{environment{decoder: d, secrets: &s.Secrets}, owner, n}
	name, version := d.name(n, owner, "name"), d.name(n, owner, "version")
	s.Name, s.Version = e.expand(name), e.expand(version)
	optional := func(field string) string {
		if f := n.Get(field); f != nil && d.str(n, field) != "" {
			return e.expand(f.Text())
		}
		return ""
	}
	s.Title = optional("title")
	if s.Title == "" {
		s.Title = s.Name
	}
	description := optional("description")
	s.Instructions = optional("instructions")
	if s.Instructions == "" {
		s.Instructions = description
	}
	e.access(s)
	s.MaxConcurrentCalls = int(d.whole(n, "maxConcurrentCalls", 0, math.MaxInt32, 0))
	s.MaxConcurrentCallsPerCaller = int(d.whole(n, "maxConcurrentCallsPerCaller", 0, math.MaxInt32, 0))
	s.MaxCallWait = d.milliseconds(n, "maxCallWaitMs", DefaultMaxCallWait)
}

func (d *decoder) limits(n *Node) {
	d.report(unknownFields(n, `"executionLimits"`, limitFields)...)
	l := &d.file.Limits
	l.MaxNodeExecutions = int(d.whole(n, "maxNodeExecutions", 1, math.MaxInt32, int64(l.MaxNodeExecutions)))
	l.MaxExecutionTime = d.milliseconds(n, "maxExecutionTimeMs", l.MaxExecutionTime)
}

// whole gives a field that has to be a whole number of at least least where it
// is there, else what it is without.
func (d *decoder) whole(n *Node, name string, least, most, absent int64) int64 {
	f := n.Get(name)
	if f == nil {
		return absent
	}
	v := f.Value()
	if number := v.Float(); v.Kind() == value.Number && number == math.Trunc(number) && number >= float64(least) && number <= float64(most) {
		return int64(number)
	}
	want := "a positive whole number"
	if least == 0 {
		want = "a whole number, 0 or more"
	}
	if v.Kind() == value.Number && v.Float() > float64(most) {
		want = fmt.Sprintf("at most %d", most)
	}
	p := f.Problem(diag.CodeLimit, fmt.Sprintf("expected %s for %q, found %s", want, name, f.Describe()))
	d.report(p)
	return absent
}

// maxMilliseconds is the longest time that a time.Duration can hold.
const maxMilliseconds = int64(math.MaxInt64 / time.Millisecond)

func (d *decoder) milliseconds(n *Node, name string, absent time.Duration) time.Duration {
	return time.Duration(d.whole(n, name, 1, maxMilliseconds, int64(absent/time.Millisecond))) * time.Millisecond
}
