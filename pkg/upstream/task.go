package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// A tool that can only be called as a task is called so: the server answers the call at
// once and goes on with it, and we ask for its state until it is over. There are two
// forms: revision 2025-11-25 (the member "task" of tools/call, tasks/result) and the
// extension of 2026-07-28 (SEP-2663: the result is in the state). Other calls stay
// plain: a task reports no progress in the second form, and is late by up to a poll.

const (
	methodTasksGet    = "tasks/get"
	methodTasksResult = "tasks/result"
	methodTasksUpdate = "tasks/update"
	methodTasksCancel = "tasks/cancel"

	tasksExtension = "io.modelcontextprotocol/tasks"

	// hasTasks is the capability of a server of revision 2025-11-25 whose tools can be
	// called as tasks.
	hasTasks = "tasks.requests.tools.call"
)

// Bounds of what servers ask for, and of what is asked of them.
const (
	defaultPollInterval = time.Second
	minPollInterval     = 100 * time.Millisecond
	maxPollInterval     = time.Minute
	// maxFailedPolls is how many requests for a state may fail in a row, over a
	// connection that lasts.
	maxFailedPolls = 5
	// maxTaskQuestions is how many questions a task may ask.
	maxTaskQuestions = 100
	// taskLifetime is how long a server is asked to keep a task without maxCallTimeMs.
	taskLifetime = time.Hour
	// taskCancelTime is how long a server may take to answer tasks/cancel.
	taskCancelTime = 2 * time.Second
	// maxTaskTools bounds the tools of a session that are known to need tasks.
	maxTaskTools = 10_000
)

// taskCall is one call of a tool, and the task as which it goes on, if it does. If the
// call is made once more while the task is under way, because the credentials or the
// session are new, the task is asked for again and the tool is not called.
type taskCall struct {
	tool  string // as in Error
	begun *remoteTask
	on    *session // the last one on which the task was asked for
}

// remoteTask is a task of a server as it was last seen.
type remoteTask struct {
	id, token string // of the task, and the progress token of its call
	state     value.Value
	answered  map[string]bool // questions, by their names
}

func (t *remoteTask) status() string { return t.state.Get("status").Str() }

// isOver reports whether the status is final.
func (t *remoteTask) isOver() bool {
	switch t.status() {
	case "completed", "failed", "cancelled":
		return true
	}
	return false
}

// said returns the status and what the server says of it.
func (t *remoteTask) said(s *session) string {
	out := s.said(t.status(), maxName)
	if message := t.state.Get("statusMessage").Str(); message != "" {
		out += ": " + s.said(message, maxName)
	}
	return out
}

// interval is how long to wait before the next request for the state.
func (t *remoteTask) interval() time.Duration {
	asked := t.state.Get("pollInterval") // the extension has its unit in the name
	if asked.IsUndefined() {
		asked = t.state.Get("pollIntervalMs")
	}
	ms := asked.Float()
	if asked.Kind() != value.Number || !(ms > 0) {
		return defaultPollInterval
	}
	return max(minPollInterval, time.Duration(min(ms, float64(maxPollInterval.Milliseconds())))*time.Millisecond)
}

// taskError is the error of a call that went on as a task whose outcome is not known.
type taskError struct {
	said string
	err  error
}

func (e *taskError) Error() string { return e.said + ": " + e.err.Error() }
func (e *taskError) Unwrap() error { return e.err }

var (
	errTaskCancelled = &kindError{KindTaskEnded, "the server cancelled the task"}
	errTaskQuestions = &kindError{KindTaskEnded, fmt.Sprintf("it asked more than %d questions", maxTaskQuestions)}
)

// failureKind returns that of what the task came to.
func (e *taskError) failureKind() Kind { return kindOf(e.err, false) }

// callsTasks reports whether tools can be called as tasks. Since 2026-07-28 the answer to
// a call says whether that one can.
func (s *session) callsTasks() bool {
	return s.peer.modern() || s.peer.revision >= mcp.ProtocolVersion20251125 && s.peer.has(hasTasks)
}

// isTaskOnly reports whether the server lists a tool as one that can only be called as a
// task. It reads the list of tools if that is not known, or if it says again.
func (s *session) isTaskOnly(ctx context.Context, call *credential.Call, name string, again bool) bool {
	only, known := s.hints.isTaskOnly(name)
	if again || !known && s.hints.worthReading() {
		select {
		case <-s.hints.read(s, call).done:
		case <-ctx.Done():
		}
		only, _ = s.hints.isTaskOnly(name)
	}
	return only
}

