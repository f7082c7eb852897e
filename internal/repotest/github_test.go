package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// step is a step of a workflow or of a composite action.
type step struct {
	Name, Uses, Run, Shell string
	With, Env              map[string]string
}

func TestWorkflowRunsCI(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []step
		}
	}
	readYAML(t, ".github/workflows/ci.yml", &workflow)
	runs := 0
	for _, job := range workflow.Jobs {
		for _, s := range job.Steps {
			if s.Run != "" {
				runs++
				info, err := os.Stat(s.Run)
				if err != nil || info.Mode()&0o100 == 0 {
					t.Errorf("%s cannot be run: %v", s.Run, err)
				}
			}
			if file := s.With["go-version-file"]; file != "" {
				readFile(t, file)
			}
		}
	}
	if runs != 1 {
		t.Errorf("the workflow has %d commands, want .ci/run alone", runs)
	}
}

// compositeAction is the part of action.yml that the tests look at.
type compositeAction struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Runs              struct {
		Using string
		Steps []step
	}
}

// runAction runs the script of the action's last step in a folder, as GitHub does.
func runAction(t *testing.T, bash string, action compositeAction, work string, given map[string]string) (code int, out string) {
	t.Helper()
	last := action.Runs.Steps[len(action.Runs.Steps)-1]
	cmd := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", last.Run)
	cmd.Dir = work
	cmd.Env = os.Environ()
	for name, expression := range last.Env {
		input := strings.TrimSuffix(strings.TrimPrefix(expression, "${{ inputs."), " }}")
		known, ok := action.Inputs[input]
		if !ok {
			t.Fatalf("%s is %s, which is no input", name, expression)
		}
		text := given[input]
		if text == "" {
			text = known.Default
		}
		cmd.Env = append(cmd.Env, name+"="+text)
	}
	printed, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(printed)
}

