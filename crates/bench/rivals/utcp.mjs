// UTCP's code mode behind a minimal MCP server: one tool, `execute`, one answer a line.

import { createInterface } from "node:readline";
import "@utcp/mcp";
import { CodeModeUtcpClient } from "@utcp/code-mode";

// UTCP logs every call, but standard output belongs to the protocol.
console.log = () => {};

const [command, ...args] = process.argv.slice(2);
const client = await CodeModeUtcpClient.create();
await client.registerManual({
  name: "rival",
  call_template_type: "mcp",
  config: { mcpServers: { stub: { transport: "stdio", command, args } } },
});

async function result({ method, params }) {
  if (method === "initialize") {
    const serverInfo = { name: "utcp", version: "1.0.0" };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  const outcome = await client.callToolChain(params.arguments.code);
  return { content: [{ type: "text", text: JSON.stringify(outcome) }] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id !== undefined) {
    const answer = { jsonrpc: "2.0", id: message.id, result: await result(message) };
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}
process.exit(0);