// request makes the request m of the call. If the server answers it with a task, it
// returns the result of that.
func (t *taskCall) request(ctx context.Context, y *try, m *wire.Message) (value.Value, error) {
	s, call := y.session, y.As
	legacy := !s.peer.modern() && s.callsTasks()
	asks := legacy && s.isTaskOnly(ctx, call, m.Name, false)
	for again := true; ; again = false {
		sent := t.message(s, m, asks)
		reply, err := s.send(ctx, s.pendingFor(ctx, t.tool, sent), sent, s.server.entry.Timeout)
		switch {
		case !again:
		case s.needsTask(m.Name, err):
			continue
		case s.peer.modern() || asks || !isRefusedTask(reply, err) || !s.isTaskOnly(ctx, call, m.Name, true):
		case legacy: // the list was not complete yet when it was read
			asks = true
			continue
		default:
			return reply, &RPCError{Code: mcp.METHOD_NOT_FOUND, Message: fmt.Sprintf(
				`the tool can only be called as a task (its execution.taskSupport is "required"), and the server does not announce the capability %q`, hasTasks)}
		}
		if err != nil || !t.begins(s, reply) {
			return reply, err
		}
		t.begun.token, t.begun.answered = sent.ID, map[string]bool{}
		if t.begun.id = t.begun.state.Get("taskId").Str(); t.begun.id == "" {
			t.begun = nil
			return reply, resultError("a task without an id")
		}
		return t.finish(ctx, y)
	}
}

// message returns a copy of the request m, to which a link may add. If asks is set, it asks
// for a task.
func (t *taskCall) message(s *session, m *wire.Message, asks bool) *wire.Message {
	one := *m
	if asks {
		ttl := cmp.Or(s.server.entry.MaxCallTime, taskLifetime)
		one.Params = fmt.Appendf(one.Params[:len(one.Params):len(one.Params)], `,"task":{"ttl":%d}`, ttl.Milliseconds())
	}
	return &one
}

// begins takes the task that a call goes on as, and reports whether there is one.
func (t *taskCall) begins(s *session, reply value.Value) bool {
	switch task := reply.Get("task"); {
	case s.peer.modern() && reply.Get("resultType").Str() == "task":
		t.begun = &remoteTask{state: reply}
	case !s.peer.modern() && task.Kind() == value.Object && !reply.Has("content"):
		t.begun = &remoteTask{state: task}
	default:
		return false
	}
	return true
}

// isRefusedTask reports whether a call may have been refused because it did not ask for a
// task: with an error, or as the TypeScript SDK does, with a result that says the error.
func isRefusedTask(reply value.Value, err error) bool {
	if err != nil {
		return isUnknownMethod(err)
	}
	return reply.Get("isError").Bool() && strings.Contains(firstText(reply), strconv.Itoa(mcp.METHOD_NOT_FOUND))
}

// firstText returns the text of the first block of a result.
func firstText(reply value.Value) string {
	for _, block := range reply.Get("content").Elems() {
		return block.Get("text").Str()
	}
	return ""
}

// needsTask reports whether err is the refusal to call a tool for a client that did not
// declare the tasks extension. It declares it in the next calls of the tool.
func (s *session) needsTask(name string, err error) bool {
	var rpc *RPCError
	if !s.peer.modern() || !errors.As(err, &rpc) || rpc.Code != mcp.MISSING_REQUIRED_CLIENT_CAPABILITY ||
		!rpc.Data.Get("requiredCapabilities").Get("extensions").Has(tasksExtension) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taskTools[name] {
		return false
	}
	if s.taskTools == nil || len(s.taskTools) >= maxTaskTools {
		s.taskTools = map[string]bool{}
	}
	s.taskTools[name] = true
	return true
}

// declaresTasks reports whether a request declares the tasks extension.
func (s *session) declaresTasks(m *wire.Message) bool {
	switch m.Method {
	case methodTasksGet, methodTasksUpdate, methodTasksCancel:
		return true
	case string(mcp.MethodToolsCall):
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.taskTools[m.Name]
	}
	return false
}

