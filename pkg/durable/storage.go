package durable

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// storeFrom is how many bytes a payload has at least that is kept outside.
const storeFrom = 256 << 10

// folder keeps large payloads as files, named by the digest of their content. All
// clients and workers share it.
type folder struct{ path string }

var _ converter.StorageDriver = folder{}

// newFolder returns the driver for a folder that exists.
func newFolder(path string) (folder, error) {
	info, err := os.Stat(path)
	if err != nil {
		return folder{}, fmt.Errorf("the storage of large values cannot be used: %w", err)
	}
	if !info.IsDir() {
		return folder{}, fmt.Errorf("the storage of large values cannot be used: %s is no folder", path)
	}
	return folder{path}, nil
}

// Name implements converter.StorageDriver.
func (folder) Name() string { return "mcpgraph-folder" }

// Type implements converter.StorageDriver.
func (folder) Type() string { return "mcpgraph-folder" }

const claimName = "sha256"

// Store implements converter.StorageDriver.
func (f folder) Store(ctx converter.StorageDriverStoreContext, list []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	claims := make([]converter.StorageDriverClaim, len(list))
	for i, p := range list {
		err := ctx.GetLimiter().Permit(ctx.Context, p, func() error {
			text, err := proto.Marshal(p)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			name := hex.EncodeToString(sum[:])
			claims[i].ClaimData = map[string]string{claimName: name}
			return f.write(name, text)
		})
		if err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// write writes a file as a whole. One that exists has this content, or is not
// complete after a crash of the machine, so it is written again.
func (f folder) write(name string, text []byte) error {
	temp, err := os.CreateTemp(f.path, ".new-*")
	if err != nil {
		return oneUser(err)
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(f.path, name))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return oneUser(err)
}

// oneUser says what to do about files that belong to another user: nobody else may read
// them.
func oneUser(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; run all clients and workers that share a storage folder as the user whom it belongs to: its files have the mode 0600", err)
	}
	return err
}

var validName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Retrieve implements converter.StorageDriver.
func (f folder) Retrieve(ctx converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	list := make([]*commonpb.Payload, len(claims))
	for i, claim := range claims {
		err := ctx.GetLimiter().Permit(ctx.Context, claim, func() error {
			text, err := f.read(claim.ClaimData[claimName])
			if err != nil {
				return err
			}
			list[i] = &commonpb.Payload{}
			return proto.Unmarshal(text, list[i])
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// read returns the content of a file.
func (f folder) read(name string) ([]byte, error) {
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("a large value has the wrong name %q", name)
	}
	text, err := os.ReadFile(filepath.Join(f.path, name))
	if err != nil {
		return nil, oneUser(err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != name {
		return nil, fmt.Errorf("the large value %s was changed", name)
	}
	return text, nil
}
