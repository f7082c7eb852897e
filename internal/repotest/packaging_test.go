package repotest

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/internal/project"
)

// goTags are the build tags of releases, as the Makefile has them.
func goTags(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`build -tags (\S+)`).FindStringSubmatch(readFile(t, "Makefile"))
	if m == nil {
		t.Fatal("the Makefile builds without tags")
	}
	return m[1]
}

func TestDockerfileFitsTheProgram(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(readFile(t, "Dockerfile"), "\\\n", " ")
	if want := "golang:" + goVersion(t) + "@"; !strings.Contains(text, want) {
		t.Errorf("the Dockerfile does not build with %s, the version of go.mod", want)
	}
	if want := "-tags " + goTags(t) + " "; !strings.Contains(text, want) {
		t.Errorf("the Dockerfile builds without %s", want)
	}
	if from := regexp.MustCompile(`(?m)^FROM (\S+)$`).FindStringSubmatch(text); from == nil || !strings.Contains(from[1], "distroless/static") {
		t.Errorf("the last stage is of %v", from)
	}
	user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(text)
	if user == nil || user[1] == "0" {
		t.Errorf("the user is %v; it must be a number, and not root", user)
	}
	// What the image runs must be command lines that the program takes.
	entry := execForm(t, text, "ENTRYPOINT")
	check := execForm(t, text, `HEALTHCHECK[^\[\n]*CMD`)
	if len(entry) != 1 || check[0] != entry[0] || entry[0] != "/mcpgraph" || !strings.Contains(text, "-o /programs/ ./cmd/...") || !strings.Contains(text, "COPY --from=build /programs/ /\n") {
		t.Errorf("the health check runs %v, the entry point is %v", check, entry)
	}
	serve := execForm(t, text, "CMD")
	if port := exposed(t, text); !strings.HasSuffix(serve[len(serve)-1], ":"+port) || !strings.HasSuffix(check[len(check)-1], ":"+port) {
		t.Errorf("served is %v, checked %v, exposed %s", serve, check, port)
	}
	if out, err := exec.Command("mcpgraph", append(serve, "--help")...).CombinedOutput(); err != nil {
		t.Errorf("mcpgraph %v --help: %v\n%s", serve, err, out)
	}
	// Nobody answers at that port here, so a command line that is right fails with
	// code 1, a wrong one with 2.
	check[len(check)-1] = "http://127.0.0.1:1"
	err := exec.Command("mcpgraph", check[1:]...).Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Errorf("mcpgraph %v: %v", check[1:], err)
	}
}

// execForm returns the words of an instruction in its JSON form.
func execForm(t *testing.T, dockerfile, instruction string) []string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + instruction + ` (\[.*\])$`).FindStringSubmatch(dockerfile)
	if m == nil {
		t.Fatalf("the Dockerfile has no %s in JSON form", instruction)
	}
	var words []string
	if err := yaml.Unmarshal([]byte(m[1]), &words); err != nil || len(words) == 0 {
		t.Fatalf("%s: %v", m[0], err)
	}
	return words
}

func exposed(t *testing.T, dockerfile string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^EXPOSE (\d+)$`).FindStringSubmatch(dockerfile)
	if m == nil {
		t.Fatal("the Dockerfile exposes no port")
	}
	return m[1]
}

// TestReleasesPublishSchemas runs the commands of .goreleaser.yaml that write the
// schemas for editors: their $id is the address of a file of the release.
func TestReleasesPublishSchemas(t *testing.T) {
	t.Parallel()
	var release struct {
		Before  struct{ Hooks []string }
		Release struct {
			ExtraFiles []struct{ Glob string } `yaml:"extra_files"`
		}
	}
	readYAML(t, ".goreleaser.yaml", &release)
	for _, file := range release.Release.ExtraFiles {
		written := regexp.MustCompile(`go run ./cmd/(mcpgraph schema.*) > ` + regexp.QuoteMeta(file.Glob) + `"$`)
		i := slices.IndexFunc(release.Before.Hooks, written.MatchString)
		if i < 0 {
			t.Errorf("no command writes %s", file.Glob)
			continue
		}
		args := strings.Fields(written.FindStringSubmatch(release.Before.Hooks[i])[1])
		out, err := exec.Command(args[0], args[1:]...).Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		id := project.Latest + filepath.Base(file.Glob)
		if !strings.Contains(string(out), `"$id": "`+id+`"`) {
			t.Errorf("%v does not print a schema with the $id %s", args, id)
		}
	}
	if len(release.Release.ExtraFiles) == 0 {
		t.Error("releases have no schemas")
	}
}

// programs returns the names of the programs.
func programs(t *testing.T) []string {
	t.Helper()
	mains, err := filepath.Glob("cmd/*/main.go")
	if err != nil || len(mains) != 2 {
		t.Fatalf("the programs are %v, %v", mains, err)
	}
	for i, main := range mains {
		mains[i] = filepath.Base(filepath.Dir(main))
	}
	return mains
}

func TestReleaseBuildsTheProgram(t *testing.T) {
	var release struct {
		Version int
		Builds  []struct {
			ID, Main, Binary string
			Env, Tags        []string
			Goos, Goarch     []string
		}
		Archives []struct{ Files []string }
	}
	readYAML(t, ".goreleaser.yaml", &release)
	if release.Version != 2 || len(release.Builds) != len(programs(t)) || len(release.Archives) != 1 {
		t.Fatalf("unexpected form: %+v", release)
	}
	for i, name := range programs(t) {
		build := release.Builds[i]
		if build.Main != "./cmd/"+name || build.Binary != name || build.ID != name {
			t.Errorf("build %d is %+v; expected %s", i+1, build, name)
		}
		if !slices.Contains(build.Tags, goTags(t)) || !slices.Contains(build.Env, "CGO_ENABLED=0") || len(build.Goos) != 3 {
			t.Errorf("releases are built with %v and %v, for %v", build.Tags, build.Env, build.Goos)
		}
	}
	for _, pattern := range release.Archives[0].Files {
		if files, err := filepath.Glob(pattern); err != nil || len(files) == 0 {
			t.Errorf("archives have %s, which does not exist", pattern)
		}
	}
	if !regexp.MustCompile(`(?m)^/dist/$`).MatchString(readFile(t, ".gitignore")) {
		t.Error("git does not ignore dist, so versions of releases end in +dirty")
	}
}
