// Calls the tools of progress.yaml with an official TypeScript SDK that wants progress, and
// prints as one line of JSON what came of them (out) and what the SDK calls an error (asked);
// arguments as of sdk.mjs.
import { connect, first, newClient } from "./sdk.mjs";

const client = newClient();
const errors = [];
client.onerror = (e) => void errors.push(String(e.message ?? e).slice(0, 300));
await connect(client);
const call = (name, options) =>
  first ? client.callTool({ name, arguments: {} }, undefined, options) : client.callTool({ name, arguments: {} }, options);
const out = [];
for (let i = 0; i < 20; i++) {
  const result = await call("fast", { onprogress: () => {} });
  if (result.isError) out.push(result.content[0].text);
}
const progress = [];
await call("slow", { onprogress: (p) => void progress.push(p.message) });
out.push(progress[0] ?? "no progress");
const controller = new AbortController();
const aborted = call("long", { signal: controller.signal, onprogress: () => {} }).then(() => "answered", () => "aborted");
await new Promise((resolve) => setTimeout(resolve, 300));
controller.abort();
out.push(await aborted);
const last = await call("fast", {}); // by now an answer to the call before would be there
out.push(last.isError ? "error" : "goes on");
await new Promise((resolve) => setTimeout(resolve, 200));
client.onerror = undefined;
await client.close();
console.log(JSON.stringify({ out, asked: errors }));
