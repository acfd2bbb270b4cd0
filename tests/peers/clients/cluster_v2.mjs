// The TypeScript SDK 2.x in the cluster. usage: node cluster_v2.mjs URL REVISION

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { approves, capabilities, take_part } from './cluster.mjs';

const [place, wanted] = process.argv.slice(2);
const offer = wanted === '2026-07-28'
  ? { versionNegotiation: { mode: { pin: wanted } } }
  : { supportedProtocolVersions: [wanted] };

await take_part(`typescript-v2-${wanted}`, async () => {
  const client = new Client({ name: 'typescript-v2', version: '1' }, { capabilities, ...offer });
  client.setRequestHandler('elicitation/create', approves);
  await client.connect(new StreamableHTTPClientTransport(new URL(place)));
  return client;
});
process.exit(0);
