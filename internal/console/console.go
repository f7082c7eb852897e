// Package console is the debugger on a terminal: it reads commands, one a line, and
// controls one [debug.Session] with them. Lines may come from a script as well: then
// they are shown as if they had been typed.
package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Options say where the debugger reads and writes.
type Options struct {
	// In has the commands, Out gets what the debugger says.
	In  io.Reader
	Out io.Writer
	// Interactive is true if a person types the commands on a terminal, which shows
	// them already.
	Interactive bool
	// Width is how many columns values may take in lists.
	Width int
	// Interrupts has an element for each Ctrl-C.
	Interrupts <-chan struct{}
	// Sources are the files of nodes, by name.
	Sources diag.Sources
	// Clean returns a text without what could disturb a terminal.
	Clean func(string) string
	// Answer asks a person for the answer to a question of the run: it shows the
	// question and reads lines. Its error ends the question without an answer if it
	// is that of line.
	Answer func(ctx context.Context, q executor.Question, line func(ctx context.Context, prompt string) (string, error)) (value.Value, error)
}

// maxLine is how long a command may be, in bytes.
const maxLine = 1 << 20

// prompt stands before a command.
const prompt = "(debug) "

// console is one debugger.
type console struct {
	Options
	session *debug.Session
	ctx     context.Context
	events  <-chan debug.Event
	lines   <-chan string
	readErr error // why lines was closed; nil at the end of the input

	paused    bool
	over      bool
	stepping  bool   // the outputs of executions are shown
	stopping  bool   // stop or quit was typed
	last      string // the last step, which an empty line repeats
	depth     int    // of the frame that up and down have chosen
	said      int    // lines
	interrupt int    // how often Ctrl-C was pressed since the last command
	questions []string
}

// errGone is the error of a line that nobody waits for any more.
var errGone = errors.New("the question is gone")

// Run controls a session until its run is over. At the end of the input it stops the
// run. The error is that of reading commands, or of ctx.
func Run(ctx context.Context, s *debug.Session, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &console{Options: o, session: s, ctx: ctx}
	c.events, c.lines = c.follow(), c.read()
	fmt.Fprintf(c.Out, "Debugging %s. Type help for the commands.\n", s.Graph().Name)
	for !c.over {
		if err := c.turn(); err != nil {
			return err
		}
	}
	return nil
}

// follow returns the events of the session.
func (c *console) follow() <-chan debug.Event {
	events := make(chan debug.Event)
	go func() {
		defer close(events)
		for e := range c.session.Events(c.ctx, 0) {
			select {
			case events <- e:
			case <-c.ctx.Done():
				return
			}
		}
	}()
	return events
}

// read returns the lines of the input.
func (c *console) read() <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(c.In)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			select {
			case lines <- strings.TrimSpace(scanner.Text()):
			case <-c.ctx.Done():
				return
			}
		}
		c.readErr = scanner.Err()
	}()
	return lines
}

// turn does the next thing: it waits for events, asks a question, or reads a command.
func (c *console) turn() error {
	switch {
	case c.paused:
		return c.command()
	case len(c.questions) > 0 && !c.stopping:
		return c.ask(c.questions[0])
	}
	select {
	case e, ok := <-c.events:
		return c.event(e, ok)
	case <-c.Interrupts:
		c.interrupted()
		return nil
	}
}

// event shows an event. ok is false if there are no more.
func (c *console) event(e debug.Event, ok bool) error {
	if !ok {
		c.over = true
		return context.Cause(c.ctx)
	}
	c.show(e)
	return nil
}

// interrupted does what Ctrl-C means: pause the run, and the second time stop it.
func (c *console) interrupted() {
	c.interrupt++
	if c.interrupt > 1 {
		c.stop()
		return
	}
	if c.paused {
		fmt.Fprintln(c.Out, "\nPress Ctrl-C again, or type quit, to stop the run.")
		return
	}
	if err := c.session.Pause(); err == nil {
		fmt.Fprintln(c.Out, "\nThe run pauses when the calls under way are over. Press Ctrl-C again to stop it.")
	}
}

// stop ends the run.
func (c *console) stop() {
	c.stopping = true
	if err := c.session.Stop(); err == nil {
		c.paused = false
	}
}

// command reads a command and does it.
func (c *console) command() error {
	text, err := c.line(c.ctx, prompt, func() bool { return c.paused })
	switch {
	case errors.Is(err, errGone):
		return nil
	case errors.Is(err, io.EOF):
		if c.readErr != nil {
			err = fmt.Errorf("cannot read commands: %w", c.readErr)
			if errors.Is(c.readErr, bufio.ErrTooLong) {
				err = fmt.Errorf("a command is longer than %d bytes", maxLine)
			}
			c.stop()
			return err
		}
		if c.Interactive {
			fmt.Fprintln(c.Out)
		}
		c.stop()
		return nil
	case err != nil:
		return err
	}
	c.interrupt = 0
	if err := c.do(text); err != nil {
		fmt.Fprintf(c.Out, "error: %s\n", c.Clean(err.Error()))
	}
	return nil
}

// ask answers a question of the run.
func (c *console) ask(id string) error {
	wanted := func() bool { return !c.paused && !c.over && len(c.questions) > 0 && c.questions[0] == id }
	for _, q := range c.session.Questions() {
		if q.ID != id {
			continue
		}
		answer, err := c.Answer(c.ctx, q, func(ctx context.Context, prompt string) (string, error) { return c.line(ctx, prompt, wanted) })
		switch {
		case errors.Is(err, errGone):
			return nil
		case errors.Is(err, io.EOF):
			c.stop()
			return nil
		case err != nil:
			return err
		}
		if err := c.session.Answer(id, answer); err != nil {
			fmt.Fprintf(c.Out, "error: %s\n", c.Clean(err.Error()))
			return nil
		}
	}
	c.answered(id)
	return nil
}

func (c *console) answered(id string) {
	for i, one := range c.questions {
		if one == id {
			c.questions = append(c.questions[:i:i], c.questions[i+1:]...)
			return
		}
	}
}

// line reads a line and shows events meanwhile. The error is errGone once wanted
// returns false, and io.EOF at the end of the input.
func (c *console) line(ctx context.Context, prompt string, wanted func() bool) (string, error) {
	fmt.Fprint(c.Out, prompt)
	for {
		select {
		case text, ok := <-c.lines:
			if !ok {
				if !c.Interactive {
					fmt.Fprintln(c.Out)
				}
				return "", io.EOF
			}
			if !c.Interactive {
				fmt.Fprintln(c.Out, c.Clean(text))
			}
			return text, nil
		case e, ok := <-c.events:
			if c.Interactive && speaks(e.Type) {
				fmt.Fprintln(c.Out)
			}
			said := c.said
			if err := c.event(e, ok); err != nil {
				return "", err
			}
			if !wanted() {
				return "", errGone
			}
			if c.said > said {
				fmt.Fprint(c.Out, prompt)
			}
		case <-c.Interrupts:
			c.interrupted()
			if !wanted() {
				return "", errGone
			}
			if c.paused {
				fmt.Fprint(c.Out, prompt)
			}
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
