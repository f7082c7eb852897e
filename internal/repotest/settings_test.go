package repotest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

const settingsPage = "docs/settings.md"

// settingsTable is a generated table: the way to the settings, and the names of
// those it shows if it does not show all.
var settingsTable = regexp.MustCompile(`(?s)<!-- settings([^:>]*?)(?::([^>]*))? -->\n(.*?)<!-- end -->`)

// TestSettingsPageHasEverySetting generates the tables of docs/settings.md from
// the settings that the decoders use, and checks that none is missing.
func TestSettingsPageHasEverySetting(t *testing.T) {
	page, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	got := settingsTable.ReplaceAllStringFunc(string(page), func(table string) string {
		m := settingsTable.FindStringSubmatch(table)
		path, only := strings.Fields(m[1]), strings.Fields(m[2])
		all, ok := settingsAt(path)
		if !ok {
			t.Errorf("there are no settings at %q", m[1])
			return table
		}
		var rows strings.Builder
		rows.WriteString("| setting | type | default | description |\n|---|---|---|---|\n")
		for _, s := range all {
			if len(only) > 0 && !slices.Contains(only, s.Name) {
				continue
			}
			shown[strings.Join(append(path, s.Name), ".")]++
			fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", s.Name, typeOf(s), defaultOf(s), s.Doc+onlyWith(s))
		}
		return strings.TrimSuffix(table, m[3]+"<!-- end -->") + rows.String() + "<!-- end -->"
	})
	for _, path := range settingPaths(nil, config.Settings()) {
		// The older name of mcpServers has the same fields.
		if n := shown[path]; n != 1 && !strings.HasPrefix(path, "servers.") {
			t.Errorf("%s shows %s %d times", settingsPage, path, n)
		}
	}
	checkGenerated(t, settingsPage, string(page), got)
}

// fieldsOf returns the fields of a setting in the form that has some.
func fieldsOf(s config.Setting) []config.Setting {
	for _, form := range s.Or {
		if s.Fields == nil {
			s.Fields = form.Fields
		}
	}
	return s.Fields
}

func settingsAt(path []string) ([]config.Setting, bool) {
	list := config.Settings()
	for _, name := range path {
		i := slices.IndexFunc(list, func(s config.Setting) bool { return s.Name == name })
		if i < 0 {
			return nil, false
		}
		list = fieldsOf(list[i])
	}
	return list, list != nil
}

func settingPaths(path []string, list []config.Setting) (all []string) {
	for _, s := range list {
		own := append(slices.Clip(path), s.Name)
		all = append(append(all, strings.Join(own, ".")), settingPaths(own, fieldsOf(s))...)
	}
	return all
}

func typeOf(s config.Setting) string {
	forms := []string{formOf(s)}
	for _, other := range s.Or {
		forms = append(forms, formOf(other))
	}
	return strings.Join(forms, " or ")
}

func formOf(s config.Setting) string {
	if s.Values != nil {
		return "`" + strings.Join(s.Values, "`, `") + "`"
	}
	if lowest, _, ok := s.Range(); ok {
		switch s.Shape {
		case config.DurationShape:
			return "milliseconds"
		case config.FactorShape, config.PortShape, config.FractionShape:
			_, highest, _ := s.Range()
			return fmt.Sprintf("number from %d to %d", lowest, highest)
		}
		return fmt.Sprintf("whole number, at least %d", lowest)
	}
	return map[config.Shape]string{
		config.StringShape: "string", config.URLShape: "URL", config.SecureURLShape: "https URL", config.BoolShape: "boolean",
		config.StringsShape: "list of strings", config.TextsShape: "list of strings", config.ScalarsShape: "map of strings",
		config.FailuresShape: "list of names and numbers", config.WordsShape: "list of strings, or one string",
		config.TokensShape: "map of tokens", config.MapShape: "map", config.ListShape: "list of maps", config.EntriesShape: "map of maps",
		config.ObjectSchemaShape: "JSON Schema", config.AnySchemaShape: "JSON Schema", config.NodesShape: "list of nodes", config.FlatNodesShape: "list of nodes",
		config.CatchShape: "rule, or list of rules", config.ObjectShape: "map", config.ExprShape: "`{expr: …}`", config.CompleteShape: "map of lists or `{expr: …}`",
	}[s.Shape]
}

// onlyWith returns the types and flows that a setting is for.
func onlyWith(s config.Setting) string {
	if s.For == nil {
		return ""
	}
	return "; only with `" + strings.Join(s.For, "` or `") + "`"
}

func defaultOf(s config.Setting) string {
	switch {
	case s.Required:
		return "required"
	case s.RequiredFor != nil:
		return "required with `" + strings.Join(s.RequiredFor, "` and `") + "`"
	case s.Default != "":
		return "`" + strings.Trim(s.Default, `"`) + "`"
	}
	return ""
}

// TestDefaultsInDocsAreThoseOfTheSettings compares the tables of the other
// pages that show defaults.
func TestDefaultsInDocsAreThoseOfTheSettings(t *testing.T) {
	known := map[string][]string{}
	var collect func(list []config.Setting)
	collect = func(list []config.Setting) {
		for _, s := range list {
			known[s.Name] = append(known[s.Name], strings.Trim(s.Default, `"`))
			collect(fieldsOf(s))
		}
	}
	collect(config.Settings())
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		column := -1
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			switch head := strings.ToLower(strings.TrimSpace(cells[0])); {
			case !strings.HasPrefix(line, "|"):
				column = -1
			case strings.HasPrefix(head, "setting"):
				column = slices.IndexFunc(cells, func(c string) bool { return strings.TrimSpace(strings.ToLower(c)) == "default" })
			case column > 0 && column < len(cells) && !strings.HasPrefix(head, "--"):
				names, defaults := strings.Split(cells[0], ","), strings.Split(cells[column], ",")
				for i, name := range names {
					name = strings.Trim(name, " `")
					if i >= len(defaults) || known[name] == nil {
						continue
					}
					says := strings.Trim(defaults[i], " `\"")
					if !literal.MatchString(says) {
						continue // "none", "required" and the like
					}
					if !slices.Contains(known[name], strings.TrimSuffix(says, ".0")) {
						t.Errorf("%s: the default of %s is %q, the table says %q", page, name, known[name], says)
					}
					compared++
				}
			}
		}
	}
	if compared < 10 {
		t.Errorf("only %d defaults found: has the form of the tables changed?", compared)
	}
}

var literal = regexp.MustCompile(`^([0-9.]+|true|false|\[\])$`)
