package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// sessionHome is what documents show in the place of the folder that a session
// begins in.
const (
	sessionHome = "/home/me"
	nodeHome    = "/home/me/node/bin" // of npx
	programHome = "/home/me/go/bin"   // of mcpgraph
)

// A docSession is the console blocks of a document that are one session: a block
// whose first command is mkdir, and those after it in the same section.
type docSession struct {
	blocks [][2]int // where their texts begin and end
}

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// sessionsOf returns the sessions of a document.
func sessionsOf(text string) []docSession {
	var found []docSession
	open := false
	last := 0
	for _, m := range consoleBlock.FindAllStringSubmatchIndex(text, -1) {
		if strings.Contains(text[last:m[0]], "\n## ") {
			open = false
		}
		last = m[1]
		switch {
		case strings.HasPrefix(text[m[2]:], "$ mkdir "):
			found = append(found, docSession{})
			open = true
		case !open:
			continue
		}
		s := &found[len(found)-1]
		s.blocks = append(s.blocks, [2]int{m[2], m[3]})
	}
	return found
}

// inSession reports whether the block at a place, FILE:LINE, is part of a session.
func inSession(t *testing.T, place string) bool {
	t.Helper()
	file, line, _ := strings.Cut(place, ":")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessionsOf(string(text)) {
		for _, b := range s.blocks {
			if strconv.Itoa(strings.Count(string(text[:b[0]]), "\n")) == line {
				return true
			}
		}
	}
	return false
}

// took are times, which are different in every recording.
var took = regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s)\b`)

// TestSessionsInDocs runs the sessions that the documents show, each in an empty
// folder and one shell, with the real server-filesystem in the place of npx. With
// UPDATE set it records them again.
func TestSessionsInDocs(t *testing.T) {
	t.Parallel()
	needRealServers(t)
	ran := 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		recorded, end := "", 0
		for _, one := range sessionsOf(string(text)) {
			ran++
			if file != "README.md" && !testscale.Full() && os.Getenv("UPDATE") == "" {
				recorded = string(text) // each of its commands starts a real server
				end = len(text)
				continue
			}
			var texts []string
			for _, b := range one.blocks {
				texts = append(texts, string(text[b[0]:b[1]]))
			}
			for i, printed := range record(t, file, texts) {
				recorded += string(text[end:one.blocks[i][0]]) + printed
				end = one.blocks[i][1]
			}
		}
		recorded += string(text[end:])
		if recorded == string(text) {
			continue
		}
		if os.Getenv("UPDATE") == "" {
			t.Errorf("the sessions of %s print something else; run the test with UPDATE=1 and read the diff", file)
		} else if err := os.WriteFile(file, []byte(recorded), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if ran < 2 {
		t.Errorf("only %d sessions found: has their form changed?", ran)
	}
}

// record runs the commands of the blocks of a session, and returns the blocks with
// what the commands print.
func record(t *testing.T, file string, blocks []string) []string {
	t.Helper()
	home := t.TempDir()
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	var script strings.Builder
	script.WriteString("set -e\n")
	type command struct {
		text  string
		shown []string // the lines below it in the document
		block int
	}
	var commands []command
	for i, block := range blocks {
		for line := range strings.Lines(block) {
			if text, ok := strings.CutPrefix(line, "$ "); ok {
				commands = append(commands, command{text: text, block: i})
				script.WriteString("echo '" + mark + "'\n" + text)
			} else if n := len(commands); n > 0 {
				commands[n-1].shown = append(commands[n-1].shown, line)
			}
		}
	}
	cmd := exec.Command("sh", "-c", script.String())
	cmd.Dir = home
	path := sessionPath(t)
	program, err := exec.LookPath("mcpgraph")
	if err != nil {
		t.Fatal(err)
	}
	folders := strings.NewReplacer(home, sessionHome, filepath.SplitList(path)[0], nodeHome, filepath.Dir(program), programHome)
	cmd.Env = append(os.Environ(), "PATH="+path, "COLUMNS=80", "XDG_CACHE_HOME="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", file, err, out, stderr.String())
	}
	recorded := make([]string, len(blocks))
	for i, printed := range strings.Split(string(out), mark+"\n")[1:] {
		printed = took.ReplaceAllString(folders.Replace(printed), "1 ms")
		recorded[commands[i].block] += "$ " + commands[i].text + shortened(printed, commands[i].shown)
	}
	return recorded
}

// sessionPath returns a PATH on which npx starts the real server-filesystem as it is
// installed.
func sessionPath(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	server, err := filepath.Abs(filepath.Join(realServers, "node_modules", ".bin", "mcp-server-filesystem"))
	if err != nil {
		t.Fatal(err)
	}
	npx := "#!/bin/sh\n[ \"$1 $2\" = '-y @modelcontextprotocol/server-filesystem' ] || exit 9\nshift 2\nexec '" + server + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "npx"), []byte(npx), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin + string(os.PathListSeparator) + os.Getenv("PATH")
}

// shortened leaves out of what a command prints as many lines as the document does:
// it has a line "…" in their place.
func shortened(printed string, shown []string) string {
	lines := strings.SplitAfter(printed, "\n")
	lines = lines[:len(lines)-1]
	before := slices.Index(shown, "…\n")
	after := len(shown) - before - 1
	if before < 0 || before+after >= len(lines) {
		return printed
	}
	return strings.Join(lines[:before], "") + "…\n" + strings.Join(lines[len(lines)-after:], "")
}

// mark separates what the commands of a session print.
const mark = "--- next command ---"
