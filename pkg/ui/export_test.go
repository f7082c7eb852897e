package ui

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestExportedRunIsImported(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	for tool, end := range map[string]string{"sizes": "done", "fails": "failed"} {
		id := s.start(`{"tool":"` + tool + `","args":{"names":["a","b"]}}`)
		inState(t, events, id, end)
		_, exported := s.do(s.request("GET", "/api/runs/"+id+"/export?as=json", ""))
		again := s.post("/api/runs/import", `{"text":`+text(exported)+`}`).Get("id").Str()
		was, is := s.get("/api/runs/"+id), s.get("/api/runs/"+again)
		if is.Get("run").Get("state").Str() != end || !is.Get("run").Get("imported").Bool() || is.Get("run").Get("session").Bool() {
			t.Errorf("it was imported as %s", is.Get("run").JSON())
		}
		if got, want := is.Get("records").JSON(), was.Get("records").JSON(); tool == "sizes" && got != want {
			t.Errorf("the records are\n%s\nwant\n%s", got, want)
		}
		for _, p := range s.get("/api/runs/compare?a=" + id + "&b=" + again).Get("pairs").Elems() {
			if tool == "sizes" && !p.Get("same").Bool() {
				t.Errorf("it differs: %s", p.JSON())
			}
		}
		if v := s.post("/api/runs/"+again+"/eval", `{"expression":"$.entry.names[1]"}`); v.Get("value").Str() != "b" {
			t.Errorf("eval yields %s", v.JSON())
		}
		for body, want := range map[string]string{
			"{": "bad_request", `{"tool":"sizes"}`: "bad_request",
			strings.Replace(exported, `"`+tool+`"`, `"other"`, 1):          "unknown_tool",
			strings.ReplaceAll(exported, `"node": "entry"`, `"node": "x"`): "does_not_fit",
		} {
			if _, code := s.code("POST", "/api/runs/import", `{"text":`+text(body)+`}`); code != want {
				t.Errorf("%.60s: %s, want %s", body, code, want)
			}
		}
		for range maxImports + 2 {
			s.post("/api/runs/import", `{"text":`+text(exported)+`}`)
		}
		imports := 0
		for _, run := range s.get("/api/runs").Get("runs").Elems() {
			if run.Get("imported").Bool() {
				imports++
			}
		}
		if imports != maxImports {
			t.Errorf("%d imported runs are kept", imports)
		}
	}
}

