// A run whose connection breaks: the SDK's client resumes it by itself.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const code = "import time\ntime.sleep(3)\nreturn 42";
const answer = await client.callTool({ name: "execute_code", arguments: { code } });
console.log(answer.structuredContent?.result);
await client.close();
