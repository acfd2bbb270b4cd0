// The TypeScript SDK 2.x. usage: node typescript_v2.mjs REVISION http URL | REVISION stdio COMMAND...

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { exercise, report } from './exercise.mjs';

const [wanted, kind, place, ...args] = process.argv.slice(2);

const transport =
  kind === 'http'
    ? new StreamableHTTPClientTransport(new URL(place))
    : new StdioClientTransport({ command: place, args });

const offer =
  wanted === '2026-07-28'
    ? { versionNegotiation: { mode: { pin: wanted } } }
    : { supportedProtocolVersions: [wanted] };

const client = new Client({ name: 'typescript-v2', version: '1' }, offer);
await client.connect(transport);
report(client.getNegotiatedProtocolVersion(), await exercise(client));
await transport.terminateSession?.();
await client.close();
