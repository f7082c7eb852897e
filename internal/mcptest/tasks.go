package mcptest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Tasks is how a fake server has tasks: those of revision 2025-11-25, or the extension of
// 2026-07-28. Tools whose execution says that they are required can be called in no other
// way, and tools in no list are never tasks.
type Tasks struct {
	// States are what tasks/get answers of a task, one after another and the last again
	// and again: a status, "gone" (the server does not know it), "exit" (it ends) or
	// "mute" (no answer). With "input_required" the server asks for an elicitation.
	States   []string `json:"states"`
	Interval int      `json:"interval,omitempty"` // milliseconds between polls; 0: not said
	// Message is the statusMessage.
	Message string `json:"message,omitempty"`
	// Questions is how many questions a task of the extension has at once; 0 means one.
	Questions int `json:"questions,omitempty"`
}

// fakeTask is one task of a fake server.
type fakeTask struct {
	tool   Tool
	args   json.RawMessage
	polls  int
	answer json.RawMessage // to its question
}

const tasksExtension = "io.modelcontextprotocol/tasks"

// isTask answers a call of a tool that can only be called as a task, and reports false
// for others.
func (s *server) isTask(m message, t Tool, args json.RawMessage) bool {
	if !strings.Contains(string(t.Execution), `"required"`) {
		return false
	}
	var p struct {
		Task json.RawMessage `json:"task"`
		Meta struct {
			Capabilities struct {
				Extensions map[string]json.RawMessage `json:"extensions"`
			} `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p)
	switch {
	case s.script.Tasks == nil || !s.modern && p.Task == nil:
		s.fail(m.ID, -32601, "the tool is a task")
		return true
	case s.modern && p.Meta.Capabilities.Extensions[tasksExtension] == nil:
		s.raw(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32021,"message":"tasks wanted","data":{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}}}` + "\n")
		return true
	}
	s.counting.Lock()
	s.tasks = append(s.tasks, &fakeTask{tool: t, args: args})
	id := "task-" + strconv.Itoa(len(s.tasks))
	s.counting.Unlock()
	state := s.taskState(id, "working")
	if s.modern {
		state["resultType"] = "task"
		s.reply(m.ID, marshal(state))
	} else {
		s.reply(m.ID, marshal(map[string]any{"task": state}))
	}
	return true
}

func (s *server) taskState(id, status string) map[string]any {
	ttl, interval := "ttl", "pollInterval"
	if s.modern {
		ttl, interval = "ttlMs", "pollIntervalMs"
	}
	state := map[string]any{"taskId": id, "status": status, "createdAt": "2026-11-01T00:00:00Z", "lastUpdatedAt": "2026-11-01T00:00:00Z", ttl: 60000}
	if n := s.script.Tasks.Interval; n > 0 {
		state[interval] = n
	}
	if s.script.Tasks.Message != "" {
		state["statusMessage"] = s.script.Tasks.Message
	}
	return state
}

// ofTask answers requests about tasks, and reports false for other methods.
func (s *server) ofTask(m message) bool {
	if s.script.Tasks == nil || !slices.Contains([]string{"tasks/get", "tasks/result", "tasks/update", "tasks/cancel"}, m.Method) {
		return false
	}
	s.count(m.Method)
	var p struct {
		TaskID         string                     `json:"taskId"`
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
	}
	_ = json.Unmarshal(m.Params, &p)
	n, _ := strconv.Atoi(strings.TrimPrefix(p.TaskID, "task-"))
	s.counting.Lock()
	if n < 1 || n > len(s.tasks) {
		s.counting.Unlock()
		s.fail(m.ID, -32602, "no such task")
		return true
	}
	task := s.tasks[n-1]
	nth := task.polls
	if m.Method != "tasks/get" {
		nth = max(0, nth-1) // the state that was seen
	}
	status := s.script.Tasks.States[min(nth, len(s.script.Tasks.States)-1)]
	switch {
	case m.Method == "tasks/update":
		for _, answer := range p.InputResponses {
			task.answer = answer
		}
	case m.Method == "tasks/get":
		task.polls++
	}
	answer := task.answer
	s.counting.Unlock()
	result := func() json.RawMessage {
		if answer != nil {
			return Text(string(answer))
		}
		return task.tool.answer(task.args, 0)
	}
	switch m.Method {
	case "tasks/update", "tasks/cancel":
		s.reply(m.ID, json.RawMessage(`{}`))
	case "tasks/result":
		if status == "completed" || status == "failed" {
			s.reply(m.ID, result())
			return true
		}
		go func() {
			if got, ok := s.ask("elicitation/create", json.RawMessage(`{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}`)); ok {
				s.reply(m.ID, Text(string(got.Result)))
			}
		}()
	case "tasks/get":
		state := s.taskState(p.TaskID, status)
		switch {
		case status == "gone":
			s.fail(m.ID, -32602, "no such task")
			return true
		case status == "exit":
			s.exit(3)
			return true
		case status == "mute":
			return true
		case s.modern && status == "input_required":
			questions := map[string]any{}
			for n := range max(1, s.script.Tasks.Questions) {
				questions["sure"+strconv.Itoa(n)] = map[string]any{"method": "elicitation/create", "params": map[string]any{"message": "sure?"}}
			}
			state["inputRequests"] = questions
		case s.modern && status == "completed":
			state["result"] = result()
		case s.modern && status == "failed":
			state["error"] = map[string]any{"code": -32050, "message": "it broke"}
		}
		s.reply(m.ID, marshal(state))
	}
	return true
}
