// A server of the TypeScript SDK 1.x. usage: node typescript_v1.mjs --stdio | --listen ADDRESS:PORT
//
// Over HTTP it serves Streamable HTTP at /mcp, and HTTP+SSE at /sse.

import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
  contents, filled, form, listen, progress, question, text, untilCancelled, wasCancelled, watched
} from './offers.mjs';

function create() {
  const server = new McpServer({ name: 'typescript-v1', version: '1' });
  server.server.registerCapabilities({ resources: { subscribe: true } });
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));

  const numbers = { a: z.number(), b: z.number() };
  server.registerTool('add', { inputSchema: numbers, outputSchema: { total: z.number() } }, ({ a, b }) => {
    const sum = { total: a + b };
    return { ...text(JSON.stringify(sum)), structuredContent: sum };
  });
  server.registerTool('test_tool_with_progress', {}, async (extra) => {
    await progress(extra._meta, extra.sendNotification, [0, 50, 100], 100);
    return text('done');
  });
  server.registerTool('test_elicitation', { inputSchema: { message: z.string() } }, async ({ message }, extra) => {
    return filled(await extra.sendRequest({ method: 'elicitation/create', params: form(message) }, ElicitResultSchema));
  });
  server.registerTool('test_sampling', { inputSchema: { prompt: z.string() } }, async ({ prompt }, extra) => {
    const request = { method: 'sampling/createMessage', params: question(prompt) };
    const said = await extra.sendRequest(request, CreateMessageResultSchema);
    return text(`LLM response: ${said.content.text}`);
  });
  server.registerTool('test_trigger_tool_change', {}, () => {
    server.sendToolListChanged();
    return text('changed');
  });
  server.registerTool('test_trigger_resource_update', {}, async () => {
    await server.server.sendResourceUpdated({ uri: watched });
    return text('changed');
  });
  server.registerTool('test_cancellation', { inputSchema: { key: z.string() } }, async ({ key }, extra) => {
    await progress(extra._meta, extra.sendNotification, [0], 1);
    await untilCancelled(extra.signal, key);
  });
  server.registerTool('test_cancelled', { inputSchema: { key: z.string() } }, wasCancelled);
  const page = 'This is the content of the static text resource.';
  server.registerResource('static', 'test://static-text', {}, (uri) => contents(uri.href, page));
  server.registerResource('watched', watched, {}, (uri) => contents(uri.href, 'Watched resource content'));
  server.registerPrompt('test_simple_prompt', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'This is a simple prompt for testing.' } }]
  }));
  return server;
}

// By the ids of their sessions.
const transports = new Map();

async function connected(transport) {
  await create().connect(transport);
  return transport;
}

async function streamable(request, response) {
  const session = request.headers['mcp-session-id'];
  const known = transports.get(session);
  if (session && !known) return response.writeHead(404).end();
  const transport = known ?? await connected(new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => transports.set(id, transport),
    onsessionclosed: (id) => transports.delete(id)
  }));
  return transport.handleRequest(request, response);
}

async function handle(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/mcp') return streamable(request, response);
  if (pathname === '/sse') {
    if (request.method !== 'GET') return response.writeHead(405).end();
    const transport = new SSEServerTransport('/messages', response);
    transports.set(transport.sessionId, transport);
    return connected(transport);
  }
  const known = transports.get(searchParams.get('sessionId'));
  return known ? known.handlePostMessage(request, response) : response.writeHead(404).end();
}

const [how, address] = process.argv.slice(2);
if (how === '--stdio') await connected(new StdioServerTransport());
else listen(address, http, handle);
