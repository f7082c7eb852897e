package lock

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// version is the version of the format.
const version = 1

// Keys of a lock file.
const (
	keyVersion = "lockVersion"
	keyDigest  = "digest"
	keyServers = "servers"

	keyName      = "name"
	keyRelease   = "version"
	keyProtocol  = "protocol"
	keyIssuer    = "issuer"
	keyTasks     = "tasks"
	keyToolNames = "toolNames"
	keyTools     = "tools"

	keyDescription  = "description"
	keyInputSchema  = "inputSchema"
	keyOutputSchema = "outputSchema"
	keyAnnotations  = "annotations"
	keyExecution    = "execution"
)

// Encode returns the file as JSON with two spaces of indentation and a line break
// at the end. Equal files have equal texts.
func (f *File) Encode() []byte {
	servers := f.value()
	whole := value.NewBuilder(3)
	whole.Set(keyVersion, value.FromInt(version))
	whole.Set(keyDigest, value.FromString(digest(servers)))
	whole.Set(keyServers, servers)
	return append(whole.Value().AppendIndent(nil, "  "), '\n')
}

// Digest returns the digest of what is locked, as it stands in the file.
func (f *File) Digest() string { return digest(f.value()) }

// digest is over compact JSON, so that white space is no difference.
func digest(servers value.Value) string {
	sum := sha256.Sum256(servers.Append(nil))
	return "sha256-" + hex.EncodeToString(sum[:])
}

func (f *File) value() value.Value {
	servers := value.NewBuilder(len(f.Servers))
	for _, s := range f.Servers {
		one := value.NewBuilder(6)
		for _, e := range []struct{ key, text string }{{keyName, s.ServerName}, {keyRelease, s.Version}, {keyProtocol, s.Protocol}, {keyIssuer, s.Issuer}} {
			if e.text != "" {
				one.Set(e.key, value.FromString(e.text))
			}
		}
		if s.NoTasks {
			one.Set(keyTasks, value.False)
		}
		names := make([]value.Value, len(s.ToolNames))
		for i, name := range s.ToolNames {
			names[i] = value.FromString(name)
		}
		one.Set(keyToolNames, value.FromArray(names))
		tools := value.NewBuilder(len(s.Tools))
		for _, t := range s.Tools {
			tools.Set(t.Name, t.value())
		}
		one.Set(keyTools, tools.Value())
		servers.Set(s.Name, one.Value())
	}
	return servers.Value()
}

func (t *Tool) value() value.Value {
	b := value.NewBuilder(4)
	if t.Description != "" {
		b.Set(keyDescription, value.FromString(t.Description))
	}
	for _, p := range t.parts() {
		if !p.of.IsUndefined() {
			b.Set(p.key, p.of)
		}
	}
	return b.Value()
}

// part is one of the values of a tool.
type part struct {
	key string
	of  value.Value
}

// parts returns what of a tool decides what calls of it mean.
func (t *Tool) parts() []part {
	return []part{{keyInputSchema, t.InputSchema}, {keyOutputSchema, t.OutputSchema}, {keyAnnotations, t.Annotations}, {keyExecution, t.Execution}}
}