// TestJobOfREADMEChecksTheQuickstart runs the action with the inputs of the README's job
// on what init writes, and again after a mistake.
func TestJobOfREADMEChecksTheQuickstart(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	var action compositeAction
	readYAML(t, "action.yml", &action)
	var job struct {
		Jobs map[string]struct{ Steps []step }
	}
	for place, block := range blocks(t, "yaml") {
		if strings.HasPrefix(place, "README.md") && strings.HasPrefix(block, "on: ") {
			if err := yaml.Unmarshal([]byte(block), &job); err != nil {
				t.Fatal(err)
			}
		}
	}
	var with map[string]string
	for _, s := range job.Jobs["mcpgraph"].Steps {
		if strings.HasPrefix(s.Uses, strings.TrimPrefix(module, "github.com/")+"@") {
			with = s.With
		}
	}
	if with == nil {
		t.Fatal("the README has no job with the action")
	}
	work := t.TempDir()
	init := exec.Command("mcpgraph", "init")
	init.Dir = work
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if code, out := runAction(t, bash, action, work, with); code != 0 || !strings.Contains(out, "2 passed") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	file := filepath.Join(work, "tools.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(readFile(t, file), "next: count", "next: cuont", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := runAction(t, bash, action, work, with); code != 1 || !strings.Contains(out, "::error file=tools.yaml,line=") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestActionValidatesAndTests runs the script of the action's last step as GitHub does.
func TestActionValidatesAndTests(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	var action compositeAction
	readYAML(t, "action.yml", &action)
	if action.Runs.Using != "composite" || len(action.Inputs) != 4 || len(action.Runs.Steps) != 3 {
		t.Fatalf("unexpected form: %+v", action)
	}
	install := action.Runs.Steps[1].Run
	if !strings.Contains(install, module+"/cmd/mcpgraph@") {
		t.Errorf("another program is installed:\n%s", install)
	}

	work := t.TempDir()
	for name, text := range map[string]string{
		"fine.yaml":             "version: \"1.0\"\nserver: {name: a, version: \"1\"}\ntools: []\n",
		"warned.yaml":           "version: \"1.0\"\nserver: {name: a, version: \"1\"}\ntools: []\nnonsense: 1\n",
		"deep/er/a b.yaml":      "version: \"1.0\"\ntools: []\n",
		"elsewhere/ops.yaml":    "tools: nothing of mcpgraph\n",
		"tested/one.yaml":       "version: \"1.0\"\nserver: {name: a, version: \"1\"}\ntools: [{name: t, description: d, inputSchema: {type: object}, nodes: [{id: e, type: entry, next: x}, {id: x, type: exit}]}]\n",
		"tested/one.test.yaml":  "tests:\n  - {name: passes, tool: t, arguments: {a: 1}, expect: {result: {a: 1}}}\n",
		"failing/two.yaml":      "version: \"1.0\"\nserver: {name: a, version: \"1\"}\ntools: [{name: t, description: d, inputSchema: {type: object}, nodes: [{id: e, type: entry, next: x}, {id: x, type: exit}]}]\n",
		"failing/two.test.yaml": "tests:\n  - {name: fails, tool: t, expect: {result: {a: 1}}}\n",
	} {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []struct {
		files, tests, strict string
		code                 int
		want                 string
	}{
		{"fine.yaml", "", "", 0, ""},
		{"warned.yaml", "", "", 0, "::warning file=warned.yaml,line=4,"},
		{"warned.yaml", "", "true", 1, "::warning file=warned.yaml,line=4,"},
		{"fine.yaml\ndeep/er/a b.yaml", "", "", 1, "::error file=deep/er/a b.yaml,"},
		{"deep/**/*.yaml\n", "", "", 1, "::error file=deep/er/a b.yaml,"},
		{"", "", "", 1, "::error file=deep/er/a b.yaml,"},
		{"absent.yaml", "", "", 3, "::error file=absent.yaml"},
		{"fine.yaml", "", "yes", 2, "::error::strict is \"yes\""},
		{"fine.yaml", "tested", "true", 0, ""},
		{"fine.yaml", "tested\nfailing/*.test.yaml", "", 1, "::error file=failing/two.test.yaml,line=2,"},
		{"deep/**/*.yaml", "failing", "", 1, "::error file=failing/two.test.yaml,line=2,"},
		{"absent.yaml", "failing", "", 3, "::error file=failing/two.test.yaml,line=2,"},
	} {
		t.Run(strings.TrimSpace(e.files+" "+e.tests+" "+e.strict), func(t *testing.T) {
			code, out := runAction(t, bash, action, work, map[string]string{"files": e.files, "tests": e.tests, "strict": e.strict})
			if code != e.code || !strings.Contains(out, e.want) {
				t.Errorf("exit code %d, want %d, and %s in\n%s", code, e.code, e.want, out)
			}
		})
	}
}

func TestIssueFormsAreWhole(t *testing.T) {
	files, err := filepath.Glob(".github/ISSUE_TEMPLATE/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "config.yml" {
			var config struct {
				ContactLinks []struct{ Name, URL, About string } `yaml:"contact_links"`
			}
			readYAML(t, file, &config)
			if len(config.ContactLinks) != 1 || config.ContactLinks[0].About == "" || config.ContactLinks[0].URL == "" {
				t.Errorf("%s: %+v", file, config)
			}
			continue
		}
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes struct{ Label, Value string }
			}
		}
		readYAML(t, file, &form)
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s: %+v", file, form)
		}
		seen := map[string]bool{}
		for _, field := range form.Body {
			text := field.Type == "markdown"
			if !text && !slices.Contains([]string{"textarea", "input", "dropdown", "checkboxes"}, field.Type) {
				t.Errorf("%s: no form has fields of type %q", file, field.Type)
			}
			if text != (field.Attributes.Value != "") || !text && (field.Attributes.Label == "" || field.ID == "" || seen[field.ID]) {
				t.Errorf("%s: the field %+v lacks a text, or its label or a name of its own", file, field)
			}
			seen[field.ID] = true
		}
	}
}

// TestBuildsArePinned finds what builds and releases take from others by a name that can
// come to mean something else. An update tool keeps these pins new.
func TestBuildsArePinned(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(".github/workflows/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: *(.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	actions := 0
	for _, file := range append(files, "action.yml") {
		for _, m := range uses.FindAllStringSubmatch(readFile(t, file), -1) {
			if actions++; !pinned.MatchString(m[1]) {
				t.Errorf("%s: %s: pin the commit, and name the version behind it: OWNER/NAME@COMMIT # v1.2.3", file, m[1])
			}
		}
	}
	images := regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)`).FindAllStringSubmatch(readFile(t, "Dockerfile"), -1)
	for _, m := range images {
		if !regexp.MustCompile(`^[^@]+:[^@]+@sha256:[0-9a-f]{64}$`).MatchString(m[1]) {
			t.Errorf("Dockerfile: %s: pin the digest: NAME:TAG@sha256:DIGEST", m[1])
		}
	}
	if actions < 4 || len(images) < 2 {
		t.Errorf("found %d actions and %d images", actions, len(images))
	}
	var updates struct {
		Updates []struct {
			Ecosystem string `yaml:"package-ecosystem"`
			Directory string
			Schedule  struct{ Interval string }
		}
	}
	readYAML(t, ".github/dependabot.yml", &updates)
	var kept []string
	for _, u := range updates.Updates {
		if u.Directory == "/" && u.Schedule.Interval != "" {
			kept = append(kept, u.Ecosystem)
		}
	}
	if slices.Sort(kept); !slices.Equal(kept, []string{"docker", "github-actions"}) {
		t.Errorf("the update tool keeps %q", kept)
	}
}
