package suite

import (
	"bytes"
	"context"
	"fmt"
	"net/textproto"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Parse reads a test file and reports everything that is wrong with it alone, sorted
// by place; see [File.Check]. The File holds what could be read; it is nil if the
// source is not a single YAML document.
func Parse(path string, source []byte) (*File, []diag.Diagnostic) {
	return ParseContext(context.Background(), path, source)
}

// ParseContext is [Parse], and stops when ctx ends or when its account (see
// [memory.WithAccount]) has no room. The File is nil then, and ctx has the cause.
func ParseContext(ctx context.Context, path string, source []byte) (*File, []diag.Diagnostic) {
	root, ds := config.ParseYAMLContext(ctx, path, source)
	if root == nil {
		return nil, ds
	}
	d := &decoder{
		diagnostics: ds, reported: map[problem]bool{},
		substitutes: bytes.Contains(source, []byte("${vars.")),
	}
	file := &File{Path: path, Node: root}
	if top := d.fieldsOf(root, "the test file", fileSettings); top != nil {
		d.file(top, file)
	}
	diag.Sort(d.diagnostics)
	return file, d.diagnostics
}

// DefaultConfig returns the path of the configuration that a test file is about if
// it names none: its own without .test.
func DefaultConfig(path string) string {
	ending := filepath.Ext(path)
	return strings.TrimSuffix(strings.TrimSuffix(path, ending), Suffix) + ending
}

// IsTestFile reports whether the name of a file is that of a test file.
func IsTestFile(path string) bool {
	ending := filepath.Ext(path)
	return (ending == ".yaml" || ending == ".yml") && strings.HasSuffix(strings.TrimSuffix(path, ending), Suffix)
}

func (d *decoder) file(top *fields, file *File) {
	file.Config = DefaultConfig(file.Path)
	if name := top.required("config"); name != "" {
		file.Config, file.ConfigText = relative(file.Path, name), top.get("config").Text()
	} else if !IsTestFile(file.Path) && top.get("config") == nil {
		m := top.nodes[0].Missing(top.owner, "config")
		m.Hint = "only files with names such as NAME.test.yaml have a default"
		d.report(m)
	}
	shared := d.mocks(top)
	file.Mocks = shared
	names := map[string]diag.Pos{}
	for _, n := range top.items("tests") {
		f := d.fieldsOf(n, "a test", testSettings)
		if f == nil {
			continue
		}
		name := f.required("name")
		if name != "" {
			f.owner = fmt.Sprintf("test %q", name)
			d.reportTwice(names, name, f.get("name"), "test")
		}
		cases := f.get("cases")
		if cases == nil {
			d.setVars(f)
			d.add(file, f, n, name, shared)
			continue
		}
		all := f.items("cases")
		if cases.Kind() == config.List && len(all) == 0 {
			d.report(cases.Problem(diag.CodeValue, fmt.Sprintf(`"cases" of %s is empty, so the test never runs`, f.owner)))
		}
		d.cases(file, f, all, name, shared)
	}
}

// cases adds one test for each case.
func (d *decoder) cases(file *File, test *fields, cases []*config.Node, name string, shared []*Mock) {
	names := map[string]diag.Pos{}
	for _, n := range cases {
		if len(file.Tests) >= maxTests {
			return // reported
		}
		d.vars, d.known = nil, nil
		row := d.fieldsOf(n, "a case of "+test.owner, caseSettings)
		if row == nil {
			continue
		}
		title := row.required("name")
		if title != "" {
			row.owner = fmt.Sprintf("case %q of %s", title, test.owner)
			d.reportTwice(names, title, row.get("name"), "case")
		}
		both := &fields{d, test.owner, []*config.Node{row.nodes[0], test.nodes[0]}, testSettings}
		d.setVars(test, row)
		d.add(file, both, row.nodes[0], name+"/"+title, shared)
	}
}

// setVars sets the variables of a test; those of a later map win.
func (d *decoder) setVars(maps ...*fields) {
	d.vars, d.known = nil, nil
	vars := map[string]*config.Node{}
	for _, f := range maps {
		n := f.nodes[0].Get("vars")
		if n != nil && n.Kind() != config.Map {
			d.report(n.Expected(`"vars"`, "a map"))
		}
		for _, v := range n.Fields() {
			vars[v.Key.String()] = v.Value
		}
	}
	d.vars = vars
}

// reportTwice reports a name that another one has.
func (d *decoder) reportTwice(names map[string]diag.Pos, name string, n *config.Node, what string) {
	first, twice := names[name]
	if !twice {
		names[name] = n.Pos()
		return
	}
	p := n.Problem(diag.CodeConflict, fmt.Sprintf("there are two %ss with the name %q", what, name))
	p.Related = []diag.Related{{File: n.File(), Pos: first, Message: "the first one"}}
	d.report(p)
}

// relative returns a path that stands in a file.
func relative(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

func (d *decoder) add(file *File, f *fields, n *config.Node, name string, shared []*Mock) {
	if len(file.Tests) >= maxTests {
		d.report(n.Problem(diag.CodeLimit, fmt.Sprintf("the file has more than %d tests; divide it", maxTests)))
		return
	}
	t := &Test{
		Name: name, Node: n, Tool: f.required("tool"), ToolNode: f.get("tool"), Arguments: f.object("arguments"),
		Mocks: append(slices.Clip(d.mocks(f)), shared...), Redact: f.strings("redact"), Meta: f.object("meta"),
		Seed: uint64(f.number("seed", defaultSeed)), Timeout: f.milliseconds("timeoutMs", defaultTimeout),
		Skip: f.required("skip"), Now: f.time("now"), Expect: d.expect(f),
	}
	t.Own = len(t.Mocks) - len(shared)
	if t.Arguments.IsUndefined() {
		t.Arguments = value.FromEntries(nil)
	}
	if path := f.required("cassette"); path != "" {
		t.Cassette = relative(file.Path, path)
	}
	d.answers(f, t)
	if c := f.sub("caller"); c != nil {
		t.Caller = &Caller{Name: c.string("name"), Scopes: c.strings("scopes")}
		if c.get("scopes") != nil && t.Caller.Scopes == nil {
			t.Caller.Scopes = []string{}
		}
	}
	d.headers(f, t)
	file.Tests = append(file.Tests, t)
}

// The years between which the clock of a test can be.
const firstYear, lastYear = 2000, 2199

// time returns the time at which the test begins.
func (f *fields) time(name string) time.Time {
	text := f.string(name)
	if text == "" {
		text = defaultNow
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	switch year := at.UTC().Year(); {
	case err != nil:
		p := f.get(name).Problem(diag.CodeValue, fmt.Sprintf("%q is not a time: %q", name, text))
		p.Hint = "write it as " + defaultNow
		f.report(p)
	case year < firstYear || year > lastYear:
		f.report(f.get(name).Problem(diag.CodeLimit, fmt.Sprintf("%q must be between the years %d and %d, found %s", name, firstYear, lastYear, text)))
	default:
		return at.UTC()
	}
	at, _ = time.Parse(time.RFC3339, defaultNow)
	return at
}

func (d *decoder) answers(f *fields, t *Test) {
	n := f.get("answers")
	if n != nil && n.Kind() != config.Map {
		d.report(n.Expected(`"answers"`, "a map"))
	}
	for _, a := range n.Fields() {
		given := d.resolve(a.Value)
		if given.IsNull() {
			d.report(given.Expected(fmt.Sprintf("the answer of %q", a.Key), "an answer"))
			continue
		}
		t.Answers = append(t.Answers, Answer{ID: a.Key, Node: given, Given: d.value(given)})
	}
}

func (d *decoder) headers(f *fields, t *Test) {
	n := f.get("headers")
	if n != nil && n.Kind() != config.Map {
		d.report(n.Expected(`"headers"`, "a map"))
	}
	for _, h := range n.Fields() {
		v := d.resolve(h.Value)
		if v.Kind() != config.Scalar || v.IsNull() {
			d.report(v.Expected(fmt.Sprintf("header %q", h.Key), "a string"))
			continue
		}
		t.Headers = append(t.Headers, HeaderLine{textproto.CanonicalMIMEHeaderKey(h.Key.String()), d.text(v)})
	}
}
