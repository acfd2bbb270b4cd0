"""A client of nothing but the standard library. usage: raw.py REVISION http URL | REVISION stdio COMMAND...

It writes what the specification's pages show, and where the revision has batches it sends its calls as one.
"""

import http.client
import json
import subprocess
import sys
from urllib.parse import urlsplit

STATELESS = {"2026-07-28"}
BATCHES = {"2025-03-26"}
TIMEOUT = 10  # seconds that a reply may take
CLIENT = {"name": "raw", "version": "1"}

CALLS = [
    ("tools/list", {}, None),
    ("tools/call", {"name": "add", "arguments": {"a": 2, "b": 40}}, "add"),
    ("resources/read", {"uri": "test://static-text"}, "test://static-text"),
]


class Http:
    """Streamable HTTP: one POST per message, the session and the revision in headers."""

    def __init__(self, url: str):
        self.url = urlsplit(url)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def send(self, message, **headers) -> list:
        named = {name.replace("_", "-"): value for name, value in headers.items() if value}
        connection = http.client.HTTPConnection(self.url.netloc, timeout=TIMEOUT)
        connection.request("POST", self.url.path, json.dumps(message), {**self.headers, **named})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        if response.status >= 300:
            raise SystemExit(f"HTTP {response.status}: {text}")
        if session := response.headers["Mcp-Session-Id"]:
            self.headers["Mcp-Session-Id"] = session
        if response.headers.get_content_type() == "text/event-stream":
            return [json.loads(data) for data in event_data(text)]
        return [json.loads(text)] if text else []

    def speaks(self, revision: str) -> None:
        self.headers["MCP-Protocol-Version"] = revision

    def close(self) -> None:
        pass


class Stdio:
    """One message a line to a child process."""

    def __init__(self, command: list[str]):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, message, **_headers) -> list:
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()
        if isinstance(message, dict) and "id" not in message:
            return []
        for line in self.child.stdout:
            reply = json.loads(line)
            if isinstance(reply, list) or "id" in reply:
                return [reply]
        raise SystemExit("the server closed its output")

    def speaks(self, revision: str) -> None:
        pass

    def close(self) -> None:
        self.child.stdin.close()
        self.child.wait(TIMEOUT)


def event_data(text: str):
    for event in text.replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:"))
        if data:
            yield data


def request(id: int, method: str, params: dict) -> dict:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def results(messages: list) -> list[dict]:
    """The results by order of their ids; notifications on the way are passed over."""
    flat = [one for message in messages for one in (message if isinstance(message, list) else [message])]
    replies = sorted((one for one in flat if "id" in one), key=lambda reply: reply["id"])
    for reply in replies:
        if "result" not in reply:
            raise SystemExit(f"no result: {json.dumps(reply)}")
    return [reply["result"] for reply in replies]


def stateless(peer, revision: str) -> tuple[str, list[dict]]:
    """Every request carries the revision, the client and its capabilities."""
    peer.speaks(revision)
    prefix = "io.modelcontextprotocol/"
    meta = {prefix + "protocolVersion": revision, prefix + "clientInfo": CLIENT, prefix + "clientCapabilities": {}}

    def ask(id: int, method: str, params: dict, name: str | None) -> dict:
        message = request(id, method, {**params, "_meta": meta})
        return results(peer.send(message, Mcp_Method=method, Mcp_Name=name))[0]

    supported = ask(0, "server/discover", {}, None)["supportedVersions"]
    if revision not in supported:
        raise SystemExit(f"discover supports {supported}")
    return revision, [ask(id, *call) for id, call in enumerate(CALLS, 1)]


def handshake(peer, revision: str) -> tuple[str, list[dict]]:
    """`initialize` first; then one by one, or all in one batch."""
    offer = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
    [hello] = results(peer.send(request(0, "initialize", offer)))
    peer.speaks(hello["protocolVersion"])
    peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    requests = [request(id, method, params) for id, (method, params, _) in enumerate(CALLS, 1)]
    messages = [requests] if revision in BATCHES else requests
    return hello["protocolVersion"], results([reply for message in messages for reply in peer.send(message)])


def main(wanted: str, kind: str, *place: str) -> None:
    peer = Http(place[0]) if kind == "http" else Stdio(list(place))
    try:
        talk = stateless if wanted in STATELESS else handshake
        revision, (tools, total, page) = talk(peer, wanted)
    finally:
        peer.close()
    print(json.dumps({
        "revision": revision,
        "tools": [tool["name"] for tool in tools["tools"]],
        "text": total["content"][0]["text"],
        "structured": total.get("structuredContent"),
        "resource": page["contents"][0]["text"],
    }))


main(*sys.argv[1:])
