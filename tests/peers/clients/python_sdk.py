"""The Python SDK 2.x. usage: python_sdk.py REVISION http URL | REVISION stdio COMMAND..."""

import asyncio
import json
import sys

import mcp.client.session
from mcp import Client, StdioServerParameters
from mcp_types.version import MODERN_PROTOCOL_VERSIONS


async def main(wanted: str, kind: str, place: str, *args: str) -> None:
    server = place if kind == "http" else StdioServerParameters(command=place, args=list(args))
    mode = "auto" if wanted in MODERN_PROTOCOL_VERSIONS else "legacy"
    # This SDK always offers its newest handshake revision; an older one is put in its place.
    mcp.client.session.LATEST_HANDSHAKE_VERSION = wanted
    async with Client(server, mode=mode, read_timeout_seconds=10) as client:
        tools = await client.list_tools()
        total = await client.call_tool("add", {"a": 2, "b": 40})
        page = await client.read_resource("test://static-text")
        report = {
            "revision": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "text": total.content[0].text,
            "structured": total.structured_content,
            "resource": page.contents[0].text,
        }
    print(json.dumps(report))


asyncio.run(main(*sys.argv[1:]))
