// The TypeScript SDK 2.x. usage: node typescript_v2.mjs REVISION http|sse URL | REVISION stdio COMMAND...

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answers, capabilities, counting, exercise, hear, report, watched } from './exercise.mjs';

const [wanted, kind, place, ...args] = process.argv.slice(2);

const transport = {
  http: () => new StreamableHTTPClientTransport(new URL(place), { fetch: counting }),
  sse: () => new SSEClientTransport(new URL(place)),
  stdio: () => new StdioClientTransport({ command: place, args })
}[kind]();

const modern = wanted === '2026-07-28';
const offer = modern
  ? { versionNegotiation: { mode: { pin: wanted } } }
  : { supportedProtocolVersions: [wanted] };

const client = new Client({ name: 'typescript-v2', version: '1' }, { capabilities, ...offer });
for (const [method, answer] of Object.entries(answers)) client.setRequestHandler(method, answer);
client.setNotificationHandler('notifications/tools/list_changed', hear.tools);
client.setNotificationHandler('notifications/resources/updated', hear.resource);
await client.connect(transport);
// Changes of lists are told unasked before, and on a stream that is asked for since.
const listening = modern
  ? await client.listen({ toolsListChanged: true, resourceSubscriptions: [watched] })
  : await client.subscribeResource({ uri: watched });
report(client.getNegotiatedProtocolVersion(), await exercise(client));
await listening.close?.();
await transport.terminateSession?.();
await client.close();
