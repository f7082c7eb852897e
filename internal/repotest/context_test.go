package repotest

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// contextValues are the files that may put a value into a context, each with the
// reason. What a call carries about its caller is an argument (callinfo.Info);
// contexts carry cancellation and OpenTelemetry's span.
var contextValues = map[string]string{
	"pkg/memory/account.go":                     "evaluations count on the account of the call that they are part of",
	"pkg/upstream/credentials.go":               "carries callinfo.Info inside the package alone",
	"pkg/upstream/link.go":                      "carries credentials inside the package alone",
	"pkg/upstream/internal/credential/oauth.go": "golang.org/x/oauth2 takes its HTTP client from the context",
	"pkg/telemetry/ids.go":                      "OpenTelemetry's SDK asks a generator for ids with nothing but the context",
	"pkg/auth/oauth.go":                         "go-oidc hands the context, and nothing else, to the key set",
	"internal/mcptest/protected/server.go":      "a handler of net/http has no other arguments",
}

// TestLayersShareNoContextValues checks that no other file puts values into a
// context for others to find.
func TestLayersShareNoContextValues(t *testing.T) {
	onlyIn(t, "context.WithValue(", "pass the value as an argument, such as in callinfo.Info", contextValues)
}

// onlyIn checks that a text is in these source files, tests aside, and in no others,
// which do better.
func onlyIn(t *testing.T, text, better string, reasons map[string]string) {
	t.Helper()
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || !strings.Contains(readFile(t, path), text) {
			return nil
		}
		path = filepath.ToSlash(path)
		seen[path] = true
		if reasons[path] == "" {
			t.Errorf("%s has %s: %s", path, text, better)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range reasons {
		if !seen[path] {
			t.Errorf("%s may have %s, and has not", path, text)
		}
	}
}
