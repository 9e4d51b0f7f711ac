// Two runs of the SDK's client.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
await client.callTool({ name: "execute_code", arguments: { code: "x = 41" } });
const answer = await client.callTool({ name: "execute_code", arguments: { code: "return x + 1" } });
console.log(tools.length, answer.structuredContent?.result);
await client.close();
