package diag

import "slices"

// The codes of everything that validation finds. A code never changes its
// meaning; docs/diagnostics.md has an example of each.
const (
	// Reading the file.

	CodeFile             = "unreadable-file"
	CodeEncoding         = "bad-encoding"
	CodeSyntax           = "yaml-syntax"
	CodeEmpty            = "empty-file"
	CodeDocuments        = "several-documents"
	CodeAlias            = "unknown-alias"
	CodeAliasBomb        = "alias-bomb"
	CodeDepth            = "too-deep"
	CodeMerge            = "bad-merge"
	CodeTag              = "bad-tag"
	CodeKey              = "bad-key"
	CodeNumber           = "not-json"
	CodeDuplicateKey     = "duplicate-key"
	CodeType             = "wrong-type"
	CodeValue            = "bad-value"
	CodeMissing          = "missing-field"
	CodeMisspelt         = "misspelt-field"
	CodeUnknownField     = "unknown-field"
	CodeMeaningless      = "meaningless-field"
	CodeConflict         = "conflicting-fields"
	CodeVersion          = "bad-version"
	CodeDuplicateTool    = "duplicate-tool"
	CodeToolName         = "tool-name"
	CodeDuplicateOffer   = "duplicate-offer"
	CodeNoDescription    = "no-description"
	CodeLimit            = "bad-limit"
	CodeEnvironment      = "unset-variable"
	CodeSubstitution     = "bad-substitution"
	CodeTransport        = "bad-transport"
	CodeServerIncomplete = "incomplete-server"
	CodeRelativePath     = "relative-path"
	CodeCommandLine      = "command-line"
	CodePassthrough      = "token-passthrough"
	CodeLiteralToken     = "literal-token"
	CodeUnheldScope      = "unheld-scope"
)

// CodeInfo describes one code: what it is about, in one sentence without a full
// stop, and how bad it is.
type CodeInfo struct {
	Code     string
	Severity Severity
	Summary  string
}

// Codes lists every code, in the order of docs/diagnostics.md.
var Codes = slices.Concat(fileCodes, graphCodes, lockCodes, liveCodes)

// fileCodes describes the codes of reading a file and of everything in it but
// nodes.
var fileCodes = []CodeInfo{
	{CodeFile, Error, "A file cannot be read"},
	{CodeEncoding, Error, "A file is not UTF-8 or contains characters that YAML does not allow"},
	{CodeSyntax, Error, "The file is not valid YAML"},
	{CodeEmpty, Error, "The file is empty"},
	{CodeDocuments, Error, "The file contains more than one YAML document"},
	{CodeAlias, Error, "An alias names an anchor that is not defined before it, or that contains the alias"},
	{CodeAliasBomb, Error, "The aliases of the file expand to too many values"},
	{CodeDepth, Error, "The file is nested too deeply"},
	{CodeMerge, Error, "The value of a merge key is not a map"},
	{CodeTag, Error, "A YAML tag is unknown or does not fit its value"},
	{CodeKey, Error, "The key of a map is a list or a map"},
	{CodeNumber, Error, "JSON cannot represent a number, such as infinity"},
	{CodeDuplicateKey, Error, "A map has the same key twice"},
	{CodeType, Error, "A value has the wrong type"},
	{CodeValue, Error, "A value has the right type but is not valid"},
	{CodeMissing, Error, "A required field is missing"},
	{CodeMisspelt, Error, "A field is unknown, and its name looks like a typo"},
	{CodeUnknownField, Warning, "A field is unknown and is ignored"},
	{CodeMeaningless, Warning, "A field is known but has no effect here"},
	{CodeConflict, Error, "Two fields exclude each other"},
	{CodeVersion, Error, "The version of the configuration language is not supported"},
	{CodeDuplicateTool, Error, "Two tools have the same name"},
	{CodeToolName, Warning, "Clients may reject the name of a tool or prompt"},
	{CodeDuplicateOffer, Error, "Two prompts, two arguments of a prompt, or two resources have the same name or URI"},
	{CodeNoDescription, Warning, "A tool has no description"},
	{CodeLimit, Error, "A limit is not a positive whole number"},
	{CodeEnvironment, Error, "An environment variable without a default is not set"},
	{CodeSubstitution, Error, "A ${…} is not well formed"},
	{CodeTransport, Error, "The type of an upstream server is unknown"},
	{CodeServerIncomplete, Error, "An upstream server has neither a command nor a url"},
	{CodeCommandLine, Warning, "The command of an upstream server is a whole command line"},
	{CodeRelativePath, Warning, "A path of an upstream server depends on the folder in which mcpgraph is started"},
	{CodePassthrough, Error, "The caller's own token would be forwarded to an upstream server"},
	{CodeLiteralToken, Warning, "The token of a caller is written in the file"},
	{CodeUnheldScope, Warning, "A tool requires a scope that no caller has"},
}

// Codes of the lock file.
const (
	CodeLock   = "bad-lock"
	CodeNoLock = "no-lock"

	CodeNotLocked  = "not-locked"
	CodeAnnotation = "wrong-annotation"
)

// lockCodes describes the codes of the lock file.
var lockCodes = []CodeInfo{
	{CodeLock, Error, "The lock file cannot be used"},
	{CodeNoLock, Error, "There is no lock file, and one is required"},
	{CodeNotLocked, Error, "A node calls a tool that is not in the lock file"},
	{CodeAnnotation, Warning, "The annotations of a tool promise more than the lock file says of what it calls"},
}

// Codes of checks against the running servers.
const (
	CodeServerDown = "unreachable-server"
	CodeServerTool = "unknown-server-tool"
	CodeArguments  = "bad-arguments"
	CodeToolSchema = "unusable-schema"
	CodeTaskOnly   = "task-only"
)

// liveCodes describes the codes of validation against running servers.
var liveCodes = []CodeInfo{
	{CodeServerDown, Error, "mcpgraph cannot connect to an upstream server"},
	{CodeServerTool, Error, "A node calls a tool that its server does not have"},
	{CodeArguments, Error, "The arguments of a call do not match the tool's inputSchema"},
	{CodeTaskOnly, Error, "A node calls a tool that can only be called as a task, of a server without tasks"},
	{CodeToolSchema, Warning, "The inputSchema of a tool that a node calls does not compile"},
}

// SeverityOf returns the severity of a code; Error for one that is not listed.
func SeverityOf(code string) Severity {
	i := slices.IndexFunc(Codes, func(c CodeInfo) bool { return c.Code == code })
	if i < 0 {
		return Error
	}
	return Codes[i].Severity
}
