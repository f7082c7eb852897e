package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// screen is the stderr of a person. Its last line may show what is under way; it
// makes room for everything else that is written.
type screen struct {
	mu    sync.Mutex
	file  *os.File
	drawn bool // the last line is there
}

// clearLine removes the line that the cursor is in.
const clearLine = "\r\x1b[K"

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	return s.file.Write(p)
}

func (s *screen) clear() {
	if s.drawn {
		fmt.Fprint(s.file, clearLine)
		s.drawn = false
	}
}

func (s *screen) draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(s.file, clearLine+line)
	s.drawn = true
}

// fileOf returns the file that w writes to, or nil if there is none.
func fileOf(w io.Writer) *os.File {
	if s, ok := w.(*screen); ok {
		return s.file
	}
	f, _ := w.(*os.File)
	return f
}

const (
	frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	// spinnerDelay is how long something takes before a spinner shows it.
	spinnerDelay = 300 * time.Millisecond
	frameTime    = 100 * time.Millisecond
)

// activity is something under way that a spinner shows on a terminal once it
// takes a while. A nil activity shows nothing.
type activity struct {
	screen *screen
	width  int
	began  time.Time
	quit   chan struct{}
	done   sync.WaitGroup

	mu   sync.Mutex
	text string
}

// begin shows text until end is called. It returns nil if stderr is not a
// terminal.
func (on *terminal) begin(text string) *activity {
	s, ok := on.stderr.(*screen)
	if !ok {
		return nil
	}
	t := &activity{screen: s, width: on.width(s), began: time.Now(), quit: make(chan struct{}), text: text}
	t.done.Go(t.spin)
	return t
}

func (t *activity) spin() {
	timer := time.NewTimer(spinnerDelay)
	defer timer.Stop()
	for i := 0; ; i++ {
		select {
		case <-t.quit:
			return
		case <-timer.C:
			frame := []rune(frames)[i%len([]rune(frames))]
			t.mu.Lock()
			text := t.text
			t.mu.Unlock()
			took := duration(time.Since(t.began))
			t.screen.draw(fmt.Sprintf("%c %s %s", frame, textline.Shorten(textline.Clean(text), max(t.width-len(took)-3, 10)), took))
			timer.Reset(frameTime)
		}
	}
}

// say replaces the text.
func (t *activity) say(text string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = text
}

// end removes the spinner. It may be called more than once.
func (t *activity) end() {
	if t == nil {
		return
	}
	select {
	case <-t.quit:
		return
	default:
	}
	close(t.quit)
	t.done.Wait()
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	t.screen.clear()
}

// hooks let the activity name the node that runs.
func (t *activity) hooks(tool string) executor.Hooks {
	if t == nil {
		return executor.Hooks{}
	}
	return executor.Hooks{NodeStart: func(ctx context.Context, _ *executor.Run, task executor.Task) (context.Context, error) {
		n := task.Node()
		text := fmt.Sprintf("%s: node %s (%s)", tool, n.ID, n.Kind.Name)
		if n.Server != "" {
			text = fmt.Sprintf("%s: node %s calls %s of %s", tool, n.ID, n.Tool, n.Server)
		}
		t.say(text)
		return ctx, nil
	}}
}
