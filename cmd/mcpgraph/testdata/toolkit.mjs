// Tries the toolkit with the official TypeScript SDK, which checks structured content
// against the output schemas, and prints what it got as one line of JSON:
//   node toolkit.mjs NODE_MODULES '{"command": …, "args": […]}' TOOL
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, place, definition] = process.argv.slice(2);
const { command, args } = JSON.parse(place);
const load = (path) => import(pathToFileURL(join(modules, "@modelcontextprotocol", path)));
const { Client } = await load("sdk/dist/esm/client/index.js");
const { StdioClientTransport } = await load("sdk/dist/esm/client/stdio.js");

const client = new Client({ name: "test", version: "1.0.0" }, {});
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const call = (name, args) => client.callTool({ name, arguments: args });
const tool = JSON.parse(definition);

const tools = (await client.listTools()).tools;
const out = { tools: tools.length };
out.added = (await call("addGraphTool", { tool })).structuredContent.success;
out.names = (await call("listGraphTools", {})).structuredContent.items.map((t) => t.name);
out.result = (await call("runGraphTool", { toolName: "hi", arguments: { a: 1 } })).structuredContent.result;
out.refused = (await call("addGraphTool", { tool: { ...tool, name: "other", nodes: [] } })).structuredContent.success;
out.wrong = (await call("getGraphTool", { toolName: "none" })).isError === true;
for (const [name, args] of [
  ["getGraphServer", {}], ["listMcpServers", {}], ["searchMcpTools", { query: "weather" }], ["validateGraphTool", {}],
  ["testJSONata", { expression: "1 +", context: {} }], ["history", {}], ["help", { topic: "language" }], ["undo", {}],
]) {
  const r = await call(name, args); // the client throws if the answer does not fit
  if (r.isError) throw new Error(`${name}: ${r.content[0].text}`);
}
out.text = (await client.readResource({ uri: "mcpgraph://docs/expressions" })).contents[0].text.startsWith("# Expressions");
await client.close();
console.log(JSON.stringify(out));
