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
	blocks [][2]int   // where their texts begin and end
	edits  [][]string // for each block, the parts of files that the document shows before it
}

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	// partOfFile is a block with a part of a YAML file, whose lines are indented.
	partOfFile = regexp.MustCompile("(?ms)^```yaml\n( .*?)^```$")
)

// sessionsOf returns the sessions of a document.
func sessionsOf(text string) []docSession {
	var found []docSession
	open := false
	last := 0
	for _, m := range consoleBlock.FindAllStringSubmatchIndex(text, -1) {
		between := text[last:m[0]]
		if strings.Contains(between, "\n## ") {
			open = false
		}
		last = m[1]
		var edits []string
		for _, part := range partOfFile.FindAllStringSubmatch(between, -1) {
			edits = append(edits, part[1])
		}
		switch {
		case strings.HasPrefix(text[m[2]:], "$ mkdir "):
			found = append(found, docSession{})
			open = true
		case !open:
			continue
		}
		s := &found[len(found)-1]
		s.blocks = append(s.blocks, [2]int{m[2], m[3]})
		s.edits = append(s.edits, edits)
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
			var texts []string
			for _, b := range one.blocks {
				texts = append(texts, string(text[b[0]:b[1]]))
			}
			for i, printed := range record(t, file, texts, one.edits) {
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
func record(t *testing.T, file string, blocks []string, edits [][]string) []string {
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
		for _, part := range edits[i] {
			script.WriteString(editCommand(t, part))
		}
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

// editCommand returns a shell command that does what a document tells the reader to do:
// it puts a part of a file in the place of what begins with the same line.
func editCommand(t *testing.T, part string) string {
	t.Helper()
	first, _, _ := strings.Cut(part, "\n")
	file, last := "tools.yaml", "        next: exit"
	if first == "    expect:" {
		file, last = "tools.test.yaml", "      path: [entry, call, exit]"
	}
	block := filepath.Join(t.TempDir(), "part")
	if err := os.WriteFile(block, []byte(part), 0o600); err != nil {
		t.Fatal(err)
	}
	return "grep -qxF '" + first + "' " + file + " && grep -qxF '" + last + "' " + file + "\n" +
		"awk -v first='" + first + "' -v last='" + last + "' -v part='" + block + "' '" +
		"$0 == first {while ((getline line < part) > 0) print line; gone = 1} !gone {print} $0 == last {gone = 0}' " +
		file + " > edited && mv edited " + file + "\n"
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
