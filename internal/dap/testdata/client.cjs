// Drives a debug adapter over stdio with the client that VS Code tests adapters with:
//
//   node client.cjs MODULES FILE FOLDER PROGRAM
//
// MODULES is the folder with the libraries, FILE the configuration file, FOLDER the
// argument of its tool. It prints what the adapter answered as one JSON object.
const { createRequire } = require("node:module");
const path = require("node:path");

const [modules, program, folder, adapter] = process.argv.slice(2);
const load = createRequire(path.join(modules, "index.js"));
const { DebugClient } = load("@vscode/debugadapter-testsupport");

async function main() {
  const dc = new DebugClient(adapter, "dap", "mcpgraph", { env: process.env });
  dc.defaultTimeout = 30000;
  await dc.start();
  const out = { output: "" };
  dc.on("output", (e) => {
    if (e.body.category === "stdout") out.output += e.body.output;
  });
  const launch = { program, tool: "files", args: { folder } };
  const at = { path: program, line: 12 };
  await dc.hitBreakpoint(launch, { path: program, line: 13 }, at, { ...at, verified: true });
  const threadId = (await dc.threadsRequest()).body.threads[0].id;
  const frames = (await dc.stackTraceRequest({ threadId })).body.stackFrames;
  out.frame = frames[0].name;
  const scopes = (await dc.scopesRequest({ frameId: frames[0].id })).body.scopes;
  out.scopes = scopes.map((s) => s.name);
  const document = await dc.variablesRequest({ variablesReference: scopes[0].variablesReference });
  out.document = document.body.variables.map((v) => v.name);
  const watch = await dc.evaluateRequest({ expression: "$contains($.list.content, 'a.txt')", frameId: frames[0].id, context: "watch" });
  out.watch = watch.body.result;
  await Promise.all([dc.nextRequest({ threadId }), dc.assertStoppedLocation("step", { path: program, line: 16 })]);
  await Promise.all([dc.continueRequest({ threadId }), dc.waitForEvent("terminated")]);
  await dc.stop();
  process.stdout.write(JSON.stringify(out));
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
