// Lists and calls tools with the official TypeScript SDK, and prints what it
// got as one line of JSON: node client.mjs NODE_MODULES COMMAND CONFIG CALLS.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, command, config, calls] = process.argv.slice(2);
const sdk = (name) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm/client", name)));
const { Client } = await sdk("index.js");
const { StdioClientTransport } = await sdk("stdio.js");

const client = new Client({ name: "test", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args: ["serve", config], env: process.env }));
const out = {
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools,
  results: await Promise.all(JSON.parse(calls).map((c) => client.callTool(c).catch((e) => ({ code: e.code, message: e.message })))),
};
await client.close();
console.log(JSON.stringify(out));
