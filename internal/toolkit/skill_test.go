package toolkit_test

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
	"github.com/mcpgraph/mcpgraph/skills"
)

var (
	block = regexp.MustCompile("(?ms)^```(\\w+) ([^\n]+)\n(.*?)^```$")
	row   = regexp.MustCompile("(?m)^\\|[^|`]*\\| `(.+?)` \\| `(.+?)` \\|$")
	rule  = regexp.MustCompile("(?m)^\\| `(\\{.+?\\})` \\| `(.+?)` \\|$")
)

// texts returns the files of the skill by their names.
func texts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(skills.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = fs.ReadFile(skills.Files(), path)
			all[path] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestExamplesOfTheSkill runs every example of the skill through the toolkit.
func TestExamplesOfTheSkill(t *testing.T) {
	main := texts(t)["SKILL.md"]
	if n := strings.Count(main, "\n"); n >= 200 {
		t.Errorf("SKILL.md has %d lines", n)
	}
	if !regexp.MustCompile(`^---\nname: mcpgraph\ndescription: [^\n]{80,1000}\n---\n`).MatchString(main) {
		t.Error("SKILL.md has no front matter with name and description")
	}
	ran := map[string]int{}
	order := []string{"SKILL.md"}
	for name := range texts(t) {
		if name != "SKILL.md" {
			order = append(order, name)
		}
	}
	for _, name := range order {
		t.Run(name, func(t *testing.T) {
			d := open(t, "tools: []\n")
			d.call("addGraphTool", `{"tool":`+countFiles+`}`) // that others call
			data := ""
			text := texts(t)[name]
			if n := strings.Count(text, "\n```")/2 - len(block.FindAllString(text, -1)); n != 0 {
				t.Errorf("%d blocks have no kind that is tested", n)
			}
			for _, m := range block.FindAllStringSubmatch(text, -1) {
				kind, arg, _ := strings.Cut(m[2], " ")
				ran[kind]++
				switch kind {
				case "tool":
					d.runExample(m[3])
				case "call":
					if answer := d.call(arg, m[3]); answer.Has("error") || answer.Has("success") && !answer.Get("success").Bool() {
						t.Errorf("%s %s answers %s", arg, m[3], answer.JSON())
					}
				case "config":
					before := d.text()
					write(t, d.path, m[3])
					d.has(d.call("validateGraphTool", `{}`), `{"valid":true,"diagnostics":[]}`)
					write(t, d.path, before)
				case "data":
					data = m[3]
				case "diagnostics":
					found := d.call("validateGraphTool", `{"tool":`+m[3]+`}`)
					for _, code := range strings.Split(arg, ",") {
						d.has(found, `"code":"`+code+`"`)
					}
					if strings.Count(found.JSON(), `"fix":`) != 2 {
						t.Errorf("not both problems have a fix: %s", found.JSON())
					}
				default:
					t.Errorf("there is no kind %q of examples", kind)
				}
			}
			if data != "" {
				ran["expression"] += d.expressions(text, data)
			}
		})
	}
	for kind, least := range map[string]int{"tool": 8, "call": 3, "config": 1, "diagnostics": 1, "expression": 15} {
		if ran[kind] < least {
			t.Errorf("only %d examples of %s were found", ran[kind], kind)
		}
	}
}

// runExample saves a tool and runs it with arguments that fit.
func (d *desk) runExample(definition string) {
	d.t.Helper()
	v, err := value.Parse(definition)
	if err != nil {
		d.t.Fatal(err)
	}
	name := v.Get("name").Str()
	var answer value.Value
	if _, exists := d.ask("getGraphTool", `{"toolName":"`+name+`"}`); exists {
		answer = d.call("updateGraphTool", `{"toolName":"`+name+`","tool":`+definition+`}`)
	} else {
		answer = d.call("addGraphTool", `{"tool":`+definition+`}`)
	}
	if !answer.Get("success").Bool() || answer.Has("diagnostics") {
		d.t.Errorf("tool %s: %s", name, answer.JSON())
		return
	}
	args := map[string]any{}
	for _, p := range v.Get("inputSchema").Get("properties").Entries() {
		if args[p.Key] = "/x"; p.Value.Get("type").Str() == "array" {
			args[p.Key] = []string{"/x", "/y"}
		}
	}
	encoded, _ := json.Marshal(args)
	if r := d.call("runGraphTool", `{"toolName":"`+name+`","arguments":`+string(encoded)+`}`); r.Has("error") || !r.Has("result") {
		d.t.Errorf("tool %s answers %s", name, r.JSON())
	}
}

// expressions checks the tables of expressions and rules, and returns how many rows
// there are.
func (d *desk) expressions(text, data string) int {
	n := 0
	check := func(tool string, source value.Value, want string) {
		n++
		got := d.call(tool, `{"expression":`+source.JSON()+`,"context":`+data+`}`).Get("result").JSON()
		if got != want {
			d.t.Errorf("%s gives %s, not %s", source.JSON(), got, want)
		}
	}
	head, pitfalls, _ := strings.Cut(text, "## Pitfalls")
	for _, m := range row.FindAllStringSubmatch(head, -1) {
		check("testJSONata", value.FromString(m[1]), m[2])
	}
	for _, m := range rule.FindAllStringSubmatch(pitfalls, -1) {
		v, err := value.Parse(m[1])
		if err != nil {
			d.t.Fatal(err)
		}
		check("testJSONLogic", v, m[2])
	}
	return n
}

// TestCodesOfTheSkillExist checks the codes that the page about diagnostics has.
func TestCodesOfTheSkillExist(t *testing.T) {
	known := map[string]bool{}
	for _, c := range diag.Codes {
		known[c.Code] = true
	}
	text, _, _ := strings.Cut(texts(t)["references/diagnostics.md"], "For example,")
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], " |")
		for _, code := range strings.Split(cell, ", ") {
			if code = strings.Trim(code, "`"); !known[code] {
				t.Errorf("there is no code %q", code)
			}
		}
	}
}
