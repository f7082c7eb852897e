package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
)

// SessionKey names one session: that of a caller with a server.
type SessionKey struct {
	Server string
	Caller string // a hash that stands for the credentials; empty for calls without any
}

// SavedSession is what it takes to go on with a session over streamable HTTP.
type SavedSession struct {
	ID       string    `json:"id"`
	URL      string    `json:"url"`      // of the server that gave the id, without secrets
	Revision string    `json:"revision"` // of the protocol
	Name     string    `json:"name"`     // of the server, as it says itself
	Version  string    `json:"version"`
	Saved    time.Time `json:"saved"`
	// ListChanged and Logs are capabilities of the server.
	ListChanged bool `json:"listChanged,omitempty"`
	Logs        bool `json:"logs,omitempty"`
	// Capabilities are those beside tools. Nil means that they are not known.
	Capabilities []string `json:"capabilities"`
}

// SessionStore keeps sessions beyond the life of a pool. Its methods are called
// by several goroutines, once for each session that is opened or
// forgotten. Errors are logged; the session goes on without the store.
type SessionStore interface {
	// Load returns a session that was saved; its ID is empty if there is none.
	Load(ctx context.Context, key SessionKey) (SavedSession, error)
	// Save saves a session and replaces an older one.
	Save(ctx context.Context, key SessionKey, s SavedSession) error
	// Delete forgets a session, because its server did. It is no error if there
	// is none.
	Delete(ctx context.Context, key SessionKey) error
}

// fileStore keeps sessions in a file that only its owner can read. Any number
// of servers of this process may share it; of several processes the last to
// write wins.
type fileStore struct{ path string }

var _ SessionStore = fileStore{}

// fileStores guards all files: they are small and seldom written.
var fileStores sync.Mutex

// maxSaved is how many sessions a file holds; the oldest go first.
const maxSaved = 10_000

// savedFile is the form of the file: sessions by server and caller.
type savedFile map[string]map[string]SavedSession

func (f fileStore) Load(_ context.Context, key SessionKey) (SavedSession, error) {
	fileStores.Lock()
	defer fileStores.Unlock()
	all, err := f.read()
	return all[key.Server][key.Caller], err
}

func (f fileStore) Save(_ context.Context, key SessionKey, s SavedSession) error {
	return f.change(func(all savedFile) {
		if all[key.Server] == nil {
			all[key.Server] = map[string]SavedSession{}
		}
		all[key.Server][key.Caller] = s
		all.trim()
	})
}

func (f fileStore) Delete(_ context.Context, key SessionKey) error {
	return f.change(func(all savedFile) { delete(all[key.Server], key.Caller) })
}

// change edits the file. One that does not hold sessions is put aside, because
// it may be another file that was named by mistake, and replaced.
func (f fileStore) change(change func(savedFile)) error {
	fileStores.Lock()
	defer fileStores.Unlock()
	all, err := f.read()
	if errors.Is(err, errNoSessions) {
		all, err = savedFile{}, os.Rename(f.path, f.path+asideSuffix)
	}
	if err != nil {
		return err
	}
	change(all)
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return f.write(text)
}

func (f fileStore) read() (savedFile, error) {
	text, err := boundedfile.Read(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return savedFile{}, nil
	}
	if err != nil {
		return nil, err
	}
	var all savedFile
	err = json.Unmarshal(text, &all)
	if err == nil && all == nil { // the text is null
		err = errors.New("expected an object")
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w; it is renamed to %s and replaced: %w",
			f.path, errNoSessions, filepath.Base(f.path)+asideSuffix, err)
	}
	return all, nil
}

// errNoSessions is in the error of reading a file that holds something else.
var errNoSessions = errors.New("is not a file of sessions")

// asideSuffix ends the name of a file that was put aside.
const asideSuffix = ".corrupt"

// write replaces the file as a whole, so that nobody ever reads half of it.
func (f fileStore) write(text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err2 := temp.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// trim drops the oldest session where there are too many.
func (all savedFile) trim() {
	count := 0
	var server, caller string
	var oldest time.Time
	for s, sessions := range all {
		for c, saved := range sessions {
			if count++; count == 1 || saved.Saved.Before(oldest) {
				server, caller, oldest = s, c, saved.Saved
			}
		}
	}
	if count > maxSaved {
		delete(all[server], caller)
	}
}
