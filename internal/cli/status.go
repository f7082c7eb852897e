package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	var mcpFiles []string
	var who caller
	var logLevel string
	cmd := &cobra.Command{
		Use:   "status CONFIG",
		Short: "Connect to the servers of a file and say what is there",
		Long: `Connect to every upstream server of a file, all at once, and say how it is
reached, which revision of MCP it speaks, its name, version and tools, how long
a round trip takes, and what is wrong where it fails.

A server has its connectTimeoutMs and its timeoutMs, taken together. The exit
code is 1 where a server fails.`,
		Example: `  mcpgraph status tools.yaml
  mcpgraph status tools.yaml --json
  mcpgraph status tools.yaml --header "X-Token: $TOKEN"`,
		Args:              configArgs("CONFIG"),
		ValidArgsFunction: completeConfig,
		RunE: func(_ *cobra.Command, args []string) (err error) {
			log, err := a.logger(logLevel)
			if err != nil {
				return err
			}
			ctx, stop := untilSignal()
			defer stop()
			if ctx, err = who.context(ctx); err != nil {
				return err
			}
			engine, err := a.load(args[0], mcpgraph.WithMCPFiles(mcpFiles...), mcpgraph.WithLogger(log))
			if err != nil {
				return err
			}
			defer closeEngine(engine, &err)
			found := engine.Status(ctx)
			write := writeStatus
			if asJSON {
				write = writeStatusJSON
			}
			if err := write(a.stdout, found); err != nil {
				return failed(err)
			}
			if slices.ContainsFunc(found, func(s mcpgraph.ServerStatus) bool { return s.Err != nil }) {
				return &exitError{code: exitProblems}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document, for programs")
	who.flags(cmd)
	mcpFlag(cmd, &mcpFiles)
	cmd.Flags().StringVar(&logLevel, "log-level", "error", "write log records of this `LEVEL` and above to stderr: debug, info, warn or error")
	return cmd
}

// toolNames gives the tools of a server by the names that nodes call them by,
// and apart from them those that its settings keep out.
func toolNames(s mcpgraph.ServerStatus) (open, kept []string) {
	for _, t := range s.Status.Tools {
		listed := t.Get("name").Str()
		name, ok := strings.CutPrefix(listed, s.Entry.NamePrefix)
		if ok && s.Entry.Tools.Allows(name) {
			open = append(open, name)
		} else {
			kept = append(kept, listed)
		}
	}
	return open, kept
}

func writeStatus(w io.Writer, found []mcpgraph.ServerStatus) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	failures := 0
	for _, s := range found {
		if s.Err != nil {
			failures++
			fmt.Fprintf(table, "%s\t%s\tfailed\n", s.Entry.Name, s.Entry.Transport)
			continue
		}
		open, kept := toolNames(s)
		count := plural(len(open), "tool")
		if len(kept) > 0 {
			count += fmt.Sprintf(" (%d more kept out)", len(kept))
		}
		fmt.Fprintf(table, "%s\t%s\tMCP %s\t%s\t%s\t%s\n", s.Entry.Name, s.Entry.Transport,
			s.Status.Protocol, strings.TrimSpace(s.Status.Name+" "+s.Status.Version), count, brief(s.Status.RoundTrip))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	for _, s := range found {
		if s.Err != nil {
			fmt.Fprintf(&b, "\n%s\n", s.Err)
		} else if open, _ := toolNames(s); len(open) > 0 {
			fmt.Fprintf(&b, "\n%s: %s\n", s.Entry.Name, strings.Join(open, ", "))
		}
	}
	fmt.Fprintf(&b, "\n%s: %d ready, %d failed\n", plural(len(found), "server"), len(found)-failures, failures)
	text := b.String()
	if len(found) == 0 {
		text = text[1:] // there is no table above
	}
	_, err := io.WriteString(w, text)
	return err
}

// brief gives a duration with three digits at most.
func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

func writeStatusJSON(w io.Writer, found []mcpgraph.ServerStatus) error {
	servers := make([]value.Value, len(found))
	for i, s := range found {
		servers[i] = statusValue(s)
	}
	doc := object("servers", value.FromArray(servers))
	_, err := fmt.Fprintf(w, "%s\n", doc.AppendIndent(nil, "  "))
	return err
}

// statusValue is one server as --json prints it.
func statusValue(s mcpgraph.ServerStatus) value.Value {
	b := value.NewBuilder(8)
	b.Set("server", value.FromString(s.Entry.Name))
	b.Set("transport", value.FromString(s.Entry.Transport))
	b.Set("ready", value.FromBool(s.Err == nil))
	if s.Err != nil {
		b.Set("error", errorValue(s.Err))
		return b.Value()
	}
	b.Set("protocol", value.FromString(s.Status.Protocol))
	b.Set("name", value.FromString(s.Status.Name))
	b.Set("version", value.FromString(s.Status.Version))
	b.Set("roundTripMs", value.FromFloat(float64(s.Status.RoundTrip.Microseconds())/1000))
	open, kept := toolNames(s)
	b.Set("tools", texts(open))
	if len(kept) > 0 {
		b.Set("keptOut", texts(kept))
	}
	return b.Value()
}

func errorValue(err error) value.Value {
	b := value.NewBuilder(4)
	var e *upstream.Error
	if !errors.As(err, &e) {
		b.Set("message", value.FromString(err.Error()))
		return b.Value()
	}
	b.Set("op", value.FromString(e.Op))
	b.Set("message", value.FromString(e.Message))
	if e.Hint != "" {
		b.Set("hint", value.FromString(e.Hint))
	}
	if len(e.Stderr) > 0 {
		b.Set("stderr", texts(e.Stderr))
	}
	return b.Value()
}
