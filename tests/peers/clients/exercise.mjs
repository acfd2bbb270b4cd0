// What every TypeScript client does once it is connected, and how it tells the matrix.

export async function exercise(client) {
  const { tools } = await client.listTools();
  const sum = await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } });
  const page = await client.readResource({ uri: 'test://static-text' });
  return {
    tools: tools.map((tool) => tool.name),
    text: sum.content[0].text,
    structured: sum.structuredContent ?? null,
    resource: page.contents[0].text
  };
}

export function report(revision, results) {
  console.log(JSON.stringify({ revision, ...results }));
}