// TestExportedTestPasses writes the files of an exported test beside the configuration
// and runs it.
func TestExportedTestPasses(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	for tool, end := range map[string]string{"sizes": "done", "fails": "failed"} {
		id := s.start(`{"tool":"` + tool + `","args":{"names":["a","b"]}}`)
		inState(t, events, id, end)
		v := s.get("/api/runs/" + id + "/export?as=test")
		folder := filepath.Dir(s.path)
		for _, name := range []string{"test", "cassette"} {
			if err := os.WriteFile(filepath.Join(folder, v.Get("names").Get(name).Str()), []byte(v.Get(name).Str()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := runner.Options{Getenv: s.opts.Getenv}
		report := runner.Load(context.Background(), []string{filepath.Join(folder, v.Get("names").Get("test").Str())}, o).Run(t.Context(), o)
		if len(report.Results) != 1 || report.Results[0].Status != runner.Passed {
			t.Errorf("%s: %+v\n%s", tool, report, v.Get("test").Str())
		}
	}
}

func TestValuesAreCut(t *testing.T) {
	t.Parallel()
	s := serve(t, strings.Replace(tools, "expr: $.entry.n * 2", "expr: '[1..$.entry.n].{\"n\": $, \"text\": $pad(\"\", 1000, \"x\")}'", 1), nil)
	events := s.follow("")
	id := s.start(`{"tool":"double","args":{"n":500}}`)
	inState(t, events, id, "done")
	rec := s.get("/api/runs/" + id).Get("records").Elems()[1]
	if c := rec.Get("output").Get("$cut"); c.Get("bytes").Float() < 500_000 || len(c.Get("preview").Str()) > maxPreview+20 {
		t.Errorf("the output is %s", rec.Get("output").JSON())
	}
	at := "/api/runs/" + id + "/value?record=1&part=output"
	v := s.get(at + "&from=400&count=3")
	if part := v.Get("value").Get("$slice"); part.Get("total").Float() != 500 || part.Get("items").Len() != 3 || part.Get("items").Elems()[0].Get("n").Float() != 401 {
		t.Errorf("the items are %.200s", v.JSON())
	}
	if v := s.get(at + "&pointer=/499/n"); v.Get("value").Float() != 500 {
		t.Errorf("the last one is %s", v.JSON())
	}
	for query, want := range map[string]string{
		"&pointer=/500": "not_found", "&pointer=n": "bad_request", "&from=-1": "bad_request", "&count=x": "bad_request",
	} {
		if _, code := s.code("GET", at+query, ""); code != want {
			t.Errorf("%s: %s, want %s", query, code, want)
		}
	}
	for _, path := range []string{"?part=output", "?part=what&record=0"} {
		if status, _ := s.code("GET", "/api/runs/"+id+"/value"+path, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status, _ := s.code("GET", "/api/runs/"+id+"/value?part=output&record=99", ""); status != http.StatusNotFound {
		t.Errorf("a record that is not there: %d", status)
	}
	if v := s.get("/api/runs/" + id + "/document?record=2").Get("document"); v.Get("times").Get("$cut").IsUndefined() {
		t.Errorf("the document is %.200s", v.JSON())
	}
	if v := s.get("/api/runs/" + id + "/value?record=2&part=document&pointer=/times/7/n"); v.Get("value").Float() != 8 {
		t.Errorf("a part of the document is %s", v.JSON())
	}
}

func TestLongObjectsComeInSlices(t *testing.T) {
	t.Parallel()
	b := value.NewBuilder(0)
	for i := range 5000 {
		b.Set(text(i), value.FromString(strings.Repeat("x", 100)))
	}
	v, err := value.Parse(text(bounded(b.Value(), 4999, 10)))
	if part := v.Get("$slice"); err != nil || part.Get("items").Len() != 1 || part.Get("items").Elems()[0].Elems()[0].Str() != "4999" || !part.Get("object").Bool() {
		t.Errorf("got %s, %v", v.JSON(), err)
	}
	long := value.FromEntries([]value.Entry{{Key: "a", Value: value.FromString(strings.Repeat("x", maxWhole))}, {Key: "b", Value: value.True}})
	v, _ = value.Parse(text(bounded(long, 0, 10)))
	if v.Get("a").Get("$cut").Get("bytes").Float() != maxWhole+2 || !v.Get("b").Bool() {
		t.Errorf("got %.100s", v.JSON())
	}
}

func TestNodesOfPaths(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	g, err := s.engine.Load().Graph("sizes")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"entry": "sizes#entry", "each[17].info": "sizes#each[].info", "twice>times": "double#times",
		"each[1].none": "", "each.info": "", "entry>x": "", "": "", "each[": "", "twice>": "", "each].info": "",
	} {
		got := ""
		if n := nodeAt(g, path); n != nil {
			got = n.Key()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	var drawn struct{ edges, bodies []string }
	v := s.get("/api/tools/sizes/graph")
	for _, e := range v.Get("edges").Elems() {
		drawn.edges = append(drawn.edges, e.Get("from").Str()+" "+e.Get("to").Str()+" "+e.Get("kind").Str())
	}
	for _, b := range v.Get("bodies").Elems() {
		drawn.bodies = append(drawn.bodies, b.Get("key").Str()+" "+b.Get("owner").Str()+" "+b.Get("entry").Str())
	}
	if got := strings.Join(drawn.edges, ", "); got != "sizes#entry sizes#each next, sizes#each sizes#twice next, sizes#twice sizes#exit next" {
		t.Errorf("the edges are %s", got)
	}
	if got := strings.Join(drawn.bodies, ", "); got != "sizes#each[] sizes#each sizes#each[].info" {
		t.Errorf("the bodies are %s", got)
	}
	info := v.Get("nodes").Elems()[2]
	if info.Get("pointer").Str() != "/tools/0/nodes/1/nodes/0" || info.Get("body").Str() != "sizes#each[]" || info.Get("span").Get("from").Get("line").Float() != 23 ||
		!strings.HasPrefix(info.Get("yaml").Str(), "{id: info, type: mcp") {
		t.Errorf("the node is %s", info.JSON())
	}
}
