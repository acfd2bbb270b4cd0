// The TypeScript SDK 1.x. usage: node typescript_v1.mjs REVISION http|sse URL | REVISION stdio COMMAND...

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';
import { answers, capabilities, counting, exercise, hear, report, watched } from './exercise.mjs';

const [wanted, kind, place, ...args] = process.argv.slice(2);

const transport = {
  http: () => new StreamableHTTPClientTransport(new URL(place), { fetch: counting }),
  sse: () => new SSEClientTransport(new URL(place)),
  stdio: () => new StdioClientTransport({ command: place, args })
}[kind]();

// This SDK always offers its newest revision; an older one is put into the offer on its way out.
const send = transport.send.bind(transport);
transport.send = (message, options) => {
  if (message.method === 'initialize') message.params.protocolVersion = wanted;
  return send(message, options);
};

let negotiated;
const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  negotiated = version;
  setProtocolVersion?.(version);
};

const client = new Client({ name: 'typescript-v1', version: '1' }, { capabilities });
client.setRequestHandler(ElicitRequestSchema, answers['elicitation/create']);
client.setRequestHandler(CreateMessageRequestSchema, answers['sampling/createMessage']);
client.setNotificationHandler(ToolListChangedNotificationSchema, hear.tools);
client.setNotificationHandler(ResourceUpdatedNotificationSchema, hear.resource);
await client.connect(transport);
await client.subscribeResource({ uri: watched });
report(negotiated, await exercise(client));
await transport.terminateSession?.();
await client.close();
