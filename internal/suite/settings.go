package suite

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Settings returns the keys of a test file, in the order of the documentation. The
// decoder, the JSON Schema, completion and the documentation use them. The caller
// must not change them.
func Settings() []config.Setting { return fileSettings }

// maxWhole is the largest whole number that every reader of JSON keeps.
const maxWhole = 1<<53 - 1

var fileSettings = []config.Setting{
	{Name: "config", Doc: "The configuration that is tested, relative to this file; the default is this file's name without .test", Shape: config.StringShape},
	{Name: "tests", Doc: "The tests", Shape: config.ListShape, Required: true, Fields: testSettings},
	{Name: "mocks", Doc: "Mocks for every test of the file, after the test's own", Shape: config.ListShape, Fields: mockSettings},
}

var testSettings = slices.Concat([]config.Setting{
	{Name: "name", Doc: "Name of the test, unique in the file", Shape: config.StringShape, Required: true},
	{Name: "tool", Doc: "The tool to call", Shape: config.StringShape, Required: true},
}, sharedSettings, []config.Setting{
	{Name: "cases", Doc: "Runs the test once for each case; the keys of a case replace those of the test", Shape: config.ListShape, Fields: caseSettings},
})

var caseSettings = slices.Concat([]config.Setting{
	{Name: "name", Doc: "Name of the case, unique in the test", Shape: config.StringShape, Required: true},
	{Name: "tool", Doc: "The tool to call", Shape: config.StringShape},
}, sharedSettings)

// sharedSettings are what tests and cases both have.
var sharedSettings = []config.Setting{
	{Name: "skip", Doc: "Reason to leave the test out", Shape: config.StringShape},
	{Name: "vars", Doc: "Values that ${vars.NAME} stands for", Shape: config.ObjectShape},
	{Name: "arguments", Doc: "Arguments of the call", Shape: config.ObjectShape},
	{Name: "caller", Doc: "The caller, as if it was authenticated", Shape: config.MapShape, Fields: callerSettings},
	{Name: "headers", Doc: "HTTP headers of the call", Shape: config.ScalarsShape},
	{Name: "meta", Doc: "The _meta of the call", Shape: config.ObjectShape},
	{Name: "now", Doc: "Time at which the test begins, in the form of RFC 3339, from 2000 to 2199", Shape: config.StringShape, Default: `"` + defaultNow + `"`},
	{Name: "seed", Doc: "Seed of $random, $shuffle and the delays of retries", Shape: config.BoundShape, Max: maxWhole, Default: "1"},
	{Name: "answers", Doc: "Answers to questions by the id of the node: what is filled in, what the model says, or the roots; accept, decline or cancel; or a list, one after the other", Shape: config.ObjectShape},
	{Name: "mocks", Doc: "Answers to the calls of upstream tools; the first mock that fits a call answers it", Shape: config.ListShape, Fields: mockSettings},
	{Name: "cassette", Doc: "File of recorded exchanges that answer instead of the servers, relative to this file", Shape: config.StringShape},
	{Name: "redact", Doc: "JSONata paths to values of recorded arguments and replies that are replaced", Shape: config.StringsShape},
	{Name: "timeoutMs", Doc: "Real time that the test may take", Shape: config.DurationShape, Default: "10000"},
	{Name: "expect", Doc: "What must hold; without it, the run must end well", Shape: config.MapShape, Fields: expectSettings},
}

var callerSettings = []config.Setting{
	{Name: "name", Doc: "Name of the caller", Shape: config.StringShape},
	{Name: "scopes", Doc: "Scopes that the caller has been granted; without this key, all", Shape: config.StringsShape},
}

var mockSettings = []config.Setting{
	{Name: "server", Doc: "Name of the server; * stands for any characters", Shape: config.StringShape, Required: true},
	{Name: "tool", Doc: "Name of the upstream tool; * stands for any characters", Shape: config.StringShape, Required: true},
	{Name: "arguments", Doc: "Arguments that must be equal in the call; the call may have more", Shape: config.ObjectShape},
	{Name: "reply", Doc: "The reply to each call", Shape: config.MapShape, Fields: replySettings},
	{Name: "replies", Doc: "Replies to one call after the other; the last one is repeated", Shape: config.ListShape, Fields: replySettings},
	{Name: "delayMs", Doc: "How long a reply takes, on the clock of the test", Shape: config.BoundShape, Default: "0"},
	{Name: "times", Doc: "How often the mock must be called; 0 means never, {min, max} bounds it", Shape: config.BoundShape, Or: []config.Setting{
		{Shape: config.MapShape, Fields: timesSettings},
	}},
}

var timesSettings = []config.Setting{
	{Name: "min", Doc: "Fewest calls", Shape: config.BoundShape, Default: "0"},
	{Name: "max", Doc: "Most calls; further ones go to the next mock", Shape: config.BoundShape},
}

var replySettings = []config.Setting{
	{Name: "text", Doc: "A text block", Shape: config.TextShape},
	{Name: "json", Doc: "A text block with this value as JSON", Shape: config.ValueShape},
	{Name: "structured", Doc: "structuredContent, and a text block with it as JSON", Shape: config.ObjectShape},
	{Name: "content", Doc: "The content blocks", Shape: config.ArrayShape},
	{Name: "result", Doc: "The whole result of tools/call", Shape: config.ObjectShape},
	{Name: "error", Doc: "A result with isError and this text", Shape: config.TextShape},
	{Name: "failure", Doc: "A failure of the call: connect, closed, timeout, malformed, an HTTP status such as 503, or a JSON-RPC code such as -32001", Shape: config.TextShape},
	{Name: "expr", Doc: "JSONata over $arguments that returns a reply in one of these forms", Shape: config.StringShape},
	{Name: "delayMs", Doc: "How long the reply takes, on the clock of the test", Shape: config.BoundShape, Default: "0"},
}

// replyForms are the keys of which a reply has exactly one.
var replyForms = []string{"text", "json", "structured", "content", "result", "error", "failure", "expr"}

var expectSettings = []config.Setting{
	{Name: "result", Doc: "The result of the tool", Shape: config.ValueShape},
	{Name: "matches", Doc: "A part of the result", Shape: config.ValueShape},
	{Name: "expr", Doc: "JSONata over {result, error, path, calls, outputs} that must be true; one or a list", Shape: config.StringShape, Or: []config.Setting{
		{Shape: config.StringsShape},
	}},
	{Name: "error", Doc: "A part of the error with which the run fails", Shape: config.ObjectShape},
	{Name: "path", Doc: "Ids of the nodes in the order in which they ran; a body is {id: [[…], …]} by items or {id: {branch: […]}}", Shape: config.ArrayShape},
	{Name: "calls", Doc: "The calls of upstream tools in their order, each with the keys to compare", Shape: config.ArrayShape},
	{Name: "outputs", Doc: "Latest outputs by the id of the node", Shape: config.ObjectShape},
	{Name: "attempts", Doc: "How many attempts nodes made, by id", Shape: config.ObjectShape},
	{Name: "durationMs", Doc: "How long the run took, on the clock of the test; in milliseconds", Shape: config.ValueShape},
	{Name: "snapshot", Doc: "Compares with the snapshot in __snapshots__", Shape: config.BoolShape, Default: "false"},
}
