// The TypeScript SDK of MCP: calls that are answered and calls that are refused, as its client hands them on.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, script] = process.argv.slice(2);
const client = new Client({ name: "client-tests", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
// Listing the tools makes the client check every answer against the tool's output schema.
const { tools } = await client.listTools();
const told = [];
for (const { name, arguments: given, repeat } of JSON.parse(script)) {
  const filled = repeat ? { ...given, content: "x".repeat(repeat) } : given;
  try {
    told.push(await client.callTool({ name, arguments: filled }));
  } catch (error) {
    told.push({ thrown: String(error) });
  }
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), told }));
