package config

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// Setting documents one field of a configuration file.
type Setting struct {
	Name string
	// Doc says in one phrase what the field is for.
	Doc   string
	Shape Shape
	// Required is true where the field cannot be left out.
	Required bool
	// Default is what the field is without, as JSON; empty where that is
	// nothing.
	Default string
	// Values are all that the field may be, where they can be listed.
	Values []string
	// Fields are those of the map, of each map of the list, or of each entry.
	Fields []Setting
}

// Shape is what may be written in a field.
type Shape uint8

// The shapes of fields.
const (
	StringShape   Shape = iota
	BoolShape           // true or false
	CountShape          // a positive whole number
	BoundShape          // a whole number; 0 means no bound
	StringsShape        // a list of strings
	ScalarsShape        // a map of strings, numbers and booleans
	InheritShape        // true, false or a list of names
	FactorShape         // a number of at least 1
	PortShape           // 0 to 65535
	FailuresShape       // a list of strings and whole numbers
	WordsShape          // a list of strings, or one string with white space between them
	SessionShape        // a string of Values, or a map with Fields
	TokensShape         // a map from names of the user's choice to strings, or to maps with Fields
	MapShape            // a map with Fields
	ListShape           // a list of maps with Fields
	EntriesShape        // a map from names of the user's choice to maps with Fields
	SchemaShape         // a JSON Schema
	NodesShape          // a list of nodes of one tool
	FlatShape           // a list of nodes of all tools
)

// Settings gives the fields of a file, nodes excepted, in the order in which
// documentation shows them.
func Settings() []Setting { return topSettings }

var topSettings = []Setting{
	{Name: "version", Doc: "Version of the configuration language", Required: true, Values: []string{SupportedVersion}},
	{Name: "server", Doc: "What the server tells its clients about itself, who may come in, and how it serves them", Shape: MapShape, Required: true, Fields: serverSettings},
	{Name: "mcpServers", Doc: "The MCP servers that nodes call, by name", Shape: EntriesShape, Fields: entrySettings},
	{Name: "servers", Doc: "Older spelling of mcpServers", Shape: EntriesShape, Fields: entrySettings},
	{Name: "executionLimits", Doc: "Bounds of every run", Shape: MapShape, Fields: limitSettings},
	{Name: "tools", Doc: "The tools that the server offers", Shape: ListShape, Fields: toolSettings},
	{Name: "nodes", Doc: "The nodes of all tools, in the flat layout", Shape: FlatShape},
}

var limitSettings = []Setting{
	{Name: "maxNodeExecutions", Doc: "How many nodes a run may execute, the exit included", Shape: CountShape, Default: strconv.Itoa(DefaultMaxNodeExecutions)},
	{Name: "maxExecutionTimeMs", Doc: "How long a run may take, in milliseconds", Shape: CountShape, Default: milliseconds(DefaultMaxExecutionTime)},
}

var processSettings = []Setting{
	{Name: "command", Doc: "Program to start, for a server that is a child process"},
	{Name: "args", Doc: "Arguments of the program", Shape: StringsShape, Default: "[]"},
	{Name: "env", Doc: "Environment variables for the program, added to what it inherits", Shape: ScalarsShape},
	{Name: "inheritEnv", Doc: "What of the own environment the program gets: all, only what any program needs, or that and these names", Shape: InheritShape, Default: "true"},
	{Name: "cwd", Doc: "Working directory of the program"},
}

var remoteSettings = []Setting{
	{Name: "url", Doc: "Address of a server that is reached over the network"},
	{Name: "headers", Doc: "HTTP headers of each request", Shape: ScalarsShape},
	{Name: "requestInit", Doc: "Another program's place for headers", Shape: MapShape, Fields: []Setting{
		{Name: "headers", Doc: "HTTP headers of each request", Shape: ScalarsShape},
	}},
}

var commonSettings = []Setting{
	{Name: "type", Doc: "How the server is reached; by default stdio where there is a command, http where there is a url", Values: transportNames()},
	{Name: "connectTimeoutMs", Doc: "Time for starting or connecting, the handshake included, in milliseconds", Shape: CountShape, Default: milliseconds(DefaultConnectTimeout)},
	{Name: "timeoutMs", Doc: "Time of a call without any sign of life, in milliseconds", Shape: CountShape, Default: milliseconds(DefaultTimeout)},
	{Name: "maxCallTimeMs", Doc: "Time of a call, whatever happens, in milliseconds", Shape: CountShape},
	{Name: "maxConcurrency", Doc: "Calls in flight; further calls wait", Shape: BoundShape, Default: "0"},
	{Name: "maxMessageBytes", Doc: "Size of the largest reply", Shape: CountShape, Default: strconv.Itoa(DefaultMaxMessageBytes)},
	{Name: "eager", Doc: "Start with the server rather than with the first call", Shape: BoolShape, Default: "false"},
	{Name: "tools", Doc: "The tools that nodes may call", Shape: MapShape, Fields: []Setting{
		{Name: "allow", Doc: "Names or globs; all where it is left out", Shape: StringsShape},
		{Name: "deny", Doc: "Names or globs, stronger than allow", Shape: StringsShape},
	}},
	{Name: "namePrefix", Doc: "What the server puts before the names of its tools"},
}

var entrySettings = slices.Concat(processSettings, remoteSettings, commonSettings, layerSettings, credentialSettings, []Setting{sessionSetting}, foreignSettings)

var toolSettings = []Setting{
	{Name: "name", Doc: "Name of the tool", Required: true},
	{Name: "title", Doc: "Name for people"},
	{Name: "description", Doc: "What the tool does; clients choose by it"},
	{Name: "inputSchema", Doc: "JSON Schema (2020-12) of the arguments", Shape: SchemaShape, Required: true},
	{Name: "outputSchema", Doc: "JSON Schema (2020-12) of the result", Shape: SchemaShape},
	{Name: "annotations", Doc: "Hints for clients, passed on as they are", Shape: MapShape, Fields: annotationSettings},
	{Name: "icons", Doc: "Pictures for clients, passed on as they are", Shape: ListShape, Fields: iconSettings},
	{Name: "requiredScopes", Doc: "What a caller needs to be allowed, to call the tool over HTTP", Shape: StringsShape},
	{Name: "nodes", Doc: "The nodes of the tool's graph", Shape: NodesShape},
}

// Tool annotations and icons of the MCP revision of 2025-11-25.
var (
	annotationSettings = []Setting{
		{Name: "title", Doc: "Name for people"},
		{Name: "readOnlyHint", Doc: "The tool changes nothing", Shape: BoolShape},
		{Name: "destructiveHint", Doc: "What the tool changes may be lost", Shape: BoolShape},
		{Name: "idempotentHint", Doc: "Calling the tool twice is the same as once", Shape: BoolShape},
		{Name: "openWorldHint", Doc: "The tool reaches things outside the server", Shape: BoolShape},
	}
	iconSettings = []Setting{
		{Name: "src", Doc: "Address of the picture, or a data: URI", Required: true},
		{Name: "mimeType", Doc: "Type of the picture"},
		{Name: "sizes", Doc: "Sizes that it is for, such as 48x48", Shape: StringsShape},
		{Name: "theme", Doc: "Theme that it is for: light or dark"},
	}
)

func transportNames() []string { return slices.Sorted(maps.Keys(transports)) }

// names gives the names of settings.
func names(settings []Setting) []string {
	out := make([]string, len(settings))
	for i, s := range settings {
		out[i] = s.Name
	}
	return out
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
