// Calls every tool of a server wrongly through an SDK for TypeScript, and prints what arrives.
// Arguments: the SDK, the era, the server's command. NODE_PATH is where the SDK is.
import { createRequire } from "node:module";

const [sdk, era, command, ...args] = process.argv.slice(2);
const require = createRequire(`${process.env.NODE_PATH}/`);
const legacy = sdk === "@modelcontextprotocol/sdk";
const { Client } = require(legacy ? `${sdk}/client/index.js` : sdk);
const { StdioClientTransport } = require(legacy ? `${sdk}/client/stdio.js` : `${sdk}/stdio`);

const client = new Client(
  { name: "test", version: "1" },
  legacy ? {} : { versionNegotiation: { mode: era } },
);
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
const answers = {};
for (const name of [...tools.map((tool) => tool.name), "no_such_tool"]) {
  try {
    answers[name] = await client.callTool({ name, arguments: { no_such_argument: 1 } });
  } catch (error) {
    answers[name] = { thrown: String(error) };
  }
}
console.log(JSON.stringify(answers));
await client.close();
