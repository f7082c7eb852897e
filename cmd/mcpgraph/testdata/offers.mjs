// Makes the requests that stand on stdin, one {"method", "params"} per line, with
// an official TypeScript SDK, and prints a line {"result"} or {"error"} for each;
// arguments as of foreign.mjs. The request "wait" waits until a resource that was
// subscribed to has changed. Its user, model and folders are always the same.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, generation, revision, place] = process.argv.slice(2);
const { url, command, args } = JSON.parse(place);
const load = (path) => import(pathToFileURL(join(modules, "@modelcontextprotocol", path)));
const first = generation === "sdk";
const { Client } = await load(first ? "sdk/dist/esm/client/index.js" : "client/dist/index.mjs");
const { StreamableHTTPClientTransport } = await load(first ? "sdk/dist/esm/client/streamableHttp.js" : "client/dist/index.mjs");
const { StdioClientTransport } = await load(first ? "sdk/dist/esm/client/stdio.js" : "client/dist/stdio.mjs");
const types = first ? await load("sdk/dist/esm/types.js") : null;

const legacy = revision !== "2026-07-28";
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const client = new Client({ name: "test", version: "1.0.0" },
  first ? { capabilities } : { capabilities, versionNegotiation: { mode: legacy ? "legacy" : { pin: revision } } });
client.setRequestHandler(first ? types.ElicitRequestSchema : "elicitation/create", () => ({ action: "accept", content: { name: "Ann" } }));
client.setRequestHandler(first ? types.CreateMessageRequestSchema : "sampling/createMessage", (r) => ({
  role: "assistant", model: "none", stopReason: "endTurn", content: { type: "text", text: `so ${r.params.messages[0].content.text}` },
}));
client.setRequestHandler(first ? types.ListRootsRequestSchema : "roots/list", () => ({ roots: [{ uri: "file:///work", name: "work" }] }));
let changed;
const change = new Promise((resolve) => (changed = resolve));
client.setNotificationHandler(first ? types.ResourceUpdatedNotificationSchema : "notifications/resources/updated", (n) => changed({ uri: n.params.uri }));
await client.connect(url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args }));

const methods = {
  "prompts/list": (p) => client.listPrompts(p),
  "prompts/get": (p) => client.getPrompt(p),
  "resources/list": (p) => client.listResources(p),
  "resources/templates/list": (p) => client.listResourceTemplates(p),
  "resources/read": (p) => client.readResource(p),
  "completion/complete": (p) => client.complete(p),
  "tools/call": (p) => client.callTool(p),
  "resources/subscribe": async (p) => {
    if (legacy) return client.subscribeResource(p);
    await client.listen({ resourceSubscriptions: [p.uri] });
    return {};
  },
  wait: () => change,
};
for await (const line of createInterface({ input: process.stdin })) {
  const { method, params } = JSON.parse(line);
  const answer = await methods[method](params).then((result) => ({ result }), (e) => ({ error: `${e.code}: ${e.message}` }));
  console.log(JSON.stringify(answer));
}
await client.close();
