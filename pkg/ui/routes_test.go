package ui

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// bodies are requests for each route: the path, with the id of a run, and the body.
func bodies(id string) map[string][2]string {
	return map[string][2]string{
		"GET /api/state":                             {"/api/state"},
		"GET /api/tools/{name}/graph":                {"/api/tools/sizes/graph"},
		"GET /api/file":                              {"/api/file"},
		"PUT /api/file":                              {"/api/file", "version: 5"},
		"POST /api/file/check":                       {"/api/file/check", `{"text":` + text(tools) + `}`},
		"POST /api/file/format":                      {"/api/file/format", `{"text":` + text(tools) + `}`},
		"POST /api/file/complete":                    {"/api/file/complete", `{"text":` + text(tools) + `,"offset":200}`},
		"POST /api/file/hover":                       {"/api/file/hover", `{"text":` + text(tools) + `,"offset":90}`},
		"POST /api/file/edit":                        {"/api/file/edit", `{"revision":"","tool":"sizes","operations":[{"op":"removeNode","node":"twice","reconnect":true}],"dryRun":true}`},
		"GET /api/servers":                           {"/api/servers"},
		"POST /api/servers/{name}/check":             {"/api/servers/files/check", `{}`},
		"POST /api/servers/{name}/tools/{tool}/call": {"/api/servers/files/tools/stat/call", `{"args":{}}`},
		"GET /api/runs":                              {"/api/runs"},
		"GET /api/runs/{id}":                         {"/api/runs/" + id},
		"GET /api/runs/{id}/records":                 {"/api/runs/" + id + "/records?from=0"},
		"GET /api/runs/{id}/value":                   {"/api/runs/" + id + "/value?record=1&part=error"},
		"GET /api/runs/{id}/document":                {"/api/runs/" + id + "/document"},
		"GET /api/runs/{id}/export":                  {"/api/runs/" + id + "/export"},
		"GET /api/runs/compare":                      {"/api/runs/compare?a=" + id + "&b=" + id},
		"POST /api/runs/import":                      {"/api/runs/import", `{"text":"{}"}`},
		"POST /api/runs/{id}/eval":                   {"/api/runs/" + id + "/eval", `{"expression":"$"}`},
		"POST /api/sessions":                         {"/api/sessions", `{"tool":"fails","args":{}}`},
		"GET /api/durable":                           {"/api/durable"},
		"POST /api/durable":                          {"/api/durable", `{"tool":"fails","args":{}}`},
		"POST /api/durable/{id}/cancel":              {"/api/durable/" + id + "/cancel", `{}`},
		"POST /api/durable/{id}/answer":              {"/api/durable/" + id + "/answer", `{"question":"1","action":"accept"}`},
		"POST /api/sessions/{id}/pause":              {"/api/sessions/" + id + "/pause", `{}`},
		"POST /api/sessions/{id}/resume":             {"/api/sessions/" + id + "/resume", `{}`},
		"POST /api/sessions/{id}/step":               {"/api/sessions/" + id + "/step", `{}`},
		"POST /api/sessions/{id}/stepInto":           {"/api/sessions/" + id + "/stepInto", `{}`},
		"POST /api/sessions/{id}/stepOut":            {"/api/sessions/" + id + "/stepOut", `{}`},
		"POST /api/sessions/{id}/stop":               {"/api/sessions/" + id + "/stop", `{}`},
		"POST /api/sessions/{id}/runTo":              {"/api/sessions/" + id + "/runTo", `{"node":"exit"}`},
		"POST /api/sessions/{id}/pin":                {"/api/sessions/" + id + "/pin", `{"node":"exit","value":1}`},
		"POST /api/sessions/{id}/unpin":              {"/api/sessions/" + id + "/unpin", `{"node":"exit"}`},
		"POST /api/sessions/{id}/setOutput":          {"/api/sessions/" + id + "/setOutput", `{"node":"exit","value":1}`},
		"POST /api/sessions/{id}/breakpoints":        {"/api/sessions/" + id + "/breakpoints", `{"breakpoints":[]}`},
		"POST /api/sessions/{id}/answer":             {"/api/sessions/" + id + "/answer", `{"question":"1","action":"accept"}`},
		"GET /api/events":                            {"/api/events"},
	}
}

