"""The Python SDK 2.x. usage: python_sdk.py REVISION http|sse URL | REVISION stdio COMMAND..."""

import asyncio
import json
import sys
from contextlib import AsyncExitStack

import mcp.client.session
import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

resumptions = 0  # how often this client came back for the rest of a stream


async def count(request: httpx2.Request) -> None:
    global resumptions
    resumptions += "last-event-id" in request.headers


def http(url: str):
    client = httpx2.AsyncClient(timeout=10, event_hooks={"request": [count]})
    return streamable_http_client(url, http_client=client)


SERVERS = {
    "http": http,
    "sse": sse_client,
    "stdio": lambda command, *args: StdioServerParameters(command=command, args=list(args)),
}


WATCHED = "test://watched-resource"
ACCEPTED = {"action": "accept", "content": {"username": "Ada", "email": "ada@example.com"}}


async def fill_in(_context, _params) -> types.ElicitResult:
    return types.ElicitResult(**ACCEPTED)


async def sample(_context, _params) -> types.CreateMessageResult:
    content = types.TextContent(type="text", text="Paris")
    return types.CreateMessageResult(role="assistant", model="none", content=content)


async def main(wanted: str, kind: str, *place: str) -> None:
    modern = wanted in MODERN_PROTOCOL_VERSIONS
    heard = set()

    async def notified(message) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            heard.add("tools")
        elif isinstance(message, types.ResourceUpdatedNotification):
            heard.add(message.params.uri)

    # This SDK always offers its newest handshake revision; an older one is put in its place.
    mcp.client.session.LATEST_HANDSHAKE_VERSION = wanted
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(
            SERVERS[kind](*place), mode="auto" if modern else "legacy", read_timeout_seconds=10,
            elicitation_callback=fill_in, sampling_callback=sample, message_handler=notified,
        ))
        # Changes of lists are told unasked before, and on a stream that is asked for since.
        if modern:
            listening = client.listen(tools_list_changed=True, resource_subscriptions=[WATCHED])
            changes = await stack.enter_async_context(listening)
        else:
            await client.subscribe_resource(WATCHED)

        async def text(tool: str, arguments: dict) -> str:
            return (await client.call_tool(tool, arguments)).content[0].text

        async def elicited() -> str:
            """Where the revision has no way to ask, the answer is in the next call's arguments, which a model would
            write."""
            said = await text("test_elicitation", {"message": "Who are you?"})
            example = said.split("\n\n")[-1]
            if not example.startswith("{"):
                return said
            return await text("test_elicitation", {**json.loads(example), "input_responses": {"user": ACCEPTED}})

        async def changed() -> list[str]:
            """The SDK opens the stream of changes when it likes, so the changes are made until they are told."""
            while len(heard) < 2:
                await text("test_trigger_tool_change", {})
                await text("test_trigger_resource_update", {})
                if modern:
                    event = await anext(changes)
                    heard.add(event.uri if isinstance(event, ResourceUpdated) else "tools")
                await asyncio.sleep(0.1)
            return sorted(heard)

        tools = await client.list_tools()
        total = await client.call_tool("add", {"a": 2, "b": 40})
        page = await client.read_resource("test://static-text")
        report = {
            "revision": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "text": total.content[0].text,
            "structured": total.structured_content,
            "resource": page.contents[0].text,
            "elicited": await elicited(),
            "sampled": await text("test_sampling", {"prompt": "What is the capital of France?"}),
            "reconnected": await text("test_reconnection", {}),
            "resumptions": resumptions,
            "changed": await changed(),
        }
    print(json.dumps(report))


asyncio.run(main(*sys.argv[1:]))
