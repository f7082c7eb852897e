// An official TypeScript SDK, for the clients beside this file. Their arguments are
//   NODE_MODULES sdk|client REVISION '{"url": …, "token": …}'
//   NODE_MODULES sdk|client REVISION '{"command": …, "args": […]}'
// "sdk" is the first generation, for revisions with sessions.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, generation, revision, place] = process.argv.slice(2);
const { url, token, command, args } = JSON.parse(place);
const load = (path) => import(pathToFileURL(join(modules, "@modelcontextprotocol", path)));
export const first = generation === "sdk";
const { Client } = await load(first ? "sdk/dist/esm/client/index.js" : "client/dist/index.mjs");
const { StreamableHTTPClientTransport } = await load(first ? "sdk/dist/esm/client/streamableHttp.js" : "client/dist/index.mjs");
const { StdioClientTransport } = await load(first ? "sdk/dist/esm/client/stdio.js" : "client/dist/stdio.mjs");
const types = first ? await load("sdk/dist/esm/types.js") : null;

export const legacy = revision !== "2026-07-28";

/** A client that is not connected yet. */
export const newClient = (capabilities = {}) => new Client({ name: "test", version: "1.0.0" },
  first ? { capabilities } : { capabilities, versionNegotiation: { mode: legacy ? "legacy" : { pin: revision } } });

/** Handles requests of the server: by the name of their schema in the first generation, else by method. */
export const onRequest = (client, schema, method, handler) => client.setRequestHandler(first ? types[schema] : method, handler);
export const onNotification = (client, schema, method, handler) => client.setNotificationHandler(first ? types[schema] : method, handler);

export const connect = (client) => client.connect(
  url ? new StreamableHTTPClientTransport(new URL(url), token ? { requestInit: { headers: { Authorization: `Bearer ${token}` } } } : {})
    : new StdioClientTransport({ command, args, env: process.env }));
