// Calls the tools of sample.yaml with an official TypeScript SDK that has a model, and
// prints the results as one line of JSON; arguments as of foreign.mjs.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, generation, revision, place] = process.argv.slice(2);
const { url, command, args } = JSON.parse(place);
const load = (path) => import(pathToFileURL(join(modules, "@modelcontextprotocol", path)));
const first = generation === "sdk";
const { Client } = await load(first ? "sdk/dist/esm/client/index.js" : "client/dist/index.mjs");
const { StreamableHTTPClientTransport } = await load(first ? "sdk/dist/esm/client/streamableHttp.js" : "client/dist/index.mjs");
const { StdioClientTransport } = await load(first ? "sdk/dist/esm/client/stdio.js" : "client/dist/stdio.mjs");
const methods = first ? await load("sdk/dist/esm/types.js") : null;

const legacy = revision !== "2026-07-28";
const connect = async (capabilities) => {
  const client = new Client({ name: "test", version: "1.0.0" },
    first ? { capabilities } : { capabilities, versionNegotiation: { mode: legacy ? "legacy" : { pin: revision } } });
  const on = (schema, method, handler) => client.setRequestHandler(first ? methods[schema] : method, handler);
  if (capabilities.elicitation) on("ElicitRequestSchema", "elicitation/create", () => ({ action: "accept", content: { name: "Ann" } }));
  if (capabilities.sampling) on("CreateMessageRequestSchema", "sampling/createMessage", (r) => {
    asked.push(r.params.messages.map((m) => m.content.text).join(" | "));
    return answers.shift()();
  });
  if (capabilities.roots) on("ListRootsRequestSchema", "roots/list", () => ({ roots: [{ uri: "file:///a", name: "A" }, { uri: "file:///b" }] }));
  await client.connect(url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args }));
  return client;
};
const asked = [];
let answers = [];
const says = (text) => () => ({ role: "assistant", content: { type: "text", text }, model: "test-model", stopReason: "endTurn" });
const rejects = () => { throw Object.assign(new Error("User rejected sampling request"), { code: -1 }); };
const call = async (client, name, args, ...saying) => {
  answers = saying;
  try {
    const r = await client.callTool({ name, arguments: args });
    return (r.isError ? "error: " : "") + r.content[0].text;
  } catch (e) {
    return `refused: ${e.message}`;
  }
};
let client = await connect({ elicitation: { form: {} }, sampling: {}, roots: {} });
const out = [
  await call(client, "label", { issue: "a" }, says('{"label":"bug"}')),
  await call(client, "label", { issue: "b" }, says("I guess"), says('```json\n{"label":"feature"}\n```')),
  await call(client, "label", { issue: "c" }, says("I guess"), says('{"label":"x"}')),
  await call(client, "label", { issue: "d" }, rejects),
  await call(client, "all", {}, says("Hello")),
];
await client.close();
client = await connect({});
out.push(await call(client, "label", { issue: "e" }), await call(client, "caught", {}));
await client.close();
console.log(JSON.stringify({ out, asked }));
