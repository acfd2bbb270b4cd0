// The TypeScript SDK 1.x in the cluster. usage: node cluster_v1.mjs URL

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { approves, capabilities, take_part } from './cluster.mjs';

const url = new URL(process.argv[2]);

await take_part('typescript-v1', async () => {
  const client = new Client({ name: 'typescript-v1', version: '1' }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, approves);
  await client.connect(new StreamableHTTPClientTransport(url));
  return client;
});
process.exit(0);
