"""The MCP clients of agent frameworks. usage: frameworks.py adk|langchain|langchain-each|openai http|sse URL | ... stdio COMMAND...

They are called as their agents call them, without a model. Over HTTP one asks for a restart of the server, with the
line `restart`, and goes on after a line of its stdin.
"""

import asyncio
import json
import logging
import os
import sys
from contextlib import AsyncExitStack

import anyio

os.environ.update(OPENAI_AGENTS_DISABLE_TRACING="1", LANGSMITH_TRACING="false")
ACCEPTED = {"action": "accept", "content": {"username": "Ada", "email": "ada@example.com"}}
PATIENCE = 10  # seconds that a call may take


def texts(content) -> str:
    return "\n".join(it["text"] if isinstance(it, dict) else it.text for it in content)


async def accepts(_context, _params, *_more):
    from mcp.types import ElicitResult

    return ElicitResult(**ACCEPTED)


class Adk:
    """google-adk."""

    can_answer = True

    def __init__(self, kind: str, place: list[str], answers: bool):
        from google.adk.tools.mcp_tool import McpToolset
        from google.adk.tools.mcp_tool import mcp_session_manager as adk
        from mcp import StdioServerParameters

        if kind == "http":
            params = adk.StreamableHTTPConnectionParams(url=place[0])
        elif kind == "sse":
            params = adk.SseConnectionParams(url=place[0])
        else:
            server = StdioServerParameters(command=place[0], args=place[1:])
            params = adk.StdioConnectionParams(server_params=server)
        self.toolset = McpToolset(connection_params=params, elicitation_callback=accepts if answers else None)

    async def connect(self) -> list[str]:
        from google.adk.agents import BaseAgent
        from google.adk.agents.invocation_context import InvocationContext
        from google.adk.sessions import InMemorySessionService
        from google.adk.tools.tool_context import ToolContext

        sessions = InMemorySessionService()
        session = await sessions.create_session(app_name="peers", user_id="ada")
        self.context = ToolContext(InvocationContext(
            session_service=sessions, invocation_id="1", agent=BaseAgent(name="peers"), session=session))
        self.tools = {tool.name: tool for tool in await self.toolset.get_tools()}
        return list(self.tools)

    async def call(self, name: str, arguments: dict) -> str:
        said = await self.tools[name].run_async(args=arguments, tool_context=self.context)
        return f"error: {said['error']}" if "error" in said else texts(said["content"])

    async def close(self) -> None:
        await self.toolset.close()


class Langchain:
    """langchain-mcp-adapters, with a session that is kept."""

    can_answer = True

    def __init__(self, kind: str, place: list[str], answers: bool):
        from langchain_mcp_adapters.callbacks import Callbacks
        from langchain_mcp_adapters.client import MultiServerMCPClient

        if kind == "stdio":
            connection = {"transport": "stdio", "command": place[0], "args": place[1:]}
        else:
            connection = {"transport": {"http": "streamable_http", "sse": "sse"}[kind], "url": place[0]}
        callbacks = Callbacks(on_elicitation=accepts) if answers else None
        self.client = MultiServerMCPClient({"peers": connection}, callbacks=callbacks)

    async def connect(self) -> list[str]:
        from langchain_mcp_adapters.tools import load_mcp_tools

        self.stack = AsyncExitStack()
        session = await self.stack.enter_async_context(self.client.session("peers"))
        self.tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        return list(self.tools)

    async def call(self, name: str, arguments: dict) -> str:
        said = await self.tools[name].ainvoke(arguments)
        return said if isinstance(said, str) else texts(said)

    async def close(self) -> None:
        await self.stack.aclose()


class LangchainEach(Langchain):
    """langchain-mcp-adapters, with a session for each call."""

    async def connect(self) -> list[str]:
        self.stack = AsyncExitStack()
        self.tools = {tool.name: tool for tool in await self.client.get_tools()}
        return list(self.tools)


class OpenAi:
    """openai-agents."""

    can_answer = False

    def __init__(self, kind: str, place: list[str], answers: bool):
        from agents import mcp

        if kind == "stdio":
            self.server = mcp.MCPServerStdio({"command": place[0], "args": place[1:]}, failure_error_function=None)
        else:
            server = {"http": mcp.MCPServerStreamableHttp, "sse": mcp.MCPServerSse}[kind]
            self.server = server({"url": place[0]}, failure_error_function=None)

    async def connect(self) -> list[str]:
        from agents import Agent, RunContextWrapper
        from agents.mcp import MCPUtil

        await self.server.connect()
        tools = await MCPUtil.get_function_tools(
            self.server, convert_schemas_to_strict=False, run_context=RunContextWrapper(None), agent=Agent(name="peers"))
        self.tools = {tool.name: tool for tool in tools}
        return list(self.tools)

    async def call(self, name: str, arguments: dict) -> str:
        from agents.tool_context import ToolContext

        words = json.dumps(arguments)
        context = ToolContext(None, tool_name=name, tool_call_id="1", tool_arguments=words)
        said = await self.tools[name].on_invoke_tool(context, words)
        if isinstance(said, str):
            return f"error: {said}"
        return texts(said if isinstance(said, list) else [said])

    async def close(self) -> None:
        await self.server.cleanup()


FRAMEWORKS = {"adk": Adk, "langchain": Langchain, "langchain-each": LangchainEach, "openai": OpenAi}


async def main(name: str, kind: str, *place: str) -> None:
    framework = FRAMEWORKS[name]

    async def opened(answers: bool):
        client = framework(kind, list(place), answers)
        return client, await client.connect()

    async def said(client, tool: str, arguments: dict) -> str:
        try:
            with anyio.fail_after(PATIENCE):
                return await client.call(tool, arguments)
        except Exception as error:
            return f"raised {type(error).__name__}: {error}"

    client, tools = await opened(answers=False)
    report = {"tools": tools, "call": await said(client, "add", {"a": 2, "b": 40})}

    # What it cannot answer is asked in words, and answered in the next call's arguments, which a model would write.
    asked = await said(client, "test_elicitation", {"message": "Who are you?"})
    report["asked in words"] = asked
    example = asked.split("\n\n")[-1]
    if example.startswith("{"):
        answer = {**json.loads(example), "input_responses": {"user": ACCEPTED}}
        report["answered in arguments"] = await said(client, "test_elicitation", answer)

    if framework.can_answer:
        other, _ = await opened(answers=True)
        report["answered"] = await said(other, "test_elicitation", {"message": "Who are you?"})
        await other.close()

    if kind == "http":
        print("restart", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        report["restarted"] = await said(client, "add", {"a": 2, "b": 40})
        report["again"] = await said(client, "add", {"a": 2, "b": 40})
        fresh, _ = await opened(answers=False)
        report["fresh"] = await said(fresh, "add", {"a": 2, "b": 40})
        await fresh.close()
    await client.close()
    print(json.dumps(report), flush=True)


logging.disable(logging.CRITICAL)
asyncio.run(main(*sys.argv[1:]))
