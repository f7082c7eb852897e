package config

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting describes one field of a configuration file. The decoders, the JSON
// Schema for editors and the tables in the documentation all use it.
type Setting struct {
	Name string
	// Doc describes in one phrase what the field is for.
	Doc   string
	Shape Shape
	// Required reports whether the field must be present.
	Required bool
	// For lists the values of "type", or of "flow", with which the field has a
	// meaning; nil means all. RequiredFor lists those with which it is required.
	For, RequiredFor []string
	// Default is the value of an absent field, as JSON; empty if there is none.
	Default string
	// Values are the possible values, if they can be listed.
	Values []string
	// Fields are the fields of the map, of each map in the list, or of each entry.
	Fields []Setting
	// Or are other forms of the field. Only their Shape and Fields count.
	Or []Setting
	// Max is the largest number; 0 means the largest of the Shape.
	Max int64
	// Secret reports whether the value must not appear in output.
	Secret bool
}

// Shape is the form of a setting's value.
type Shape uint8

// The shapes of settings.
const (
	StringShape       Shape = iota
	URLShape                // a string; variables in it are percent-encoded
	SecureURLShape          // a URL that begins with https, or with http on a loopback host
	BoolShape               // true or false
	CountShape              // a positive whole number
	BoundShape              // a whole number; 0 means no bound
	DurationShape           // a positive whole number of milliseconds
	FactorShape             // a number from 1 to 100
	PortShape               // a whole number from 0 to 65535
	StringsShape            // a list of strings
	ScalarsShape            // a map of strings, numbers and booleans
	TextsShape              // a list of strings, numbers and booleans
	FailuresShape           // a list of strings and numbers
	WordsShape              // a list of strings, or one string with white space between the words
	TokensShape             // a map from names of the user's choice to strings, or to maps with Fields
	MapShape                // a map with Fields
	ListShape               // a list of maps with Fields
	EntriesShape            // a map from names of the user's choice to maps with Fields
	ObjectSchemaShape       // a JSON Schema that is a map
	AnySchemaShape          // a JSON Schema: a map or a boolean
	NodesShape              // a list of nodes of one tool
	FlatNodesShape          // a list of nodes of all tools
	CatchShape              // rules for failures
	ShareShape              // a whole number, 0 or more, or a percentage such as "10%"
	TextShape               // a string, number or boolean
	ValueShape              // any value
	ObjectShape             // a map with any keys and values
	ArrayShape              // a list of any values
	FractionShape           // a number from 0 to 1
	ExprShape               // a map whose only key is expr
	CompleteShape           // a map from names of the user's choice to lists of strings or expressions
)

// Range returns the smallest and the largest number of a setting; ok is false
// if its value is not a number.
func (s *Setting) Range() (lowest, highest int64, ok bool) {
	switch s.Shape {
	case CountShape:
		lowest, highest = 1, math.MaxInt32
	case BoundShape:
		lowest, highest = 0, math.MaxInt32
	case DurationShape:
		lowest, highest = 1, maxMilliseconds
	case FactorShape:
		lowest, highest = 1, 100
	case FractionShape:
		lowest, highest = 0, 1
	case PortShape:
		lowest, highest = 0, math.MaxUint16
	default:
		return 0, 0, false
	}
	if s.Max != 0 {
		highest = s.Max
	}
	return lowest, highest, true
}

// isWhole reports whether the numbers of a shape have no fraction.
func (s Shape) isWhole() bool { return s != FactorShape && s != FractionShape }

// Description returns Doc with the unit, and the types that the setting is for.
func (s *Setting) Description() string {
	text := s.Doc
	if s.Shape == DurationShape {
		text += "; in milliseconds"
	}
	if s.For != nil {
		text += "; only with " + strings.Join(s.For, " or ")
	}
	return text
}

// maxMilliseconds is the longest time that a time.Duration can hold.
const maxMilliseconds = int64(math.MaxInt64 / time.Millisecond)

// appliesTo reports whether the setting has a meaning with one of these values
// of "type" and "flow".
func (s *Setting) appliesTo(selected []string) bool {
	return s.For == nil || slices.ContainsFunc(s.For, func(v string) bool { return slices.Contains(selected, v) })
}

// Settings returns the fields of a file, without those of nodes, in the order
// of the documentation. The caller must not change them.
func Settings() []Setting { return topSettings }

var topSettings = []Setting{
	{Name: "version", Doc: "Version of the configuration language", Required: true, Values: []string{SupportedVersion}},
	{Name: "server", Doc: "Name of the server, access over HTTP, and limits for concurrent calls", Shape: MapShape, Required: true, Fields: serverSettings},
	{Name: "mcpServers", Doc: "Upstream MCP servers that nodes call, by name", Shape: EntriesShape, Fields: upstreamSettings},
	{Name: "servers", Doc: "Older name of mcpServers", Shape: EntriesShape, Fields: upstreamSettings},
	{Name: "executionLimits", Doc: "Limits of each run", Shape: MapShape, Fields: limitSettings},
	{Name: "engine", Doc: "Where runs are kept; by default in the process", Shape: MapShape, Fields: engineSettings},
	{Name: "tools", Doc: "The tools that the server offers", Shape: ListShape, Fields: toolSettings},
	{Name: "nodes", Doc: "Nodes of all tools, in the flat layout", Shape: FlatNodesShape},
	{Name: "prompts", Doc: "The prompts that the server offers", Shape: ListShape, Fields: promptSettings},
	{Name: "resources", Doc: "The resources that the server offers", Shape: ListShape, Fields: resourceSettings},
	{Name: "passthrough", Doc: "Prompts and resources of upstream servers, offered as they are", Shape: ListShape, Fields: passthroughSettings},
}

var limitSettings = []Setting{
	{Name: "maxNodeExecutions", Doc: "Largest number of node executions in a run, including the exit", Shape: CountShape, Default: strconv.Itoa(DefaultMaxNodeExecutions)},
	{Name: "maxTotalExecutions", Doc: "Largest number of node executions in a run, together with all bodies and called tools", Shape: CountShape, Default: strconv.Itoa(DefaultMaxTotalExecutions)},
	{Name: "maxCallDepth", Doc: "Largest depth of tools that call tools; the client's call is 1", Shape: CountShape, Max: maxCallDepth, Default: strconv.Itoa(DefaultMaxCallDepth)},
	{Name: "maxExecutionTimeMs", Doc: "Timeout of a run", Shape: DurationShape, Default: milliseconds(DefaultMaxExecutionTime)},
}

// names returns the names of settings.
func names(settings []Setting) []string {
	out := make([]string, len(settings))
	for i, s := range settings {
		out[i] = s.Name
	}
	return out
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
