package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/textline"
)

func statusCommand(a *app) *cobra.Command {
	var asJSON bool
	var mcpFiles []string
	var who caller
	var logLevel string
	cmd := &cobra.Command{
		Use:   "status CONFIG",
		Short: "Connect to the servers of a file and show their state",
		Long: `Connect to all upstream servers of a file at the same time. For each, show its
transport, MCP revision, name, version, tools and round-trip time, or why it
failed.

Each server may take its connectTimeoutMs and timeoutMs together. The exit code
is 1 if a server fails.`,
		Example: `  mcpgraph status tools.yaml
  mcpgraph status tools.yaml --json
  mcpgraph status tools.yaml --header "X-Token: $TOKEN"`,
		Args:              configArgs("CONFIG"),
		ValidArgsFunction: completeOne,
		RunE: func(_ *cobra.Command, args []string) (err error) {
			log, err := a.logger(logLevel)
			if err != nil {
				return err
			}
			ctx, stop := a.untilSignal()
			defer stop()
			info, err := who.info()
			if err != nil {
				return err
			}
			others, err := a.foreign(ctx, args[0])
			if err != nil {
				return err
			}
			engine, err := a.loadOnce(ctx, args[0], append(others, mcpgraph.WithMCPFiles(mcpFiles...), mcpgraph.WithLogger(log))...)
			if err != nil {
				return err
			}
			defer closeEngine(engine, &err)
			connecting := a.begin("connecting to " + textline.Count(len(engine.File().Upstreams), "server"))
			found := engine.Status(ctx, mcpgraph.WithCallInfo(info))
			connecting.end()
			if err := interrupted(ctx); err != nil {
				return err
			}
			for _, s := range found { // the names of tools are as servers list them
				for i, listed := range s.Status.Tools {
					s.Status.Tools[i] = engine.RedactValue(info, listed)
				}
			}
			if asJSON {
				err = writeStatusJSON(a.stdout, found)
			} else {
				colored, _ := a.color("auto", a.stdout)
				err = writeStatus(a.stdout, found, colored)
			}
			if err != nil {
				return failed(err)
			}
			if slices.ContainsFunc(found, func(s mcpgraph.ServerStatus) bool { return s.Err != nil }) {
				return &exitError{code: exitProblems}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	who.flags(cmd)
	mcpFlag(a, cmd, &mcpFiles)
	quietLogFlag(cmd, &logLevel)
	return cmd
}

func writeStatus(w io.Writer, found []mcpgraph.ServerStatus, colored bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	failures := 0
	for _, s := range found {
		if s.Err != nil {
			failures++
			fmt.Fprintf(table, "%s\t%s\t%s\n", s.Entry.Name, s.Entry.Transport, red("failed", colored))
			continue
		}
		open, kept := s.ToolNames()
		count := textline.Count(len(open), "tool")
		if len(kept) > 0 {
			count += fmt.Sprintf(" (%d more kept out)", len(kept))
		}
		for _, c := range s.Status.Offers() {
			count += ", " + textline.Count(c.Count, c.Word)
		}
		fmt.Fprintf(table, "%s\t%s\tMCP %s\t%s\t%s\t%s\n", s.Entry.Name, s.Status.Transport,
			s.Status.Protocol, strings.TrimSpace(s.Status.Name+" "+s.Status.Version), count, brief(s.Status.RoundTrip))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	for _, s := range found {
		if s.Err != nil {
			fmt.Fprintf(&b, "\n%s\n", red(s.Err.Error(), colored))
		} else if open, _ := s.ToolNames(); len(open) > 0 {
			fmt.Fprintf(&b, "\n%s: %s\n", s.Entry.Name, strings.Join(open, ", "))
		}
	}
	fmt.Fprintf(&b, "\n%s: %d ready, %d failed\n", textline.Count(len(found), "server"), len(found)-failures, failures)
	text := b.String()
	if len(found) == 0 {
		text = text[1:] // there is no table above
	}
	_, err := io.WriteString(w, text)
	return err
}

// brief returns a duration with three digits at most.
func brief(d time.Duration) string {
	switch {
	case d == 0:
		return "no answer to ping"
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

func writeStatusJSON(w io.Writer, found []mcpgraph.ServerStatus) error {
	_, err := fmt.Fprintf(w, "%s\n", mcpgraph.StatusDocument(found).AppendIndent(nil, "  "))
	return err
}
