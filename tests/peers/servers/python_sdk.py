"""A server of the Python SDK 2.x. usage: python_sdk.py --stdio | --listen ADDRESS:PORT

Over HTTP it serves Streamable HTTP at /mcp, and HTTP+SSE at /sse.
"""

import socket
import sys
from typing import Annotated

import anyio
import mcp_types as types
import uvicorn
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve, Sample
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

WATCHED = "test://watched-resource"

server = MCPServer("python")
cancelled = set()


class Sum(BaseModel):
    total: int


class User(BaseModel):
    username: str
    email: str


@server.tool()
def add(a: int, b: int) -> Sum:
    return Sum(total=a + b)


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
    return "done"


def who(message: str) -> Elicit[User]:
    return Elicit(message, User)


@server.tool()
async def test_elicitation(message: str, user: Annotated[ElicitationResult[User], Resolve(who)]) -> str:
    return f"{user.action}: {user.data.username}, {user.data.email}"


def capital(prompt: str) -> Sample:
    question = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    return Sample([question], max_tokens=100)


@server.tool()
async def test_sampling(prompt: str, said: Annotated[types.CreateMessageResult, Resolve(capital)]) -> str:
    return f"LLM response: {said.content.text}"


def is_modern(ctx: Context) -> bool:
    """Changes are published to those who listen, where there is listening; else they are sent."""
    return ctx.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    await (ctx.notify_tools_changed() if is_modern(ctx) else ctx.session.send_tool_list_changed())
    return "changed"


@server.tool()
async def test_trigger_resource_update(ctx: Context) -> str:
    await (ctx.notify_resource_updated(WATCHED) if is_modern(ctx) else ctx.session.send_resource_updated(WATCHED))
    return "changed"


@server.tool()
async def test_cancellation(key: str, ctx: Context) -> str:
    await ctx.report_progress(0, 1)
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        cancelled.add(key)
        raise


@server.tool()
def test_cancelled(key: str) -> str:
    return "cancelled" if key in cancelled else "not cancelled"


@server.resource("test://static-text")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource(WATCHED)
def watched() -> str:
    return "Watched resource content"


@server.prompt()
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


def listen(address: str) -> None:
    host, port = address.rsplit(":", 1)
    app = server.streamable_http_app(host=host)
    app.routes.extend(server.sse_app(host=host).routes)
    listener = socket.create_server((host, int(port)))
    print(f"http://{host}:{listener.getsockname()[1]}/mcp", flush=True)
    # Streams that are open do not hold up the end.
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if sys.argv[1] == "--stdio":
    server.run()
else:
    listen(sys.argv[2])