// finish waits for the task of the call and returns its result. Afterwards there is no
// task, unless it may still be under way.
func (t *taskCall) finish(ctx context.Context, y *try) (value.Value, error) {
	task, s := t.begun, y.session
	t.on = s
	s.keepProgress(ctx, t)
	defer s.dropProgress(task.token)
	var reply value.Value
	var err error
	if s.peer.modern() {
		reply, err = y.awaitModernTask(ctx, task)
	} else {
		reply, err = s.awaitTask(ctx, task)
	}
	_, overHTTP := s.link.(*wire.HTTP)
	var unknown *taskError
	switch {
	case err == nil, task.isOver() && !errors.As(err, &unknown), errors.Is(err, KindTaskLost), errors.Is(err, errTaskCancelled):
		t.begun = nil
	case ctx.Err() != nil:
		return reply, context.Cause(ctx)
	case !overHTTP && isClosed(s.link.Done()):
		t.begun = nil // the task ended with its server
	}
	return reply, err
}

// keepProgress keeps the progress token of the call for as long as its task goes on (MCP
// 2025-11-25, tasks, progress).
func (s *session) keepProgress(ctx context.Context, t *taskCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending[t.begun.token] = &pendingRequest{subscriber: subscriber{infoOf(ctx).Listener, t.tool, true}, touch: func() {}}
}

func (s *session) dropProgress(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, token)
	if s.retired && len(s.pending) == 0 {
		go s.link.Close(canceledContext)
	}
}

// askTask makes a request about a task. What it answers does not count on the account
// of the call, which may wait for long.
func (s *session) askTask(ctx context.Context, task *remoteTask, method, more string, silence time.Duration) (value.Value, error) {
	params := append(value.AppendString([]byte(`"taskId":`), task.id), more...)
	return s.request(memory.WithoutAccount(ctx), &wire.Message{Method: method, Name: task.id, Params: params}, silence)
}

// poll waits for the interval of the task, or until something comes from early, and asks
// for its state.
func (s *session) poll(ctx context.Context, task *remoteTask, early <-chan taskResult) (*taskResult, error) {
	for failed := 1; ; failed++ {
		timer := time.NewTimer(task.interval())
		select {
		case r := <-early:
			timer.Stop()
			return &r, nil
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
		state, err := s.askTask(ctx, task, methodTasksGet, "", s.server.entry.Timeout)
		if err == nil && state.Get("status").Kind() != value.String {
			err = resultError("a task without a status")
		}
		if err == nil {
			task.state = state
			return nil, nil
		}
		if ctx.Err() != nil || failed == maxFailedPolls || !kinds[kindOf(err, false)].retried || timedOut(err) || isClosed(s.link.Done()) {
			return nil, s.taskFailure(ctx, task, err)
		}
	}
}

// taskFailure returns the error of a call whose task could not be asked for.
func (s *session) taskFailure(ctx context.Context, task *remoteTask, err error) error {
	var rpc *RPCError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, wire.ErrNotWritten): // which the call itself was
		err = fmt.Errorf("%w: %s", wire.ErrLost, err.Error())
	case errors.As(err, &rpc) && rpc.Code == mcp.INVALID_PARAMS:
		err = fmt.Errorf("%w (%w)", KindTaskLost, &goneError{rpc.Error()})
	}
	return &taskError{fmt.Sprintf("the call went on as a task (last seen %s), which cannot be followed", task.said(s)), err}
}

// goneError is the text of an error, without its code.
type goneError struct{ text string }

func (e *goneError) Error() string { return e.text }

// taskResult is the answer to tasks/result.
type taskResult struct {
	reply value.Value
	err   error
}

