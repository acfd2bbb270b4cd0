"""A server of the first versions of the Python SDK 1.x, on stdio, with what all of them have. usage: python_sdk_1.py"""

from mcp.server.fastmcp import FastMCP

server = FastMCP("python")


@server.tool()
def add(a: int, b: int) -> str:
    return str(a + b)


@server.tool()
def greet(name: str) -> str:
    return f"Hello, {name}!"


@server.resource("test://static-text")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("note://{name}")
def note(name: str) -> str:
    return f"A note on {name}."


@server.prompt()
def review(code: str) -> str:
    return f"Please review {code}."


server.run()
