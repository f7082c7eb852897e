// Calls the tools of ask.yaml with an official TypeScript SDK whose user answers,
// and prints the results as one line of JSON; arguments as of sdk.mjs.
import { connect, newClient, onRequest } from "./sdk.mjs";

const client = newClient({ elicitation: { form: {} } });
const asked = [];
let answer;
onRequest(client, "ElicitRequestSchema", "elicitation/create", (r) => {
  asked.push(r.params.message);
  return answer;
});
await connect(client);
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
