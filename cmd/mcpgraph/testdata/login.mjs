// Logs in as alice with the official TypeScript SDK and calls the tools look and
// change, as a person's client does: node login.mjs NODE_MODULES URL. It prints
// the scopes that it asked for in each login, and the results, as one line of
// JSON.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, url] = process.argv.slice(2);
const sdk = (name) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm/client", name)));
const { Client } = await sdk("index.js");
const { StreamableHTTPClientTransport } = await sdk("streamableHttp.js");
const { UnauthorizedError } = await sdk("auth.js");

const callback = "http://127.0.0.1/callback";
const asked = [];
let information, tokens, verifier, code;
const authProvider = {
  redirectUrl: callback,
  clientMetadata: {
    client_name: "test", redirect_uris: [callback], grant_types: ["authorization_code"], response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "long enough to be a state",
  clientInformation: () => information,
  saveClientInformation: (i) => { information = i; },
  tokens: () => tokens,
  saveTokens: (t) => { tokens = t; },
  codeVerifier: () => verifier,
  saveCodeVerifier: (v) => { verifier = v; },
  redirectToAuthorization: async (address) => {
    asked.push(address.searchParams.get("scope"));
    const response = await fetch(address, { redirect: "manual", headers: { Authorization: "Basic " + btoa("alice:alice-password") } });
    code = new URL(response.headers.get("location")).searchParams.get("code");
  },
};

// Until the transport has a token that is good enough.
async function withLogin(transport, act) {
  try {
    return await act();
  } catch (e) {
    if (!(e instanceof UnauthorizedError)) throw e;
    await transport().finishAuth(code);
    return act();
  }
}

let client, transport;
const connect = () => {
  client = new Client({ name: "test", version: "1.0.0" });
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  return client.connect(transport);
};
await withLogin(() => transport, connect);
const results = [];
for (const name of ["look", "change"]) {
  const result = await withLogin(() => transport, () => client.callTool({ name, arguments: { n: 7 } }));
  results.push(result.structuredContent);
}
await client.close();
console.log(JSON.stringify({ asked, results }));
