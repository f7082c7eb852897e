package jsonata_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// referenceClock is what the clock shows to both engines, in milliseconds.
const referenceClock = 1_700_000_000_123

// referenceVars are bound in both engines.
const referenceVars = `{"num":2,"str":"abc","list":[3,1,2],"single1":[{"b":"x","c":1}],"nested":[[1,2],[3],[]],"obj":{"a":1,"b":"x","c":[{"d":2}]}}`

// question is one evaluation; Data is JSON text, or empty if there is no input.
type question struct {
	ID   int             `json:"id"`
	Expr string          `json:"expr"`
	Data json.RawMessage `json:"data,omitempty"`
	Vars json.RawMessage `json:"vars"`
}

// outcome is what an engine made of a question: Result as encodeResult writes
// it, or Code.
type outcome struct {
	ID      int    `json:"id"`
	Result  string `json:"result"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Where the error lies, in UTF-16 units: the reference gives the end of a
	// token, 0 where it gives none. At is this package's byte offset.
	Position int    `json:"position"`
	Token    string `json:"token"`
	At       int    `json:"-"`
}

func (o outcome) String() string {
	if o.Code != "" {
		return fmt.Sprintf("error %s (%s), token %q, place %d", o.Code, o.Message, o.Token, max(o.Position, o.At))
	}
	return o.Result
}

// reference is a node process that runs testdata/reference/evaluate.js.
type reference struct {
	t      *testing.T
	folder string
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string
	lost   int // questions on which the reference hung or died
}

// startReference starts the reference, or skips the test where it is not
// installed; in CI that fails it.
func startReference(t *testing.T) *reference {
	folder, err := filepath.Abs("../../testdata/realservers/node_modules/jsonata")
	if err != nil {
		t.Fatal(err)
	}
	missing := func(what any) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the reference cannot be asked: %v", what)
		}
		t.Skipf("skipped: the reference cannot be asked (run npm ci in testdata/realservers): %v", what)
	}
	if _, err := os.Stat(filepath.Join(folder, "package.json")); err != nil {
		missing(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing(err)
	}
	r := &reference{t: t, folder: folder}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func (r *reference) start() {
	r.cmd = exec.Command("node", "--max-old-space-size=600", filepath.Join("testdata", "reference", "evaluate.js"), r.folder, strconv.Itoa(referenceClock))
	r.cmd.Env = append(os.Environ(), "TZ=UTC")
	in, err := r.cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	lines := make(chan string, 1024)
	go func() {
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 1<<22)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		close(lines)
	}()
	r.in, r.lines = in, lines
}

func (r *reference) stop() {
	r.in.Close()
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

// patience is how long one question may take the reference.
const patience = 3 * time.Second

// ask answers the questions. Where the reference hangs or dies, the answer has
// the code "hang" or "dead" and the rest is asked again.
func (r *reference) ask(questions []question) []outcome {
	answers := make([]outcome, len(questions))
	answered := make([]bool, len(questions))
	for {
		open := make([]int, 0, len(questions))
		for i, done := range answered {
			if !done {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return answers
		}
		go func(in io.WriteCloser) {
			w := bufio.NewWriter(in)
			for _, i := range open {
				q := questions[i]
				q.ID, q.Vars = i, json.RawMessage(referenceVars)
				line, err := json.Marshal(q)
				if err != nil {
					panic(err)
				}
				w.Write(append(line, '\n'))
			}
			w.Flush()
		}(r.in)
		for left := len(open); left > 0; left-- {
			code := "dead"
			select {
			case line, ok := <-r.lines:
				if ok {
					var o outcome
					if err := json.Unmarshal([]byte(line), &o); err != nil {
						r.t.Fatalf("%s: %v", line, err)
					}
					answers[o.ID], answered[o.ID] = o, true
					continue
				}
			case <-time.After(patience):
				code = "hang"
			}
			r.lost++
			// Answers come in order, so the first open question is to blame.
			for _, i := range open {
				if !answered[i] {
					answers[i], answered[i] = outcome{ID: i, Code: code}, true
					break
				}
			}
			r.stop()
			r.start()
			break
		}
	}
}
