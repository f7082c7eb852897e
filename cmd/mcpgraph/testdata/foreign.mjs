// Tries a server with an official TypeScript SDK and prints what it got as one
// line of JSON:
//   node foreign.mjs NODE_MODULES sdk|client REVISION '{"url": …, "token": …}'
//   node foreign.mjs NODE_MODULES sdk|client REVISION '{"command": …, "args": […]}'
// "sdk" is the first generation, for revisions with sessions.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, generation, revision, place] = process.argv.slice(2);
const { url, token, command, args } = JSON.parse(place);
const load = (path) => import(pathToFileURL(join(modules, "@modelcontextprotocol", path)));
const first = generation === "sdk";
const { Client } = await load(first ? "sdk/dist/esm/client/index.js" : "client/dist/index.mjs");
const { StreamableHTTPClientTransport } = await load(first ? "sdk/dist/esm/client/streamableHttp.js" : "client/dist/index.mjs");
const { StdioClientTransport } = await load(first ? "sdk/dist/esm/client/stdio.js" : "client/dist/stdio.mjs");
const methods = first ? await load("sdk/dist/esm/types.js") : null;

const legacy = revision !== "2026-07-28";
const client = new Client({ name: "test", version: "1.0.0" }, first ? {} : { versionNegotiation: { mode: legacy ? "legacy" : { pin: revision } } });
const logs = [];
client.setNotificationHandler(first ? methods.LoggingMessageNotificationSchema : "notifications/message", (n) => void logs.push(n.params.data));
await client.connect(
  url
    ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
    : new StdioClientTransport({ command, args, env: process.env }),
);
const call = (name, args, options = {}, meta = {}) => {
  const params = { name, arguments: args, ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}) };
  return first ? client.callTool(params, undefined, options) : client.callTool(params, options);
};
const failure = (e) => ({ code: e.code ?? e.name, message: e.message });

const out = { tools: (await client.listTools()).tools.map((t) => t.name) };
const many = await Promise.all([...Array(64).keys()].map((n) => call("pair", { n })));
out.many = many.filter((r, n) => r.structuredContent.n === n && !r.isError).length;
out.wrong = await call("pair", { n: "x" });
out.unknown = await call("pear", {}).catch(failure);
if (legacy) await client.setLoggingLevel("info");
const progress = [];
out.work = await call("work", {}, { onprogress: (p) => void progress.push(p.progress) }, legacy ? {} : { "io.modelcontextprotocol/logLevel": "info" });
Object.assign(out, { progress, logs });
const stop = new AbortController();
const hanging = call("hang", {}, { signal: stop.signal }).catch(failure);
setTimeout(() => stop.abort("enough"), 200); // whether it has begun or not
out.cancelled = await hanging;
out.runs = (await client.readResource({ uri: "mcpgraph://runs" })).contents[0].text;
await client.close();
console.log(JSON.stringify(out));
