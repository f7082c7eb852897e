// Package jsonschema is github.com/santhosh-tekuri/jsonschema/v6 with one change,
// metaschemas.patch: metaschemas are compiled when they are first used, not at the start
// of each program. Its licence is in LICENSE. The package goes when that module has the
// change. Its package kind is imported from the module, and so not here.
package jsonschema
