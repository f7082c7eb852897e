// Tries a server with an official TypeScript SDK and prints what it got as one
// line of JSON; arguments as of sdk.mjs.
import { connect, first, legacy, newClient, onNotification } from "./sdk.mjs";

const client = newClient();
const logs = [];
onNotification(client, "LoggingMessageNotificationSchema", "notifications/message", (n) => void logs.push(n.params.data));
await connect(client);
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
