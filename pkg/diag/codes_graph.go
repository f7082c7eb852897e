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
	CodeComputedCall   = "computed-call"
	CodeOddCharacter   = "odd-character"
	CodeForeign        = "foreign-form"
	CodeAssumedField   = "assumed-field"
	CodeConstantRule   = "constant-rule"
	CodeUnknownServer  = "unknown-server"
	CodeDisabledServer = "disabled-server"
	CodeToolFilter     = "tool-not-allowed"
	CodeUnusedServer   = "unused-server"
	CodeNoDefault      = "no-default"
	CodeQuotedID       = "quoted-id"
	CodeLiteral        = "literal-expression"

	// Failures, and nodes inside of nodes.

	CodeUnknownFailure  = "unknown-failure"
	CodeDoubleRetry     = "double-retry"
	CodeRuleUnreachable = "unreachable-rule"
	CodeNoNodes         = "no-nodes"
	CodeBodyEdge        = "body-edge"
	CodeLooseNode       = "loose-node"
	CodeHiddenNode      = "hidden-node"
	CodeUnknownVariable = "unknown-variable"

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
	CodeClientSchema     = "client-schema"
	CodeRequired         = "unknown-required"
	CodeImpossible       = "impossible-value"
)

// graphCodes describes the codes of nodes and graphs.
var graphCodes = []CodeInfo{
	{CodeNodeType, Error, "The type of a node is unknown"},
	{CodeDuplicateNode, Error, "Two nodes have the same id"},
	{CodeExpression, Error, "A JSONata expression does not compile"},
	{CodeRule, Error, "A JSON Logic rule does not compile, or names an unknown operator"},
	{CodeFunction, Warning, "An expression calls a function that does not exist"},
	{CodeVariable, Warning, "An expression reads a variable that has no value"},
	{CodeCall, Warning, "A function or operator gets arguments that it does not accept"},
	{CodeComputedCall, Error, "The tool that $call calls is not written as a literal text"},
	{CodeOddCharacter, Warning, "A name in an expression, or text in YAML, contains a character that looks like a space or quotation mark"},
	{CodeForeign, Warning, "An expression has a form of another language, which does something else here"},
	{CodeAssumedField, Info, "An expression reads a field that every value has in other languages, such as length"},
	{CodeConstantRule, Warning, "A rule has the same outcome in every run"},
	{CodeUnknownServer, Error, "A node names an upstream server that does not exist"},
	{CodeDisabledServer, Error, "A node calls an upstream server that is disabled"},
	{CodeToolFilter, Error, "A node calls a tool that the settings of its server do not allow"},
	{CodeUnusedServer, Warning, "No node calls an upstream server"},
	{CodeNoDefault, Warning, "A switch has no default; the run fails if no rule is true"},
	{CodeQuotedID, Info, "Expressions must write a node's id in back-quotes, or cannot write it"},
	{CodeLiteral, Warning, "Text that is sent unchanged looks like an expression"},
	{CodeUnknownFailure, Error, "A rule names a failure that does not exist, or that cannot be handled"},
	{CodeDoubleRetry, Warning, "A node and its server both retry calls"},
	{CodeRuleUnreachable, Warning, "A rule of catch or retry never applies, because of the rules before it"},
	{CodeNoNodes, Error, "A body has no nodes"},
	{CodeBodyEdge, Error, "An edge leads into a body or out of one"},
	{CodeLooseNode, Error, "Nothing leads to a node of a body"},
	{CodeHiddenNode, Error, "An expression reads a node in another body"},
	{CodeUnknownVariable, Error, "An expression reads an unknown variable that looks like a typo"},
	{CodeUnknownNode, Error, "An edge leads to a node that does not exist"},
	{CodeForeignNode, Error, "An edge leads to a node that belongs to another tool"},
	{CodeUnknownTool, Error, "A node is for, or calls, a tool that does not exist in the file"},
	{CodeNoEntry, Error, "A tool has no entry node"},
	{CodeSeveralEntries, Error, "A tool has more than one entry node"},
	{CodeNoExit, Error, "A tool has no exit node"},
	{CodeSeveralExits, Error, "A tool has more than one exit node"},
	{CodeExitUnreachable, Error, "A tool's exit cannot be reached from its entry"},
	{CodeUnreachable, Warning, "A node cannot be reached from the entry"},
	{CodeDeadEnd, Warning, "A loop of nodes, or of tools that call one another, never reaches the exit"},
	{CodeUnknownReference, Warning, "An expression reads a node that does not exist"},
	{CodeEarlyReference, Warning, "An expression reads a node that cannot have run before it"},
	{CodeUnknownProperty, Warning, "An expression reads a property that its node's output does not have"},
	{CodeSchema, Error, "A JSON Schema does not compile"},
	{CodeKeyword, Warning, "A JSON Schema has an unknown keyword that looks like a typo"},
	{CodeClientSchema, Warning, "Known clients cannot read the outputSchema of a tool, and refuse all tools"},
	{CodeRequired, Warning, "A JSON Schema requires a property that it does not describe"},
	{CodeImpossible, Warning, "A value in the file never matches a schema in the file"},
}
