package config

import (
	"path/filepath"
	"time"
)

// EngineTemporal is the type of an Engine that keeps runs on Temporal.
const EngineTemporal = "temporal"

// Engine is where the runs of the tools are kept.
type Engine struct {
	Type string // EngineTemporal
	// Address is that of Temporal, HOST:PORT; TaskQueue is the beginning of the names
	// of all task queues; Storage is a folder for large values. They are empty if the
	// file does not set them, and so is APIKey.
	Address, Namespace, TaskQueue, Storage, APIKey string
	TLS                                            *EngineTLS // nil: none
	// Servers are those whose calls only workers make that name them, and ServerWait is
	// how long such a call waits for one. Node is the entry as it is written.
	Servers    []string
	ServerWait time.Duration
	Node       *Node
}

// EngineTLS says how the connection to Temporal is secured. The files are relative to
// the working directory.
type EngineTLS struct{ CA, Cert, Key, ServerName string }

var engineSettings = []Setting{
	{Name: "type", Doc: "Where runs are kept", Required: true, Values: []string{EngineTemporal}},
	{Name: "address", Doc: "Address of Temporal, HOST:PORT", Default: "localhost:7233"},
	{Name: "namespace", Doc: "Namespace of Temporal", Default: "default"},
	{Name: "taskQueue", Doc: "Beginning of the names of all task queues", Default: "mcpgraph"},
	{Name: "storage", Doc: "Folder for values that are too large for Temporal, which all clients and workers share; relative to the configuration file"},
	{Name: "apiKey", Doc: "API key of Temporal Cloud; implies tls", Secret: true},
	{Name: "servers", Doc: "Upstream servers with workers of their own: only workers with --servers call them", Shape: StringsShape},
	{Name: "serverWaitMs", Doc: "How long a call of such a server waits for a worker, in milliseconds", Shape: DurationShape, Default: "240000"},
	{Name: "tls", Doc: "Connect with TLS; {} verifies the certificate by the authorities of the system", Shape: MapShape, Fields: []Setting{
		{Name: "ca", Doc: "File with the certificate authorities to trust; relative to the configuration file"},
		{Name: "cert", Doc: "File with the client's certificate; relative to the configuration file"},
		{Name: "key", Doc: "File with the private key of cert; relative to the configuration file"},
		{Name: "serverName", Doc: "Name that the certificate must have; by default the host"},
	}},
}

// decodeEngine decodes "engine".
func decodeEngine(d *decoder, n *Node) {
	s := d.newSection(n, `"engine"`, engineSettings, &d.file.Server.Secrets)
	e := &Engine{
		Type: s.choice("type"), Address: s.string("address"), Namespace: s.string("namespace"),
		TaskQueue: s.string("taskQueue"), Storage: besideFile(d, s.string("storage")), APIKey: s.string("apiKey"),
		Servers: s.strings("servers"), ServerWait: s.duration("serverWaitMs"), Node: n,
	}
	if t := s.subsection("tls"); t != nil {
		e.TLS = &EngineTLS{
			CA: besideFile(d, t.string("ca")), Cert: besideFile(d, t.string("cert")), Key: besideFile(d, t.string("key")),
			ServerName: t.string("serverName"),
		}
		for name, other := range map[string]string{"cert": "key", "key": "cert"} {
			if t.has(name) && !t.has(other) {
				t.reportMissing(*t.setting(other))
			}
		}
	}
	d.file.Engine = e
}

// besideFile returns a path of the file as the process finds it.
func besideFile(d *decoder, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(d.file.Path), path)
}
