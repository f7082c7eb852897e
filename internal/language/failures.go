package language

import "github.com/mcpgraph/mcpgraph/pkg/graph"

// failureNames returns the names that rules for failures can have in every file,
// and what they mean.
func failureNames() [][2]string {
	return [][2]string{
		{graph.AllFailures, "Every failure that can be handled"},
		{graph.FailToolError, "The tool answered with isError"},
		{graph.FailConnect, "No connection to the server"},
		{graph.FailClosed, "The connection ended"},
		{graph.FailTimeout, "A call or a node took too long"},
		{graph.FailMalformed, "The reply is not what MCP has"},
		{graph.FailDenied, "Credentials are refused or missing"},
		{graph.FailBusy, "An open circuit breaker, no turn in time, or too many parked runs"},
		{graph.FailProtocol, "Any other JSON-RPC error or HTTP status"},
		{graph.FailOutput, "The reply lacks what output asks for"},
		{graph.FailExpression, "An expression or rule failed"},
		{graph.FailNoRoute, "A switch without a rule that is true and without a default"},
		{graph.FailArguments, "The arguments do not fit the schema of a called tool"},
		{graph.FailResult, "The result of a called tool does not fit its schema"},
		{graph.FailTooMany, "Too many items of a map failed"},
		{graph.FailDeclined, "A person refused"},
		{graph.FailCannotAsk, "The client cannot be asked"},
		{graph.FailAnswer, "The answer does not fit the schema of the question"},
	}
}
