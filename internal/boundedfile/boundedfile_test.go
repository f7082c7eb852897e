package boundedfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
)

func TestReadsWhatFits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	for _, text := range []string{"", "a", strings.Repeat("a", 10)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := boundedfile.ReadUpTo(path, 10); err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if got, err := boundedfile.Read(path); err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if got, err := boundedfile.ReadAll(strings.NewReader("abc")); err != nil || string(got) != "abc" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRefusesWhatIsLonger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, make([]byte, 11), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		limit int64
		want  string
	}{
		{path, 10, "it is longer than 10 bytes"},
		{large, boundedfile.MaxBytes, "it is longer than 64 MiB"},
		{"/dev/zero", 1 << 20, "it is longer than 1 MiB"},
	} {
		if _, err := os.Stat(c.path); err != nil {
			continue // a machine without this device
		}
		_, err := boundedfile.ReadUpTo(c.path, c.limit)
		var at *fs.PathError
		var long *boundedfile.TooLongError
		if !errors.As(err, &at) || at.Path != c.path || !errors.As(err, &long) || long.Error() != c.want {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	var long *boundedfile.TooLongError
	if _, err := boundedfile.ReadAll(endless{}); !errors.As(err, &long) {
		t.Error(err)
	}
}

// endless is a reader that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestErrorsAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	if _, err := boundedfile.Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := boundedfile.Read(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}
