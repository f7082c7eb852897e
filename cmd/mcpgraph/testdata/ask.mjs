// Calls the tools of ask.yaml with an official TypeScript SDK whose user answers,
// and prints the results as one line of JSON; arguments as of foreign.mjs.
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
const capabilities = { elicitation: { form: {} } };
const client = new Client({ name: "test", version: "1.0.0" },
  first ? { capabilities } : { capabilities, versionNegotiation: { mode: legacy ? "legacy" : { pin: revision } } });
const asked = [];
let answer;
client.setRequestHandler(first ? methods.ElicitRequestSchema : "elicitation/create", (r) => {
  asked.push(r.params.message);
  return answer;
});
await client.connect(url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args }));
const call = async (name, args, saying) => {
  answer = saying;
  const r = await client.callTool({ name, arguments: args });
  return (r.isError ? "error: " : "") + r.content[0].text;
};
const accept = (content) => ({ action: "accept", content });
const out = [
  await call("remove", { file: "a" }, accept({ reason: "old" })),
  await call("remove", { file: "b" }, { action: "decline" }),
  await call("remove", { file: "c" }, { action: "cancel" }),
  await call("remove", { file: "d" }, accept({ reason: "x" })).catch((e) => `refused: ${e.message}`),
  await call("two", {}, accept({})),
];
await client.close();
console.log(JSON.stringify({ out, asked }));
