"""The Python SDK 2.x in the cluster. usage: cluster_python.py URL REVISION

It tells the test what it does as the TypeScript clients do; see cluster.mjs.
"""

import asyncio
import json
import re
import sys
import threading

import httpx2
import mcp.client.session
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

UPDATES = 30
APPROVED = 5  # one in so many updates is approved first
PATIENCE = 30  # seconds that a call may take

over = threading.Event()


def watch_stdin() -> None:
    sys.stdin.read()
    over.set()


def tell(**what) -> None:
    print(json.dumps(what), flush=True)


async def approves(_context, _params) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "sdk"})


class Peer:
    """A client, and another one for what it cannot do any more."""

    def __init__(self, url: str, modern: bool):
        self.url, self.mode = url, "auto" if modern else "legacy"

    async def once(self, tool: str, arguments: dict) -> str | None:
        try:
            transport = streamable_http_client(self.url, http_client=httpx2.AsyncClient(timeout=PATIENCE))
            async with Client(
                transport, mode=self.mode, read_timeout_seconds=PATIENCE, elicitation_callback=approves
            ) as client:
                result = await client.call_tool(tool, arguments)
                return None if result.is_error else result.content[0].text
        except (Exception, asyncio.CancelledError):
            await asyncio.sleep(0.02)
            return None

    async def insist(self, tool: str, arguments: dict) -> str:
        while True:
            if (text := await self.once(tool, arguments)) is not None:
                return text


async def main(url: str, wanted: str) -> None:
    threading.Thread(target=watch_stdin, daemon=True).start()
    # This SDK always offers its newest handshake revision; an older one is put in its place.
    mcp.client.session.LATEST_HANDSHAKE_VERSION = wanted
    peer = Peer(url, wanted in MODERN_PROTOCOL_VERSIONS)
    counters = 0
    while not over.is_set():
        counter = f"python-{wanted}-{counters}"
        counters += 1
        handle = await peer.insist("open", {})
        for n in range(UPDATES):
            if over.is_set():
                break
            key = f"{counter}-{n}"
            tell(tried=[counter, key])
            if n % APPROVED == 0:
                # A call that was lost may have run: it is not made again.
                outcome = await peer.once("approve", {"counter": handle, "key": key, "ms": 10})
                if not re.fullmatch(r"\d+\.\d+ sdk", outcome or ""):
                    continue
                tell(told=[key, outcome])
            else:
                await peer.insist("count", {"counter": handle, "key": key})
            tell(acknowledged=[counter, key])
        tell(held=[counter, json.loads(await peer.insist("tally", {"counter": handle}))])


asyncio.run(main(*sys.argv[1:]))
