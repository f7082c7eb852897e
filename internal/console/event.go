package console

import (
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// show shows an event, and keeps what follows from it.
func (c *console) show(e debug.Event) {
	switch e.Type {
	case debug.Paused:
		c.paused, c.depth, c.interrupt = true, 0, 0
		showPause(c, e.Pause)
	case debug.Resumed:
		c.paused = false
	case debug.Ended:
		c.over, c.paused = true, false
	case debug.Ask:
		c.questions = append(c.questions, e.Question)
		if c.paused {
			c.say("  %s asks: %s", e.Path, e.Text)
		}
	case debug.Answered:
		c.answered(e.Question)
	case debug.Done, debug.Pinned:
		if c.stepping {
			c.showDone(e)
		}
	case debug.Cancelled:
		if c.stepping {
			c.say("  %s was cancelled", e.Path)
		}
	case debug.Retried:
		c.say("  failed and is tried again: %s", c.failure(e.Text))
	case debug.Failed, debug.Caught:
		if c.stopping {
			return
		}
		rec, _ := c.session.Record(e.Record)
		next := ""
		if rec.Next != "" {
			next = ", goes to " + rec.Next
		}
		c.say("  failed%s: %s", next, c.failure(e.Text))
	case debug.Log:
		c.showLog(e)
	case debug.Progress:
		if c.Interactive {
			c.say("  %s", progress(e))
		}
	case debug.Gap:
		c.say("  (events up to %d are not shown: there were too many)", e.Number)
	}
}

// speaks reports whether events of a type are shown while a person types.
func speaks(t debug.Type) bool {
	return t != debug.Changed && t != debug.Replaced && t != debug.TaskBegun && t != debug.Answered
}

// showDone shows what an execution yielded.
func (c *console) showDone(e debug.Event) {
	rec, ok := c.session.Record(e.Record)
	if !ok {
		return
	}
	by := ""
	if e.Type == debug.Pinned {
		by = " (pinned)"
	}
	c.say("  %s%s → %s", e.Path, by, c.preview(rec.Output))
}

// preview returns the beginning of a value for a line.
func (c *console) preview(v value.Value) string {
	if v.IsUndefined() {
		return "nothing"
	}
	return v.Preview(c.Width)
}

func (c *console) showLog(e debug.Event) {
	from := e.Path
	if from == "" {
		from = e.Node
	}
	if e.Server != "" && e.Path == "" {
		from = e.Server
	}
	if from != "" {
		from += ": "
	}
	level := ""
	if e.Level != "" && e.Level != "info" {
		level = e.Level + ": "
	}
	c.say("  %s%s%s", level, from, e.Text)
}

func progress(e debug.Event) string {
	text := fmt.Sprintf("%s.%s %g", e.Server, e.Tool, e.Progress)
	if e.Total != 0 {
		text += fmt.Sprintf("/%g", e.Total)
	}
	return strings.TrimSpace(text + " " + e.Text)
}

// failure leaves out of the text of a failure what everybody knows.
func (c *console) failure(text string) string {
	return strings.TrimPrefix(text, fmt.Sprintf("tool %q failed in ", c.session.Graph().Name))
}

// say writes a line.
func (c *console) say(format string, args ...any) {
	c.said++
	fmt.Fprintln(c.Out, c.Clean(fmt.Sprintf(format, args...)))
}
