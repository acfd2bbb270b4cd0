// What a TypeScript client does among the clients of the cluster, and how it tells the test: a line of JSON for each
// update that it tries, that is acknowledged, and for what a counter holds. It ends with its stdin.

import { createInterface } from 'node:readline';

export const capabilities = { elicitation: {} };
export const approves = () => ({ action: 'accept', content: { name: 'sdk' } });

const UPDATES = 30;
const APPROVED = 5; // one in so many updates is approved first

let goesOn = true;
createInterface({ input: process.stdin }).on('close', () => (goesOn = false));

const tell = (what) => console.log(JSON.stringify(what));
const breathe = () => new Promise((resolve) => setTimeout(resolve, 20));

// `connect` gives a client; what it cannot do any more, another one does.
export async function take_part(name, connect) {
  let client;
  const once = async (tool, args) => {
    try {
      client ??= await connect();
      const result = await client.callTool({ name: tool, arguments: args }, undefined, { timeout: 30_000 });
      return result.isError ? undefined : result.content[0].text;
    } catch {
      await client?.close().catch(() => {});
      client = undefined;
      await breathe();
    }
  };
  const insist = async (tool, args) => {
    for (;;) {
      const text = await once(tool, args);
      if (text !== undefined) return text;
    }
  };
  for (let counters = 0; goesOn; counters += 1) {
    const counter = `${name}-${counters}`;
    const handle = await insist('open', {});
    for (let n = 0; n < UPDATES && goesOn; n += 1) {
      const key = `${counter}-${n}`;
      tell({ tried: [counter, key] });
      if (n % APPROVED === 0) {
        // A call that was lost may have run: it is not made again.
        const outcome = await once('approve', { counter: handle, key, ms: 10 });
        if (!/^\d+\.\d+ sdk$/.test(outcome ?? '')) continue;
        tell({ told: [key, outcome] });
      } else {
        await insist('count', { counter: handle, key });
      }
      tell({ acknowledged: [counter, key] });
    }
    tell({ held: [counter, JSON.parse(await insist('tally', { counter: handle }))] });
  }
  await client?.close().catch(() => {});
}
