// What every TypeScript client does, how it answers when it is asked, and how it tells the matrix.

export const capabilities = { elicitation: {}, sampling: {} };

export const answers = {
  'elicitation/create': () => ({ action: 'accept', content: { username: 'Ada', email: 'ada@example.com' } }),
  'sampling/createMessage': () => ({
    role: 'assistant',
    model: 'none',
    content: { type: 'text', text: 'Paris' }
  })
};

export const watched = 'test://watched-resource';

// The changes that a client was told of.
const heard = new Set();

export const hear = {
  tools: () => heard.add('tools'),
  resource: ({ params }) => heard.add(params.uri)
};

// How often a client came back for the rest of a stream.
let resumptions = 0;

export function counting(url, init) {
  if (new Headers(init?.headers).has('last-event-id')) resumptions += 1;
  return fetch(url, init);
}

export async function exercise(client) {
  const text = async (name, args) => (await client.callTool({ name, arguments: args })).content[0].text;
  const { tools } = await client.listTools();
  const sum = await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } });
  const page = await client.readResource({ uri: 'test://static-text' });
  return {
    tools: tools.map((tool) => tool.name),
    text: sum.content[0].text,
    structured: sum.structuredContent ?? null,
    resource: page.contents[0].text,
    elicited: await elicited((args) => text('test_elicitation', args)),
    sampled: await text('test_sampling', { prompt: 'What is the capital of France?' }),
    reconnected: await text('test_reconnection', {}),
    resumptions,
    changed: await changed(text)
  };
}

// Where the revision has no way to ask, the answer is in the next call's arguments, which a model would write.
async function elicited(call) {
  const said = await call({ message: 'Who are you?' });
  const example = said.split('\n\n').at(-1);
  if (!example.startsWith('{')) return said;
  return call({ ...JSON.parse(example), input_responses: { user: answers['elicitation/create']() } });
}

// The SDKs open the stream of changes when they like, so the changes are made until they are told.
async function changed(text) {
  while (heard.size < 2) {
    await text('test_trigger_tool_change', {});
    await text('test_trigger_resource_update', {});
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return [...heard].sort();
}

export function report(revision, results) {
  console.log(JSON.stringify({ revision, ...results }));
}
