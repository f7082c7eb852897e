package config

// completeForms are the forms of "complete": a list of values, or an expression.
var completeForms = Setting{
	Name: "complete", Doc: "Values that clients suggest while a person types: a list, or an expression over the arguments known so far",
	Shape: StringsShape, Or: []Setting{{Shape: ExprShape}},
}

var promptSettings = []Setting{
	{Name: "name", Doc: "Name of the prompt", Required: true},
	{Name: "title", Doc: "Name that clients show to people"},
	{Name: "description", Doc: "What the prompt is for"},
	{Name: "arguments", Doc: "Arguments of the prompt; their values are strings", Shape: ListShape, Fields: argumentSettings},
	{Name: "icons", Doc: "Icons for clients, passed on unchanged", Shape: ListShape, Fields: iconSettings},
	{Name: "requiredScopes", Doc: "Scopes that a caller over HTTP needs to get the prompt", Shape: StringsShape},
	{Name: "messages", Doc: "Messages of the prompt, with expressions over its arguments; instead of nodes", Shape: ListShape, Fields: messageSettings},
	{Name: "catch", Doc: "Where to go after a failure that no rule of the failed node handles", Shape: CatchShape},
	{Name: "nodes", Doc: "Nodes of the prompt's graph, whose result is the messages; instead of messages", Shape: NodesShape},
}

var argumentSettings = []Setting{
	{Name: "name", Doc: "Name of the argument", Required: true},
	{Name: "title", Doc: "Name that clients show to people"},
	{Name: "description", Doc: "What the argument is"},
	{Name: "required", Doc: "The prompt cannot be used without the argument", Shape: BoolShape, Default: "false"},
	completeForms,
}

// MessageRoles are who a message of a prompt can be from (MCP 2025-11-25, Prompts).
var MessageRoles = []string{"user", "assistant"}

var messageSettings = []Setting{
	{Name: "role", Doc: "Who the message is from", Required: true, Values: MessageRoles},
	{Name: "text", Doc: "Text of the message, or an expression for it", Or: []Setting{{Shape: ExprShape}}},
	{Name: "content", Doc: "Content of the message if it is no text: an image, audio, a resource or a link to one, with expressions in it; instead of text", Shape: ObjectShape},
}

var resourceSettings = []Setting{
	{Name: "name", Doc: "Name of the resource", Required: true},
	{Name: "uri", Doc: "URI of the resource"},
	{Name: "uriTemplate", Doc: "URI template (RFC 6570) of a family of resources; its variables are the arguments of the graph; instead of uri"},
	{Name: "title", Doc: "Name that clients show to people"},
	{Name: "description", Doc: "What the resource holds"},
	{Name: "mimeType", Doc: "MIME type of the contents; by default application/json, and none for text"},
	{Name: "annotations", Doc: "Hints for clients, passed on unchanged", Shape: MapShape, Fields: resourceAnnotationSettings},
	{Name: "icons", Doc: "Icons for clients, passed on unchanged", Shape: ListShape, Fields: iconSettings},
	{Name: "requiredScopes", Doc: "Scopes that a caller over HTTP needs to read the resource", Shape: StringsShape},
	{Name: "complete", Doc: "Values that clients suggest for a variable of uriTemplate, by its name: a list, or an expression", Shape: CompleteShape},
	{Name: "subscribe", Doc: "Let clients subscribe to the resource", Shape: MapShape, Fields: subscribeSettings},
	{Name: "catch", Doc: "Where to go after a failure that no rule of the failed node handles", Shape: CatchShape},
	{Name: "nodes", Doc: "Nodes of the resource's graph, whose result is the contents", Shape: NodesShape, Required: true},
}

// Annotations of resources (MCP 2025-11-25, Resources, Annotations).
var resourceAnnotationSettings = []Setting{
	{Name: "audience", Doc: "Who the resource is for", Shape: StringsShape, Values: MessageRoles},
	{Name: "priority", Doc: "How important the resource is, up to 1", Shape: FractionShape},
	{Name: "lastModified", Doc: "When the resource was last changed, in ISO 8601"},
}

var subscribeSettings = []Setting{
	{Name: "everyMs", Doc: "How often the graph runs again while somebody is subscribed; subscribers hear of a changed result", Shape: DurationShape, Required: true},
}

var passthroughSettings = []Setting{
	{Name: "server", Doc: "Name of the upstream server, as under mcpServers", Required: true},
	{Name: "prompts", Doc: "Prompts to offer, by name; * stands for any characters", Shape: StringsShape},
	{Name: "resources", Doc: "Resources to offer, by URI; * stands for any characters", Shape: StringsShape},
	{Name: "prefix", Doc: "Text before the names of prompts and resources; by default none"},
}
