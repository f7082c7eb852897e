package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// prompt asks the person at the terminal.
type prompt struct {
	app   *app
	lines *bufio.Reader
}

// newPrompt returns what asks on stdin. There must be one at a time.
func newPrompt(a *app) *prompt { return &prompt{app: a, lines: bufio.NewReader(a.stdin)} }

// possible reports whether somebody can answer: stdin is a terminal.
func (p *prompt) possible() bool {
	in, ok := p.app.stdin.(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

// line reads one line. It fails with a *graph.Failure at the end of the input.
func (p *prompt) line(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.app.stderr, question)
	return unlessSignalled(ctx, func() (string, error) {
		text, err := p.lines.ReadString('\n')
		if err != nil && text == "" {
			return "", &graph.Failure{Name: graph.FailCannotAsk, Message: "nobody answered: the terminal was closed"}
		}
		return strings.TrimSpace(text), nil
	})
}

// ask is line for commands: the error ends the command.
func (p *prompt) ask(ctx context.Context, question string) (string, error) {
	said, err := p.line(ctx, question)
	var exit *exitError
	if err != nil && !errors.As(err, &exit) {
		err = &exitError{exitProblems, err}
	}
	return said, err
}

// yes asks until the answer is yes or no; an empty one is no.
func (p *prompt) yes(ctx context.Context, question string) (bool, error) {
	for {
		said, err := p.ask(ctx, question)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(said) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
	}
}
