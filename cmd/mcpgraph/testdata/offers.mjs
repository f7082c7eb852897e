// Makes the requests that stand on stdin, one {"method", "params"} per line, with
// an official TypeScript SDK, and prints a line {"result"} or {"error"} for each;
// arguments as of sdk.mjs. The request "wait" waits until a resource that was
// subscribed to has changed. Its user, model and folders are always the same.
import { createInterface } from "node:readline";
import { connect, legacy, newClient, onNotification, onRequest } from "./sdk.mjs";

const client = newClient({ elicitation: { form: {} }, sampling: {}, roots: {} });
onRequest(client, "ElicitRequestSchema", "elicitation/create", () => ({ action: "accept", content: { name: "Ann" } }));
onRequest(client, "CreateMessageRequestSchema", "sampling/createMessage", (r) => ({
  role: "assistant", model: "none", stopReason: "endTurn", content: { type: "text", text: `so ${r.params.messages[0].content.text}` },
}));
onRequest(client, "ListRootsRequestSchema", "roots/list", () => ({ roots: [{ uri: "file:///work", name: "work" }] }));
let changed;
const change = new Promise((resolve) => (changed = resolve));
onNotification(client, "ResourceUpdatedNotificationSchema", "notifications/resources/updated", (n) => changed({ uri: n.params.uri }));
await connect(client);

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
