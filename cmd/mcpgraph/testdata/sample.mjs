// Calls the tools of sample.yaml with an official TypeScript SDK that has a model, and
// prints the results as one line of JSON; arguments as of sdk.mjs.
import { connect, newClient, onRequest } from "./sdk.mjs";

const connected = async (capabilities) => {
  const client = newClient(capabilities);
  const on = (schema, method, handler) => onRequest(client, schema, method, handler);
  if (capabilities.elicitation) on("ElicitRequestSchema", "elicitation/create", () => ({ action: "accept", content: { name: "Ann" } }));
  if (capabilities.sampling) on("CreateMessageRequestSchema", "sampling/createMessage", (r) => {
    asked.push(r.params.messages.map((m) => m.content.text).join(" | "));
    return answers.shift()();
  });
  if (capabilities.roots) on("ListRootsRequestSchema", "roots/list", () => ({ roots: [{ uri: "file:///a", name: "A" }, { uri: "file:///b" }] }));
  await connect(client);
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
let client = await connected({ elicitation: { form: {} }, sampling: {}, roots: {} });
const out = [
  await call(client, "label", { issue: "a" }, says('{"label":"bug"}')),
  await call(client, "label", { issue: "b" }, says("I guess"), says('```json\n{"label":"feature"}\n```')),
  await call(client, "label", { issue: "c" }, says("I guess"), says('{"label":"x"}')),
  await call(client, "label", { issue: "d" }, rejects),
  await call(client, "all", {}, says("Hello")),
];
await client.close();
client = await connected({});
out.push(await call(client, "label", { issue: "e" }), await call(client, "caught", {}));
await client.close();
console.log(JSON.stringify({ out, asked }));
