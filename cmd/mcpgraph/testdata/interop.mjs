// Drives a client of another maker for TestInterop: connects it to a server, then takes one
// request of JSON a line on stdin and prints one answer of JSON a line.
//   node interop.mjs REALSERVERS INTEROP CLIENT '{"url": …}' | '{"command": …, "args": […]}'
// REALSERVERS and INTEROP are folders of npm packages. Requests:
//   {"do": "list"}                          → {"tools": […]}
//   {"do": "call", "tool", "args", "timeout", "progress"} → {"text", "structured", "isError", "progress"}
// A failure is {"error": …}.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [real, extra, name, where] = process.argv.slice(2);
const place = JSON.parse(where);
const env = { ...process.env };
const from = (modules, path) => import(pathToFileURL(join(modules, path)));
const text = (result) => (result?.content ?? []).map((b) => b.text ?? "").join("");
const answer = { action: "accept", content: { yes: true } };

// official is a client of the official TypeScript SDK.
async function official(modules, generation, target) {
  const second = generation.endsWith("/client");
  const load = (path) => from(modules, `${generation}/dist/${path}`);
  const { Client } = await load(second ? "index.mjs" : "esm/client/index.js");
  const http = await load(second ? "index.mjs" : "esm/client/streamableHttp.js");
  const stdio = await load(second ? "stdio.mjs" : "esm/client/stdio.js");
  const client = new Client({ name: "interop", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(second ? "elicitation/create" : (await load("esm/types.js")).ElicitRequestSchema, () => answer);
  await client.connect(target.url ? new http.StreamableHTTPClientTransport(new URL(target.url)) : new stdio.StdioClientTransport({ ...target, env, stderr: "inherit" }));
  return {
    list: async () => (await client.listTools()).tools.map((t) => t.name),
    call: async ({ tool, args, timeout, progress }) => {
      let count = 0;
      const options = { timeout, resetTimeoutOnProgress: true, ...(progress ? { onprogress: () => void count++ } : {}) };
      const params = { name: tool, arguments: args };
      const r = second ? await client.callTool(params, options) : await client.callTool(params, undefined, options);
      return { text: text(r), structured: r.structuredContent, isError: r.isError, progress: count };
    },
  };
}

const clients = {
  "@modelcontextprotocol/sdk": () => official(real, "@modelcontextprotocol/sdk", place),
  "sdk-old": () => official(real, "sdk-old", place),
  "@modelcontextprotocol/client": () => official(real, "@modelcontextprotocol/client", place),

  "mcp-remote": () => official(real, "@modelcontextprotocol/sdk", {
    command: process.execPath, args: [join(real, "mcp-remote/dist/proxy.js"), place.url, "--allow-http", "--transport", "http-only"],
  }),

  "@ai-sdk/mcp": async () => {
    const ai = await from(real, "@ai-sdk/mcp/dist/index.js");
    const stdio = await from(real, "@ai-sdk/mcp/dist/mcp-stdio/index.js");
    const client = await ai.createMCPClient({
      capabilities: { elicitation: {} },
      transport: place.url ? { type: "http", url: place.url } : new stdio.Experimental_StdioMCPTransport({ ...place, env }),
    });
    client.onElicitationRequest(ai.ElicitationRequestSchema, () => answer);
    const tools = await client.tools();
    return {
      list: async () => Object.keys(await client.tools()),
      call: async ({ tool, args, timeout }) => {
        const r = await tools[tool].execute(args, { toolCallId: "1", messages: [], ...(timeout ? { abortSignal: AbortSignal.timeout(timeout) } : {}) });
        return { text: text(r), structured: r.structuredContent, isError: r.isError, progress: 0 };
      },
    };
  },

  "@langchain/mcp-adapters": async () => {
    const { MultiServerMCPClient } = await from(extra, "@langchain/mcp-adapters/dist/index.js");
    let count = 0;
    const client = new MultiServerMCPClient({
      mcpServers: { s: place.url ? { transport: "http", url: place.url } : { transport: "stdio", ...place, env } },
      onProgress: () => void count++, throwOnLoadError: true, prefixToolNameWithServerName: false,
      outputHandling: "content",
    });
    const tools = await client.getTools();
    return {
      list: async () => (await client.getTools()).map((t) => t.name),
      call: async ({ tool, args, timeout }) => {
        count = 0;
        const found = tools.find((t) => t.name === tool);
        const r = await found.invoke({ type: "tool_call", id: "1", name: tool, args }, timeout ? { timeout } : {});
        const said = typeof r.content === "string" ? r.content : r.content.map((b) => b.text ?? "").join("");
        return { text: said, structured: r.artifact?.structuredContent ?? r.artifact?.[0]?.data ?? undefined, isError: r.status === "error", progress: count };
      },
    };
  },

  "mcp-use": async () => {
    const { MCPClient } = await from(extra, "mcp-use/dist/src/client.js");
    const client = new MCPClient(
      { mcpServers: { s: place.url ? { url: place.url } : { ...place, env } } },
      { onElicitation: async () => answer, elicitationCallback: async () => answer },
    );
    const session = await client.createSession("s");
    return {
      list: async () => (await session.listTools()).map((t) => t.name),
      call: async ({ tool, args, timeout, progress }) => {
        let count = 0;
        const r = await session.callTool(tool, args, { timeout, resetTimeoutOnProgress: true, ...(progress ? { onprogress: () => void count++ } : {}) });
        return { text: text(r), structured: r.structuredContent, isError: r.isError, progress: count };
      },
    };
  },
};

const print = (v) => process.stdout.write("\n>" + JSON.stringify(v) + "\n");
const client = await clients[name]();
print({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  try {
    print(request.do === "list" ? { tools: await client.list() } : await client.call(request));
  } catch (e) {
    print({ error: String(e?.message ?? e).slice(0, 400) });
  }
}
process.exit(0);