// awaitTask waits for a task of revision 2025-11-25. A server that needs input asks for
// it while tasks/result waits, which it answers when the task is over.
func (s *session) awaitTask(ctx context.Context, task *remoteTask) (value.Value, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var result chan taskResult
	fetch := func() {
		result = make(chan taskResult, 1)
		into := result
		go func() {
			params := value.AppendString([]byte(`"taskId":`), task.id)
			reply, err := s.request(ctx, &wire.Message{Method: methodTasksResult, Name: task.id, Params: params}, 0)
			into <- taskResult{reply, err}
		}()
	}
	asked := "" // the status in which the server refused to wait
	for !task.isOver() {
		if task.status() != "input_required" {
			asked = ""
		} else if result == nil && asked == "" {
			fetch()
		}
		early, err := s.poll(ctx, task, result)
		var rpc *RPCError
		switch {
		case err != nil:
			return value.Value{}, err
		case early == nil:
		case early.err == nil:
			return early.reply, nil
		case errors.As(early.err, &rpc):
			result, asked = nil, task.status()
		default:
			return value.Value{}, s.taskFailure(ctx, task, early.err)
		}
	}
	if task.status() == "cancelled" {
		return value.Value{}, &taskError{"the call went on as a task (" + task.said(s) + ")", errTaskCancelled}
	}
	if result == nil {
		fetch()
	}
	timer := time.NewTimer(s.server.entry.Timeout)
	defer timer.Stop()
	select {
	case r := <-result:
		var rpc *RPCError
		if message := task.state.Get("statusMessage").Str(); errors.As(r.err, &rpc) && message != "" {
			return r.reply, &RPCError{Code: rpc.Code, Data: rpc.Data, Message: s.said(message, maxName) + ": " + rpc.Message}
		} else if r.err != nil && rpc == nil {
			return r.reply, s.taskFailure(ctx, task, r.err)
		}
		return r.reply, r.err
	case <-timer.C:
		return value.Value{}, s.taskFailure(ctx, task, KindTimeout)
	case <-ctx.Done():
		return value.Value{}, context.Cause(ctx)
	}
}

// awaitModernTask waits for a task of the extension of 2026-07-28.
func (y *try) awaitModernTask(ctx context.Context, task *remoteTask) (value.Value, error) {
	s := y.session
	for {
		switch task.status() {
		case "completed":
			reply := task.state.Get("result")
			if reply.Kind() != value.Object {
				return value.Value{}, resultError("a completed task without a result")
			}
			if held := memory.AccountOf(ctx); held != nil {
				if err := held.Grow(int64(reply.TextSize())); err != nil {
					return value.Value{}, err
				}
				reply = reply.Metered(held)
			}
			return reply, nil
		case "failed":
			e := task.state.Get("error")
			return value.Value{}, &RPCError{Code: int(e.Get("code").Float()), Message: cmp.Or(e.Get("message").Str(), "the task failed"), Data: e.Get("data")}
		case "cancelled":
			return value.Value{}, &taskError{"the call went on as a task (" + task.said(s) + ")", errTaskCancelled}
		case "input_required":
			if err := y.answerTask(ctx, task); err != nil {
				return value.Value{}, err
			}
		}
		if _, err := s.poll(ctx, task, nil); err != nil {
			return value.Value{}, err
		}
	}
}

// answerTask answers the questions of a task that are new. The slot of the call is free
// while a person answers.
func (y *try) answerTask(ctx context.Context, task *remoteTask) error {
	s := y.session
	var answers []byte
	for _, q := range task.state.Get("inputRequests").Entries() {
		if task.answered[q.Key] {
			continue
		}
		if len(task.answered) == maxTaskQuestions {
			return &taskError{"the call went on as a task (" + task.said(s) + ")", errTaskQuestions}
		}
		task.answered[q.Key] = true
		method := q.Value.Get("method").Str()
		answer, err := y.answerInput(ctx, method, q.Value.Get("params"))
		if err != nil {
			return fmt.Errorf("its task asks for input (%s) to go on: %w", method, err)
		}
		if answers != nil {
			answers = append(answers, ',')
		}
		answers = append(value.AppendString(answers, q.Key), ':')
		answers = answer.Append(answers)
	}
	if answers == nil {
		return nil
	}
	if err := y.admit(ctx); err != nil {
		return err
	}
	if _, err := s.askTask(ctx, task, methodTasksUpdate, `,"inputResponses":{`+string(answers)+"}", s.server.entry.Timeout); err != nil {
		return s.taskFailure(ctx, task, err)
	}
	return nil
}

// End cancels the task if nobody waits for it any more.
func (t *taskCall) End(ctx context.Context) {
	if t.begun == nil || t.on == nil || isClosed(t.on.link.Done()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), taskCancelTime)
	defer cancel()
	defer context.AfterFunc(t.on.life, cancel)()
	_, _ = t.on.askTask(ctx, t.begun, methodTasksCancel, "", 0) // if it fails there is nothing to do about it
}
