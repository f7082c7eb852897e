package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// recordWriter returns what prints records of a run, without what redactor takes out now.
func recordWriter(a *app, asJSON bool, redactor func() func(string) string) func(value.Value) {
	width := a.width(a.stdout)
	return func(v value.Value) {
		if redact := redactor(); redact != nil {
			v = v.Rewritten(redact)
		}
		if asJSON {
			fmt.Fprintln(a.stdout, v.JSON())
			return
		}
		switch v.Get("event").Str() {
		case "opened":
			if v.Get("run").IsUndefined() {
				return
			}
		case "replaced":
			return
		}
		line := recordLine(v)
		if width > 0 {
			line = textline.Shorten(line, width)
		}
		fmt.Fprintln(a.stdout, line)
	}
}

// recordLine returns a record as a line for people.
func recordLine(v value.Value) string {
	node := v.Get("node").Str()
	if path := v.Get("path").Str(); path != "" {
		node = strings.TrimSuffix(path, ".") + "." + node
	}
	start, _ := time.Parse(time.RFC3339Nano, v.Get("start").Str())
	end, _ := time.Parse(time.RFC3339Nano, v.Get("end").Str())
	line := fmt.Sprintf("%s  %s %s  %s", end.UTC().Format("15:04:05.000"), v.Get("type").Str(), node, duration(end.Sub(start)))
	if run := v.Get("run"); !run.IsUndefined() {
		return visible(line + "  waits for run " + run.Str())
	}
	if event := v.Get("event").Str(); event != "done" {
		line += "  " + event
	}
	if failure := v.Get("error"); !failure.IsUndefined() {
		line += "  failed: " + failure.Get("name").Str() + ": " + failure.Get("message").Str()
	} else if out := v.Get("output"); !out.IsUndefined() {
		line += "  " + out.Preview(maxShownOutput)
	}
	return visible(line)
}

// maxShownOutput is how much of an output is shown, in bytes.
const maxShownOutput = 200
