// What the servers of both TypeScript SDKs have in common.

export const watched = 'test://watched-resource';
export const text = (text) => ({ content: [{ type: 'text', text }] });
export const contents = (uri, text) => ({ contents: [{ uri, text }] });

export const form = (message) => ({
  message,
  requestedSchema: {
    type: 'object',
    properties: { username: { type: 'string' }, email: { type: 'string' } },
    required: ['username', 'email']
  }
});

export const question = (prompt) => ({
  messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
  maxTokens: 100
});

export const filled = ({ action, content }) => text(`${action}: ${content?.username}, ${content?.email}`);

// The keys of calls that were cancelled.
const cancelled = new Set();

export const wasCancelled = ({ key }) => text(cancelled.has(key) ? 'cancelled' : 'not cancelled');

export function untilCancelled(signal, key) {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      cancelled.add(key);
      reject(new Error('cancelled'));
    });
  });
}

// Tells how far a call has come, on its own stream.
export async function progress(meta, notify, steps, total) {
  for (const progress of steps) {
    const params = { progressToken: meta?.progressToken, progress, total };
    if (meta?.progressToken !== undefined) await notify({ method: 'notifications/progress', params });
  }
}

// Serves `handler` at an address, and says where.
export function listen(address, http, handler) {
  const [host, port] = address.split(':');
  const server = http.createServer(handler);
  server.listen(Number(port), host, () => console.log(`http://${host}:${server.address().port}/mcp`));
}
