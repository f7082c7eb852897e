package repotest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// strictYAML parses texts with the strict YAML 1.1 and 1.2 modes of the npm package
// yaml, which editors use, and prints what is wrong.
const strictYAML = `
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
const {parseAllDocuments} = createRequire(process.argv[1] + "/")("yaml");
for (const [name, text] of Object.entries(JSON.parse(readFileSync(0, "utf8"))))
  for (const version of ["1.1", "1.2"])
    for (const d of parseAllDocuments(text, {version, strict: true}))
      for (const e of d.errors) console.log("YAML " + version + ": " + name + ": " + e.message.split("\n")[0]);
`

// pythonYAML does so with PyYAML, which reads YAML 1.1 alone and is what many linters
// use. It takes no ? in text without quotes in a flow map.
const pythonYAML = `
import json, sys, yaml
for name, text in json.load(sys.stdin).items():
    try: list(yaml.compose_all(text))
    except yaml.YAMLError as e: print("PyYAML: %s: %s" % (name, str(e).split("\n")[0] + " " + str(getattr(e, "problem_mark", ""))))
`

// TestEveryParserReadsTheExamples parses the examples, and the YAML of the documents,
// as the linters and editors of others do.
func TestEveryParserReadsTheExamples(t *testing.T) {
	texts := map[string]string{}
	for place, text := range blocks(t, "yaml") {
		if !strings.HasPrefix(place, diagnosticsPage) { // whose files are wrong
			texts[place] = text
		}
	}
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	all, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	parse := func(t *testing.T, name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Stdin = strings.NewReader(string(all))
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	}
	t.Run("npm", func(t *testing.T) {
		needRealServers(t)
		dir, err := filepath.Abs(realServers)
		if err != nil {
			t.Fatal(err)
		}
		parse(t, "node", "--input-type=module", "-e", strictYAML, dir)
	})
	t.Run("python", func(t *testing.T) {
		if err := exec.Command("python3", "-c", "import yaml").Run(); err != nil {
			t.Skip("python3 with the package yaml is missing")
		}
		parse(t, "python3", "-c", pythonYAML)
	})
}
