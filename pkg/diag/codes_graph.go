package diag

const (
	// Nodes and what is in them.

	CodeNodeType       = "unknown-node-type"
	CodeDuplicateNode  = "duplicate-node"
	CodeExpression     = "bad-expression"
	CodeRule           = "bad-rule"
	CodeFunction       = "unknown-function"
	CodeVariable       = "unbound-variable"
	CodeCall           = "bad-call"
	CodeOddCharacter   = "odd-character"
	CodeConstantRule   = "constant-rule"
	CodeUnknownServer  = "unknown-server"
	CodeDisabledServer = "disabled-server"
	CodeToolFilter     = "tool-not-allowed"
	CodeUnusedServer   = "unused-server"
	CodeNoDefault      = "no-default"
	CodeQuotedID       = "quoted-id"
	CodeLiteral        = "literal-expression"

	// The way through a graph.

	CodeUnknownNode     = "unknown-node"
	CodeForeignNode     = "foreign-node"
	CodeUnknownTool     = "unknown-tool"
	CodeNoEntry         = "no-entry"
	CodeSeveralEntries  = "several-entries"
	CodeNoExit          = "no-exit"
	CodeSeveralExits    = "several-exits"
	CodeExitUnreachable = "exit-unreachable"
	CodeUnreachable     = "unreachable-node"
	CodeDeadEnd         = "dead-end"

	// What values can be.

	CodeUnknownReference = "unknown-reference"
	CodeEarlyReference   = "early-reference"
	CodeUnknownProperty  = "unknown-property"
	CodeSchema           = "bad-schema"
	CodeKeyword          = "unknown-keyword"
	CodeRequired         = "unknown-required"
	CodeImpossible       = "impossible-value"
)

// graphCodes describes the codes of nodes and graphs.
var graphCodes = []CodeInfo{
	{CodeNodeType, Error, "A node has a type that does not exist"},
	{CodeDuplicateNode, Error, "Two nodes have the same id"},
	{CodeExpression, Error, "A JSONata expression does not compile"},
	{CodeRule, Error, "A JSON Logic rule does not compile, or names an unknown operator"},
	{CodeFunction, Warning, "An expression calls a function that does not exist"},
	{CodeVariable, Warning, "An expression reads a variable that nothing gives a value"},
	{CodeCall, Warning, "A function or operator is given arguments that it never takes"},
	{CodeOddCharacter, Warning, "A name in an expression has a character in it that looks like a space or quotation mark"},
	{CodeConstantRule, Warning, "A rule has the same outcome in every run"},
	{CodeUnknownServer, Error, "A node names an upstream server that does not exist"},
	{CodeDisabledServer, Error, "A node calls an upstream server that is disabled"},
	{CodeToolFilter, Error, "A node calls a tool that the settings of its server do not allow"},
	{CodeUnusedServer, Warning, "No node calls an upstream server"},
	{CodeNoDefault, Warning, "A switch has no default; where no rule is true the run fails"},
	{CodeQuotedID, Info, "A node's id can be written in an expression only in back-quotes, or not at all"},
	{CodeLiteral, Warning, "A text that is sent as it is looks like an expression"},
	{CodeUnknownNode, Error, "An edge leads to a node that does not exist"},
	{CodeForeignNode, Error, "An edge leads to a node that belongs to another tool"},
	{CodeUnknownTool, Error, "An entry or exit node is for a tool that does not exist"},
	{CodeNoEntry, Error, "A tool has no entry node"},
	{CodeSeveralEntries, Error, "A tool has more than one entry node"},
	{CodeNoExit, Error, "A tool has no exit node"},
	{CodeSeveralExits, Error, "A tool has more than one exit node"},
	{CodeExitUnreachable, Error, "No way leads from a tool's entry to its exit"},
	{CodeUnreachable, Warning, "No way leads from the entry to a node"},
	{CodeDeadEnd, Warning, "A loop of nodes has no way out to the exit"},
	{CodeUnknownReference, Warning, "An expression reads a node that does not exist"},
	{CodeEarlyReference, Warning, "An expression reads a node that cannot have run before it"},
	{CodeUnknownProperty, Warning, "An expression reads a property that its node's output does not have"},
	{CodeSchema, Error, "A JSON Schema does not compile"},
	{CodeKeyword, Warning, "A JSON Schema has a keyword that is nearly one that exists, or holds its own value"},
	{CodeRequired, Warning, "A JSON Schema requires a property that it does not describe"},
	{CodeImpossible, Warning, "A value that is written in the file can never fit a schema of the file"},
}
