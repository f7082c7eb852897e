package server_test

import "strings"

const hostilePing = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// hostileMessage is what no honest client sends, and the answer to it over HTTP in
// a session of revision 2025-03-26.
type hostileMessage struct {
	name, body string
	status     int
	has        string // in the answer
}

func hostileMessages() []hostileMessage {
	request := func(id, method, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":` + method + `,"params":` + params + `}`
	}
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []hostileMessage{
		{"nothing", ``, 400, "-32700"},
		{"100,000 brackets", strings.Repeat("[", 100_000), 400, "-32700"},
		{"100,000 nested lists", deep(100_000), 400, "-32700"},
		{"100,000 nested objects", strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), 400, "-32700"},
		{"deep arguments", request("1", `"tools/call"`, `{"name":"echo","arguments":{"a":`+deep(900)+`}}`), 200, `[[[[`},
		{"too deep arguments", request("1", `"tools/call"`, `{"name":"echo","arguments":{"a":`+deep(20_000)+`}}`), 400, "-32700"},
		{"deep _meta", request("1", `"tools/call"`, `{"name":"echo","_meta":{"a":`+deep(900)+`}}`), 200, `"result"`},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}", 400, "byte 34 (/method): a byte that is not UTF-8"},
		{"invalid UTF-8 in arguments", request("1", `"tools/call"`, "{\"name\":\"echo\",\"arguments\":{\"a\":\"\xc3\x28\"}}"), 400, "(/params/arguments/a): a byte that is not UTF-8"},
		{"lone surrogates", request("1", `"tools/call"`, `{"name":"echo","arguments":{"\udfff":"\ud800"}}`), 200, `"\udfff":"\ud800"`},
		{"keys twice", request("1", `"tools/call"`, `{"name":"fail","name":"echo","arguments":{"a":1},"arguments":{"a":2}}`), 400, "is there twice"},
		{"NUL", "\x00", 400, "-32700"},
		{"a byte order mark", "\xef\xbb\xbf" + hostilePing, 400, "-32700"},
		{"two messages", hostilePing + hostilePing, 400, "-32700"},
		{"id null", request("null", `"ping"`, `{}`), 400, "-32600"},
		{"id true", request("true", `"ping"`, `{}`), 400, "-32600"},
		{"id object", request(`{"a":[1]}`, `"ping"`, `{}`), 400, "-32600"},
		{"id float", request("1.5", `"ping"`, `{}`), 200, `"id":1.5`},
		{"id beyond numbers", request("1e999", `"ping"`, `{}`), 400, "(/id): the number 1e999 is out of range"},
		{"id of 100,000 digits", request(strings.Repeat("9", 100_000), `"ping"`, `{}`), 400, "has 100000 digits"},
		{"id of 1 MB", request(`"`+strings.Repeat("i", 1<<20)+`"`, `"ping"`, `{}`), 200, `"result":{}`},
		{"method of 1 MB", request("1", `"`+strings.Repeat("m", 1<<20)+`"`, `{}`), 200, "-32601"},
		{"method with control characters", request("1", `"\u0000\r\n\u001b[31m"`, `{}`), 200, "-32601"},
		{"method empty", request("1", `""`, `{}`), 200, "-32601"},
		{"tool with control characters", request("1", `"tools/call"`, `{"name":"\u0000\r\nX: y\u001b"}`), 200, "unknown tool"},
		{"tool of 1 MB", request("1", `"tools/call"`, `{"name":"`+strings.Repeat("n", 1<<20)+`"}`), 200, "unknown tool"},
		{"tool that panics", request("1", `"tools/call"`, `{"name":"panic"}`), 200, `\"panic\": internal error`},
		{"params a number", request("1", `"tools/call"`, `7`), 400, "-32602"},
		{"a task", request("1", `"tools/call"`, `{"name":"echo","task":{"ttl":1e300}}`), 200, `"id":1`},
		{"a task of another type", request("1", `"tools/call"`, `{"name":"echo","task":[[]]}`), 200, `"id":1`},
		{"setLevel of nothing", request("1", `"logging/setLevel"`, `{}`), 200, "-32602"},
		{"setLevel of nonsense", request("1", `"logging/setLevel"`, `{"level":"\u0000loud"}`), 200, `"error"`},
		{"setLevel of a list", request("1", `"logging/setLevel"`, `{"level":[]}`), 200, "-32602"},
		{"cursor of nonsense", request("1", `"tools/list"`, `{"cursor":"%%%"}`), 200, `"id":1`},
		{"progress token an object", request("1", `"tools/call"`, `{"name":"chatter","arguments":{"kilobytes":2},"_meta":{"progressToken":{"a":1}}}`), 200, `"result"`},
		{"progress token null", request("1", `"tools/call"`, `{"name":"chatter","arguments":{"kilobytes":2},"_meta":{"progressToken":null}}`), 200, `"result"`},
		{"progress token beyond numbers", request("1", `"tools/call"`, `{"name":"echo","_meta":{"progressToken":1e999}}`), 400, "(/params/_meta/progressToken): the number 1e999 is out of range"},
		{"_meta a list", request("1", `"tools/call"`, `{"name":"echo","_meta":[]}`), 200, "-32602"},
		{"traceparent of garbage", request("1", `"tools/call"`, `{"name":"echo","_meta":{"traceparent":"\r\n00-zz","baggage":"`+strings.Repeat("a=b,", 1<<18)+`"}}`), 200, `"result"`},
		{"a batch of nothing", `[]`, 400, "-32600"},
		{"a batch of batches", `[[` + hostilePing + `],[]]`, 200, "-32600"},
		{"a batch of answers", `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":{}}]`, 202, ""},
		{"a batch of the same ids", `[` + hostilePing + `,` + hostilePing + `,` + hostilePing + `]`, 200, `"result":{}`},
		{"a batch of 1,001", `[` + strings.Repeat(hostilePing+",", 1000) + hostilePing + `]`, 400, "at most 1000"},
		{"a batch of 100,000 numbers", `[` + strings.Repeat("1,", 99_999) + `1]`, 400, "at most 1000"},
		{"a number beyond numbers", request("1", `"tools/call"`, `{"name":"echo","arguments":{"a":[1e999]}}`), 400, "(/params/arguments/a/0): the number 1e999 is out of range"},
		{"arguments of 15 MiB", request("1", `"tools/call"`, `{"name":"fail","arguments":{"a":"`+strings.Repeat("a", 15<<20)+`"}}`), 200, "isError"},
		{"17 MiB", `"` + strings.Repeat("a", 17<<20) + `"`, 413, "longer than"},
		{"an answer", `{"jsonrpc":"2.0","id":"x","result":{}}`, 202, ""},
		{"an answer with everything", `{"jsonrpc":"2.0","id":"x","result":{},"error":{}}`, 202, ""},
		{"cancelled of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, 202, ""},
		{"cancelled of an object", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}`, 202, ""},
		{"initialize as a notification", `{"jsonrpc":"2.0","method":"initialize","params":{}}`, 202, ""},
		{"initialize with nonsense", request("1", `"initialize"`, `{"protocolVersion":[],"capabilities":7}`), 200, `"error"`},
	}
}
