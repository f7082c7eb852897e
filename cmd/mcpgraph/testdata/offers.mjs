// Uses the prompts and resources of offers.yaml with an official TypeScript SDK, and
// prints what it got as one line of JSON; arguments as of foreign.mjs.
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
const client = new Client({ name: "test", version: "1.0.0" },
  first ? {} : { versionNegotiation: { mode: legacy ? "legacy" : { pin: revision } } });
let told;
const updated = new Promise((done) => { told = done; });
client.setNotificationHandler(first ? methods.ResourceUpdatedNotificationSchema : "notifications/resources/updated", (n) => told(n.params.uri));
await client.connect(url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args }));
const refused = (e) => `refused: ${e.message}`;
const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values.join();
const out = [
  (await client.listPrompts()).prompts.map((p) => p.name).join(),
  (await client.getPrompt({ name: "review", arguments: { number: "7" } })).messages.map((m) => m.content.text).join(),
  await client.getPrompt({ name: "review" }).catch(refused),
  (await client.listResources()).resources.map((r) => r.uri).join(),
  (await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate).join(),
  (await client.readResource({ uri: "offers://text" })).contents[0].text,
  (await client.readResource({ uri: "offers://bytes/a%20b" })).contents[0].blob,
  await client.readResource({ uri: "offers://bytes/none" }).catch(refused),
  await client.readResource({ uri: "offers://nothing" }).catch(refused),
  await complete({ type: "ref/prompt", name: "review" }, "number", "1"),
  await complete({ type: "ref/resource", uri: "offers://bytes/{of}" }, "of", "t"),
];
if (legacy) {
  await client.subscribeResource({ uri: "offers://changing" });
} else {
  await client.listen({ resourceSubscriptions: ["offers://changing"] });
}
out.push(await updated);
await client.close();
console.log(JSON.stringify(out));
