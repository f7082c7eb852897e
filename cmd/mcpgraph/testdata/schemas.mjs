// Lists the tools of `mcpgraph serve FILE` with the client of a package, and calls each.
// Prints {listed, failed: [{tool, error}]}.
// node schemas.mjs NODE_MODULES PACKAGE PROGRAM FILE
const [modules, name, program, file] = process.argv.slice(2);
const load = (path) => import(`${modules}/${name}/dist/${path}`);
const [{ Client }, { StdioClientTransport }] = name.endsWith("/client")
  ? await Promise.all([load("index.mjs"), load("stdio.mjs")])
  : await Promise.all([load("esm/client/index.js"), load("esm/client/stdio.js")]);
const client = new Client({ name: "schemas", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command: program, args: ["serve", file, "--log-level", "error"], stderr: "inherit" }));
const { tools } = await client.listTools();
const failed = [];
for (const { name: tool } of tools) {
  try {
    const result = await client.callTool({ name: tool, arguments: {} });
    if (result.isError) failed.push({ tool, error: result.content[0].text });
  } catch (e) {
    failed.push({ tool, error: e.message });
  }
}
console.log(JSON.stringify({ listed: tools.length, failed }));
await client.close();
