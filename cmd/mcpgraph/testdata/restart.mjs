// Calls a tool with an official TypeScript SDK for each line on stdin, in one session,
// and prints a line for each; arguments as of sdk.mjs.
import { createInterface } from "node:readline";
import { connect, newClient, onNotification } from "./sdk.mjs";

// What the SDK sends by itself may meet a restart; that rejection reaches nobody else.
process.on("unhandledRejection", () => {});

const client = newClient();
let changes = 0;
onNotification(client, "ToolListChangedNotificationSchema", "notifications/tools/list_changed", () => void changes++);
await connect(client);
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const result = await client.callTool({ name: "pair", arguments: { n: Number(line) } });
    console.log(JSON.stringify({ n: result.structuredContent?.n, changes }));
  } catch (e) {
    console.log(JSON.stringify({ error: String(e) }));
  }
}
await client.close();
