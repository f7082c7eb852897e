package suite_test

import (
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/suite"
)

func TestKindOf(t *testing.T) {
	const schema = "# yaml-language-server: $schema=mcpgraph.schema.json\n"
	for _, c := range []struct {
		path, text string
		want       suite.Kind
	}{
		{"a.yaml", "version: \"1.0\"\ntools: []\n", suite.Configuration},
		{"a.yml", "version: '1.0'\r\nresources:\r\n", suite.Configuration},
		{"prompts.yaml", "\ufeffversion: 1\nserver: {}\nprompts: []\n", suite.Configuration},
		{"no-version.yaml", "server: {name: a}\ntools: []\n", suite.Configuration},
		{"misspelt.yaml", "verson: '1.0'\nserver: {name: a}\ntools: [\n", suite.Configuration},
		{"quoted.yaml", "\"version\": x\n'passthrough': []\n", suite.Configuration},
		{"braces.yaml", "{\"version\": \"1.0\",\n  \"tools\": []}", suite.Configuration},
		{"schema.yaml", schema, suite.Configuration},
		{"address.yaml", "# yaml-language-server: $schema=https://github.com/mcpgraph/mcpgraph/releases/download/v1.0.0/mcpgraph.schema.json\nnodes:\n", suite.Configuration},

		{"ops.yaml", "tools: nothing of ours\n", suite.Foreign},
		{"compose.yaml", "version: '3'\nservices: {tools: {}}\n", suite.Foreign},
		{"indented.yaml", "x:\n  version: 1\n  tools: []\n", suite.Foreign},
		{"twice.yaml", "tools: 1\ntools: 2\n", suite.Foreign},
		{"k8s.yaml", "apiVersion: v1\nkind: Pod\n# version: 1\n# tools: 2\n", suite.Foreign},
		{"empty.yaml", "", suite.Foreign},
		{"list.yaml", "- version: 1\n- tools: 2\n", suite.Foreign},

		{"a.test.yaml", "tests: []\n", suite.Tests},
		{"a.test.yml", "config: b.yaml\n", suite.Tests},
		{"b.test.yaml", schema, suite.Tests},
		{"other.test.yaml", "suite: of helm\n", suite.Foreign},
		{"empty.test.yaml", "", suite.Foreign},
	} {
		if got := suite.KindOf(c.path, []byte(c.text)); got != c.want {
			t.Errorf("%s is %d, want %d", c.path, got, c.want)
		}
	}
}
