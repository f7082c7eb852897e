// Drives a language server over stdio with the protocol library that VS Code uses:
//
//   node client.cjs MODULES FOLDER PROGRAM [ARGUMENT...]
//
// MODULES is the folder with the libraries, FOLDER holds house.yaml and
// house.test.yaml. It prints what the server answered as one JSON object.
const { createRequire } = require("node:module");
const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const fs = require("node:fs");
const path = require("node:path");

const [modules, folder, program, ...args] = process.argv.slice(2);
const load = createRequire(path.join(modules, "index.js"));
const lsp = load("vscode-languageserver-protocol");
const rpc = load("vscode-jsonrpc/node");

async function main() {
  const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const c = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const waiting = new Map();
  c.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
    const done = waiting.get(p.uri + "#" + p.version);
    if (done) done(p.diagnostics);
  });
  const registered = [];
  c.onRequest(lsp.RegistrationRequest.type, (p) => {
    registered.push(...p.registrations.map((r) => r.method));
  });
  c.onUnhandledNotification((n) => console.error("unhandled", n.method));
  c.listen();

  const out = {};
  const root = pathToFileURL(folder).href;
  const uri = root + "/house.yaml";
  const init = await c.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: root,
    workspaceFolders: [{ uri: root, name: "house" }],
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      workspace: { didChangeWatchedFiles: { dynamicRegistration: true } },
      textDocument: { documentSymbol: { hierarchicalDocumentSymbolSupport: true } },
    },
  });
  out.encoding = init.capabilities.positionEncoding;
  await c.sendNotification(lsp.InitializedNotification.type, {});

  const text = fs.readFileSync(path.join(folder, "house.yaml"), "utf8");
  const diagnosticsOf = (version, send) =>
    new Promise((resolve) => {
      waiting.set(uri + "#" + version, resolve);
      send();
    });
  out.clean = await diagnosticsOf(1, () =>
    c.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
      textDocument: lsp.TextDocumentItem.create(uri, "yaml", 1, text),
    }),
  );
  const lines = text.split("\n");
  const line = lines.findIndex((l) => l.includes("next: exit"));
  const column = lines[line].indexOf("exit");
  const change = (version, from, to, by) =>
    c.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [{ range: lsp.Range.create(line, from, line, to), text: by }],
    });
  out.wrong = await diagnosticsOf(2, () => change(2, column, column + 4, "exti"));
  const actions = await c.sendRequest(lsp.CodeActionRequest.type, {
    textDocument: { uri },
    range: out.wrong[0].range,
    context: { diagnostics: out.wrong },
  });
  out.actions = actions.map((a) => a.title);
  await change(3, column, column + 4, "");
  const here = { textDocument: { uri }, position: { line, character: column } };
  const list = await c.sendRequest(lsp.CompletionRequest.type, here);
  out.completion = list.items.map((i) => i.label);
  await change(4, column, column, "exit");
  const id = { textDocument: { uri }, position: { line: lines.findIndex((l) => l.includes("- id: list")), character: 13 } };
  out.hover = (await c.sendRequest(lsp.HoverRequest.type, id)).contents.value;
  out.definition = (await c.sendRequest(lsp.DefinitionRequest.type, id))[0].range.start.line;
  out.references = (await c.sendRequest(lsp.ReferencesRequest.type, { ...id, context: { includeDeclaration: true } })).length;
  out.prepared = (await c.sendRequest(lsp.PrepareRenameRequest.type, id)).placeholder;
  const renamed = await c.sendRequest(lsp.RenameRequest.type, { ...id, newName: "listing" });
  out.renamed = Object.fromEntries(Object.entries(renamed.changes).map(([u, edits]) => [path.basename(u), edits.length]));
  out.taken = await c.sendRequest(lsp.RenameRequest.type, { ...id, newName: "exit" }).catch((e) => e.message);
  const symbols = await c.sendRequest(lsp.DocumentSymbolRequest.type, { textDocument: { uri } });
  out.symbols = symbols.map((s) => s.name);
  const options = { tabSize: 2, insertSpaces: true };
  out.formatting = (await c.sendRequest(lsp.DocumentFormattingRequest.type, { textDocument: { uri }, options })).length;
  const source = new lsp.CancellationTokenSource();
  const cancelled = c.sendRequest(lsp.CompletionRequest.type, here, source.token).then(() => "answered", (e) => e.code);
  source.cancel();
  out.cancelled = await cancelled;
  out.registered = registered;
  await c.sendRequest(lsp.ShutdownRequest.type);
  await c.sendNotification(lsp.ExitNotification.type);
  out.code = await ended;
  console.log(JSON.stringify(out));
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
