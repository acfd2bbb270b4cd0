#!/usr/bin/env python3
"""Let the example `mcp` reach every server at every revision and transport that it speaks.

usage: servers.py --client COMMAND --server NAME=COMMAND ...

A cell is one server, transport and revision: the client must negotiate that very revision, list the expected tools,
and get exactly the expected results of a tool and of a resource or prompt, where the server has one.
"""

import argparse
import json
import shlex
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass

from installed import NODE_MODULES, TARGET, ensure_node, node
from server import add_server_option, listening

CELL_LIMIT = 30  # seconds for one command

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
REVISIONS = [*HANDSHAKE, "2026-07-28"]


@dataclass(frozen=True)
class Server:
    name: str
    place: list[str]  # a URL, or a command
    transport: str
    revisions: list[str]
    checks: list[tuple[list[str], str]]  # what is asked, and what is printed


OURS = [
    (["call", "add", "a=2", "b=40"], '{"total":42}'),
    (["read", "test://static-text"], "This is the content of the static text resource."),
    (["prompt", "test_simple_prompt"], "user:\nThis is a simple prompt for testing."),
]
EVERYTHING = [
    (["call", "echo", "message=hello"], "Echo: hello"),
    (["call", "trigger-long-running-operation", "duration=1", "steps=3"],
     "Long running operation completed. Duration: 1 seconds, Steps: 3."),
    (["prompt", "simple-prompt"], "user:\nThis is a simple prompt without arguments."),
]


def npm_servers() -> list[Server]:
    programs = NODE_MODULES / "@modelcontextprotocol"
    everything = [node(), str(programs / "server-everything" / "dist" / "index.js")]
    home = TARGET / "files"
    home.mkdir(exist_ok=True)
    (home / "note.txt").write_text("a note")
    files = [node(), str(programs / "server-filesystem" / "dist" / "index.js"), str(home)]
    read = [(["call", "read_text_file", f"path={home}/note.txt"], "a note")]
    return [Server("npm server-everything", everything, "stdio", HANDSHAKE, EVERYTHING),
            Server("npm server-filesystem", files, "stdio", HANDSHAKE, read)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_server_option(parser)
    parser.add_argument("--client", required=True, type=shlex.split, metavar="COMMAND")
    arguments = parser.parse_args()
    ensure_node()
    passed, failures = 0, []
    with ExitStack() as running:
        servers = npm_servers()
        for name, command in arguments.server:
            url = running.enter_context(listening(f"servers-{name}", command))
            servers.append(Server(name, [url], "http", REVISIONS, OURS))
            servers.append(Server(name, [url.replace("/mcp", "/sse")], "sse", HANDSHAKE, OURS))
            servers.append(Server(name, [*command, "--stdio"], "stdio", REVISIONS, OURS))
        for server in servers:
            words = []
            for revision in REVISIONS:
                wrong = difference(arguments.client, server, revision) if revision in server.revisions else None
                words.append("-" if wrong is None else "FAILED" if wrong else "ok")
                passed += wrong == ""
                failures += [f"{server.name} {server.transport} {revision}: {wrong}"] if wrong else []
            print(f"{server.name:24}{server.transport:8}" + "".join(f"{word:12}" for word in words).rstrip())
    print("-  has the handshake only", *failures, sep="\n")
    print(f"servers: {passed} passed, {len(failures)} failed")
    raise SystemExit(bool(failures))


def difference(client: list[str], server: Server, revision: str) -> str:
    """Nothing where the cell holds, else what is wrong."""
    def ask(words: list[str], *options: str) -> str:
        command = [*client, "--revision", revision, *options, *server.place, "--", *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CELL_LIMIT)
        if done.returncode != 0:
            raise ValueError(f"{words} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout.strip()

    try:
        spoken = json.loads(ask(["describe"], "--json"))["revision"]
        if spoken != revision:
            return f"speaks {spoken}"
        for words, expected in server.checks:
            if (printed := ask(words)) != expected:
                return f"{words} printed {printed!r}"
    except (ValueError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main()
