// A server of the TypeScript SDK 2.x. usage: node typescript_v2.mjs --stdio | --listen ADDRESS:PORT

import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
  McpServer, createMcpHandler, inputRequired, inputResponse, isLegacyRequest
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import {
  contents, filled, form, listen, progress, question, text, untilCancelled, wasCancelled, watched
} from './offers.mjs';

function create({ era }) {
  const server = new McpServer({ name: 'typescript-v2', version: '1' }, {
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } }
  });
  if (era === 'legacy') {
    server.server.setRequestHandler('resources/subscribe', () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  }
  const modern = era === 'modern';

  const numbers = z.object({ a: z.number(), b: z.number() });
  const sums = z.object({ total: z.number() });
  server.registerTool('add', { inputSchema: numbers, outputSchema: sums }, ({ a, b }) => {
    const sum = { total: a + b };
    return { ...text(JSON.stringify(sum)), structuredContent: sum };
  });
  server.registerTool('test_tool_with_progress', {}, async (ctx) => {
    await progress(ctx.mcpReq._meta, ctx.mcpReq.notify, [0, 50, 100], 100);
    return text('done');
  });
  // Questions are results. With older clients the SDK makes requests of them.
  server.registerTool('test_elicitation', { inputSchema: z.object({ message: z.string() }) }, ({ message }, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'user');
    if (answer.kind === 'elicit') return filled(answer);
    return inputRequired({ inputRequests: { user: inputRequired.elicit(form(message)) } });
  });
  server.registerTool('test_sampling', { inputSchema: z.object({ prompt: z.string() }) }, ({ prompt }, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'capital');
    if (answer.kind === 'sampling') return text(`LLM response: ${answer.result.content.text}`);
    return inputRequired({ inputRequests: { capital: inputRequired.createMessage(question(prompt)) } });
  });
  server.registerTool('test_trigger_tool_change', {}, () => {
    if (modern && handler) handler.notify.toolsChanged();
    else server.sendToolListChanged();
    return text('changed');
  });
  server.registerTool('test_trigger_resource_update', {}, async () => {
    if (modern && handler) handler.notify.resourceUpdated(watched);
    else await server.server.sendResourceUpdated({ uri: watched });
    return text('changed');
  });
  const key = z.object({ key: z.string() });
  server.registerTool('test_cancellation', { inputSchema: key }, async ({ key }, ctx) => {
    await progress(ctx.mcpReq._meta, ctx.mcpReq.notify, [0], 1);
    await untilCancelled(ctx.mcpReq.signal, key);
  });
  server.registerTool('test_cancelled', { inputSchema: key }, wasCancelled);
  const page = 'This is the content of the static text resource.';
  server.registerResource('static', 'test://static-text', {}, (uri) => contents(uri.href, page));
  server.registerResource('watched', watched, {}, (uri) => contents(uri.href, 'Watched resource content'));
  server.registerPrompt('test_simple_prompt', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'This is a simple prompt for testing.' } }]
  }));
  return server;
}

const [how, address] = process.argv.slice(2);
const handler = how === '--stdio' ? undefined : createMcpHandler(create, { legacy: 'reject' });

// Sessions of older clients, by id.
const sessions = new Map();

async function older(request, response, body) {
  const session = request.headers['mcp-session-id'];
  const known = sessions.get(session);
  if (session && !known) return response.writeHead(404).end();
  if (known) return known.handleRequest(request, response, body);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id)
  });
  await create({ era: 'legacy' }).connect(transport);
  return transport.handleRequest(request, response, body);
}

async function serve(request, response) {
  const chunks = await Array.fromAsync(request);
  const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks)) : undefined;
  if (await isLegacyRequest(await toWebRequest(request, body))) return older(request, response, body);
  return toNodeHandler(handler)(request, response, body);
}

if (how === '--stdio') serveStdio(create);
else listen(address, http, serve);