// TestEveryRouteIsTried fails where a route was added and bodies does not know it.
func TestEveryRouteIsTried(t *testing.T) {
	t.Parallel()
	known := bodies("")
	p := &Page{}
	for _, rt := range p.table() {
		if _, ok := known[rt.pattern]; !ok {
			t.Errorf("bodies lacks %s", rt.pattern)
		}
		delete(known, rt.pattern)
	}
	for pattern := range known {
		t.Errorf("there is no %s", pattern)
	}
}

// TestReadOnlyRefusesCommands tries each route of a page that is read-only.
func TestReadOnlyRefusesCommands(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, func(o *Options) { o.ReadOnly = true })
	pure := []string{
		"POST /api/file/check", "POST /api/file/format", "POST /api/file/complete", "POST /api/file/hover", "POST /api/runs/{id}/eval",
	}
	known := bodies("x")
	for _, pattern := range slices.Sorted(maps.Keys(known)) {
		method, _, _ := strings.Cut(pattern, " ")
		if method == http.MethodGet {
			continue
		}
		_, code := s.code(method, known[pattern][0], known[pattern][1])
		if want := !slices.Contains(pure, pattern); (code == "read_only") != want {
			t.Errorf("%s: %q", pattern, code)
		}
	}
	if v := s.get("/api/state"); !v.Get("readOnly").Bool() || v.Get("file").Get("editable").Bool() {
		t.Errorf("the state is %s", v.JSON())
	}
}

// TestSecretsNeverShow asks every route while a run is under way and after it, of a file
// whose servers have secrets and answer with them.
func TestSecretsNeverShow(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	var all []string
	ask := func(when, method, path, body string) {
		status, text := s.do(s.request(method, path, body))
		if status == http.StatusInternalServerError {
			t.Errorf("%s: %s", path, text)
		}
		all = append(all, when+" "+method+" "+path+" "+text)
	}
	for tool, end := range map[string]string{"fails": "failed", "sizes": "done"} {
		id := s.start(`{"tool":"` + tool + `","args":{"names":["a ` + secret + `"]},"breakOn":{"failure":"any"},` +
			`"breakpoints":[{"node":"exit"},{"node":"entry","log":"{$.entry} {$}"}]}`)
		inState(t, events, id, "paused")
		told := s.follow("?after=0&runs=" + id)
		known := bodies(id)
		for _, when := range []string{"paused", "over"} {
			for _, pattern := range slices.Sorted(maps.Keys(known)) {
				method, _, _ := strings.Cut(pattern, " ")
				control := strings.HasPrefix(pattern, "POST /api/sessions") && when == "paused"
				if pattern != "GET /api/events" && !control {
					ask(when, method, known[pattern][0], known[pattern][1])
				}
			}
			for _, path := range []string{
				"/value?part=args", "/value?part=result", "/value?record=0&part=output", "/value?record=1&part=reply", "/value?record=1&part=arguments",
				"/value?record=2&part=reply", "/value?part=document&record=2", "/value?part=variables&record=2", "/document?record=2", "/export?as=test",
			} {
				ask(when, "GET", "/api/runs/"+id+path, "")
			}
			ask(when, "POST", "/api/runs/"+id+"/eval", `{"expression":"$error($string($))"}`)
			if when == "paused" {
				s.post("/api/sessions/"+id+"/breakpoints", `{"breakpoints":[]}`)
				s.post("/api/sessions/"+id+"/resume", `{}`)
				all = append(all, inState(t, events, id, end).JSON())
			}
		}
		until(t, told, func(e value.Value) bool {
			all = append(all, e.JSON())
			return e.Get("type").Str() == "run" && e.Get("run").Get("state").Str() == end
		})
	}
	if !strings.Contains(strings.Join(all, ""), "[redacted]") {
		t.Error("nothing had a secret")
	}
	for _, text := range all {
		if strings.Contains(text, secret) || strings.Contains(text, s.token) {
			t.Errorf("a secret shows: %s", text)
		}
	}
}
