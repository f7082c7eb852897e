package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func runsAnswerCommand(a *app) *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "answer RUN ANSWER", Short: "Answer a question of a run",
		Long: `Answer a question of a run. ANSWER is what is filled in as a JSON object, or accept,
decline or cancel. If the run asks several questions, --question says which one: its
id or the path of its node, as runs show prints them. An answer that does not fit the
form of the question is refused, and the run goes on waiting. It needs a worker.`,
		Example: `  mcpgraph runs answer 4NCQ2K7ZB5XHM3TA accept
  mcpgraph runs answer 4NCQ2K7ZB5XHM3TA '{"approved": true}' --question confirm`,
		Args: configArgs("RUN", "ANSWER"),
		RunE: func(_ *cobra.Command, args []string) error {
			answer, err := parseAnswer(args[1])
			if err != nil {
				return err
			}
			return withView(a, o, func(ctx context.Context, p runs.View) error {
				return answerRun(ctx, a, p, args[0], o.question, answer)
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.question, "question", "", "answer the question with this `ID` or path")
	return cmd
}

// parseAnswer reads an answer of the command line.
func parseAnswer(text string) (value.Value, error) {
	switch text {
	case mcpgraph.Accept, mcpgraph.Decline, mcpgraph.Cancel:
		return mcpgraph.Answer(text, value.Undef), nil
	}
	v, err := value.ParseStrict(text)
	if err != nil || v.Kind() != value.Object {
		return v, usagef("ANSWER is %q; expected a JSON object, accept, decline or cancel", text)
	}
	return mcpgraph.Answer(mcpgraph.Accept, v), nil
}

func answerRun(ctx context.Context, a *app, p runs.View, id, which string, answer value.Value) error {
	var d *runs.State
	err := reportAnswered(ctx, a, func() (err error) {
		d, err = p.Look(ctx, operator, id, runs.Whole)
		return err
	})
	if err != nil {
		return err
	}
	var open, wanted []runs.Question
	for _, q := range d.Questions {
		if q.Method != graph.AskPerson {
			continue
		}
		open = append(open, q)
		if which == "" || which == q.ID || which == q.Path {
			wanted = append(wanted, q)
		}
	}
	switch {
	case len(open) == 0:
		return &exitError{exitProblems, errors.New("the run asks nothing")}
	case len(wanted) == 0:
		return &exitError{exitProblems, fmt.Errorf("the run does not ask %q; it asks %s", which, questionNames(open))}
	case len(wanted) > 1:
		return usagef("the run asks several questions; choose one with --question: %s", questionNames(wanted))
	}
	if err := graph.CheckForm(ctx, wanted[0].Params, answer); err != nil {
		return usagef("%w; see the question with mcpgraph runs show %s", err, id)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err = p.Answer(ctx, operator, id, []runs.Answer{{Question: wanted[0].ID, Value: answer}})
	if errors.Is(err, runs.ErrNoWorker) {
		return failedf("%w; start one with mcpgraph worker, and see with mcpgraph runs show %s whether the question is still open", err, id)
	}
	return err
}

func questionNames(list []runs.Question) string {
	var names []string
	for _, q := range list {
		names = append(names, fmt.Sprintf("%s (%s)", q.ID, q.Path))
	}
	return strings.Join(names, ", ")
}

// messageOf returns what a question says to people.
func messageOf(q runs.Question) string {
	if text := q.Params.Get("message"); text.Kind() == value.String {
		return text.Str()
	}
	return q.Params.JSON()
}
