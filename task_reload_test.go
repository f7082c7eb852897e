//go:build unix

package mcpgraph_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// A task belongs to its caller until it expires, whatever the next version of the file has.
func TestTasksOutliveTheLastToolWithTasks(t *testing.T) {
	t.Parallel()
	c := loadChanging(t, file("", `
  - name: slow
    description: Takes an hour
    task: required
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: hour}
      - {id: hour, type: wait, ms: 3500000, next: exit}
      - {id: exit, type: exit}
`))
	h, err := c.Handler(server.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		listener.Close()
	})
	client := remoteClient{t, listener.URL}
	_, body := client.do("tools/call", "slow", `"name":"slow","arguments":{}`)
	_, rest, ok := strings.Cut(body, `"taskId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if !ok || id == "" {
		t.Fatalf("the call: %s", body)
	}
	c.reload(file("", says("hello", "hi")))
	if _, body := client.do("server/discover", "", `"x":1`); strings.Contains(body, "extensions/tasks") {
		t.Errorf("a tool can be a task: %s", body)
	}
	for _, step := range []struct{ method, want string }{
		{"tasks/get", `"status":"working"`},
		{"tasks/update", `"resultType":"complete"`},
		{"tasks/cancel", `"resultType":"complete"`},
		{"tasks/get", `"status":"cancelled"`},
	} {
		more := ""
		if step.method == "tasks/update" {
			more = `,"inputResponses":{}`
		}
		if status, body := client.of(step.method, id, more); status != 200 || !strings.Contains(body, step.want) {
			t.Errorf("%s after the reload: %d %s", step.method, status, body)
		}
	}
	if status, body := client.of("tasks/get", "x"+id, ""); status != 400 || !strings.Contains(body, fmt.Sprint(-32602)) {
		t.Errorf("another id: %d %s", status, body)
	}
}

func TestServerWithoutTasksHasNoMethodsOfThem(t *testing.T) {
	t.Parallel()
	c := loadChanging(t, file("", says("hello", "hi")))
	h, err := c.Handler(server.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		listener.Close()
	})
	if _, body := (remoteClient{t, listener.URL}).of("tasks/get", "x", ""); !strings.Contains(body, "this server has no tasks") {
		t.Error(body)
	}
}
