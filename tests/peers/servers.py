#!/usr/bin/env python3
"""Take every server through the same steps with our client, at every revision and transport that it speaks.

usage: servers.py --client NAME=COMMAND ... --server NAME=COMMAND ...

A cell is one client, server, transport and revision. The client must have negotiated that very revision, and every
step must give exactly the expected result: the lists, a tool's value, how far a call said to have come, a resource, a
prompt, the answers to a form and to a question for a model, the changes of the tool list and of a resource, and what
became of a call that was cancelled. What a server lacks is named below the table.

With old servers the client is not told the revision: it has to find out, though they are silent at what they do not
know, and end at the message after it.
"""

import argparse
import json
import os
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from installed import (HERE, NODE_MODULES, OLD_SDKS, PYTHON, REPOSITORY, TARGET, ensure_node, ensure_old_pythons,
                       ensure_python, node, old_python)
from server import add_server_option, listening, named_command

CELL_LIMIT = 30  # seconds for one cell
AT_ONCE = 2  # cells that run side by side

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
REVISIONS = [*HANDSHAKE, "2026-07-28"]
BEFORE_FORMS = HANDSHAKE[:2]  # where a server cannot ask with a form

FILES = TARGET / "files"
KEY = "KEY"  # stands for the name of the cell


@dataclass(frozen=True)
class Check:
    step: dict
    expected: object
    revisions: list[str] = field(default_factory=lambda: REVISIONS)


@dataclass(frozen=True)
class Server:
    name: str
    transports: dict[str, tuple[list[str], list[str]]]  # its place, a URL or a command, and its revisions
    checks: dict[str, Check]
    lacks: list[str]
    is_found_out: bool = False  # the client finds out which revision it speaks


def call(name: str, **arguments) -> dict:
    return {"name": name, "arguments": arguments}


def offers(*, tools: list[str], resources: list[str], prompts: list[str], form: str,
           before_values: list[str] = (), value=json.dumps, wraps: bool = False, forms: list[str] = REVISIONS) -> dict:
    """The checks of a server that offers what our example does. `wraps`: its texts are values for programs too."""
    def said(text: str) -> dict:
        return {"text": text, "structured": {"result": text}} if wraps else {"text": text}

    total = {"total": 42}
    with_value = [revision for revision in REVISIONS if revision not in before_values]
    watched = "test://watched-resource"
    causes = [call("test_trigger_tool_change"), call("test_trigger_resource_update")]
    cancel = {"call": call("test_cancellation", key=KEY), "then": call("test_cancelled", key=KEY), "until": "cancelled"}
    add = {"call": call("add", a=2, b=40)}
    return {
        "tools": Check({"tools": {}}, tools),
        "resources": Check({"resources": {}}, resources),
        "prompts": Check({"prompts": {}}, prompts),
        "call": Check(add, {"text": value(total), "structured": total}, with_value),
        "call for text": Check(add, {"text": value(total)}, list(before_values)),
        "progress": Check({"progress": call("test_tool_with_progress")}, [[0, 100], [50, 100], [100, 100]]),
        "read": Check({"read": {"uri": "test://static-text"}}, ["This is the content of the static text resource."]),
        "prompt": Check({"prompt": call("test_simple_prompt")}, ["user: This is a simple prompt for testing."]),
        "form": Check({"call": call("test_elicitation", message="Who are you?")}, said(form), forms),
        "model": Check({"call": call("test_sampling", prompt="Where?")}, said("LLM response: Paris")),
        "listen": Check({"listen": {"uris": [watched], "cause": causes, "until": ["tools", watched]}},
                        [watched, "tools"]),
        "cancel": Check({"cancel": cancel}, ["cancelled", "cancelled"]),
    }


SDK_TOOLS = ["add", "test_cancellation", "test_cancelled", "test_elicitation", "test_sampling",
             "test_tool_with_progress", "test_trigger_resource_update", "test_trigger_tool_change"]
SDK = {"tools": SDK_TOOLS, "resources": ["test://static-text", "test://watched-resource"],
       "prompts": ["test_simple_prompt"], "form": "accept: Ada, ada@example.com"}


def compact(value) -> str:
    return json.dumps(value, separators=(",", ":"))


def sdk_servers(running: ExitStack) -> list[Server]:
    """The servers of tests/peers/servers, over stdio and on ports of their own."""
    programs = TARGET / "node" / "servers"
    pins = json.loads((HERE / "package.json").read_text())["dependencies"]
    python_pin = next(line[5:] for line in (HERE / "requirements.txt").read_text().splitlines()
                      if line.startswith("mcp=="))

    def places(command: list[str], revisions: list[str], sse: bool) -> dict:
        url = running.enter_context(listening(f"servers-{os.path.basename(command[-1])}", command))
        old = {"sse": ([url.removesuffix("/mcp") + "/sse"], HANDSHAKE)} if sse else {}
        return {"http": ([url], revisions), **old, "stdio": ([*command, "--stdio"], revisions)}

    first = places([node(), str(programs / "typescript_v1.mjs")], HANDSHAKE, sse=True)
    second = places([node(), str(programs / "typescript_v2.mjs")], REVISIONS, sse=False)
    python = places([str(PYTHON), str(HERE / "servers" / "python_sdk.py")], REVISIONS, sse=True)
    after = [revision for revision in REVISIONS if revision not in BEFORE_FORMS]
    asks_late = "forms before 2025-06-18: it sends them only to clients that declare them, which came with 2025-06-18"
    return [
        Server(f"TypeScript {pins['@modelcontextprotocol/sdk']}", first, offers(**SDK, value=compact),
               ["2026-07-28"]),
        Server(f"TypeScript {pins['@modelcontextprotocol/server']}", second,
               offers(**SDK, value=compact, forms=after), ["HTTP+SSE", asks_late]),
        Server(f"Python {python_pin}", python,
               offers(**SDK, value=lambda value: json.dumps(value, indent=2), wraps=True, forms=after), [asks_late]),
    ]


def old_servers() -> list[Server]:
    """The first versions of the Python SDK that can be met, over stdio."""
    program = str(HERE / "servers" / "python_sdk_1.py")
    lacks = ["any other revision, and transports but HTTP+SSE", "progress that is asked for, forms, and changes"]
    checks = {
        "tools": Check({"tools": {}}, ["add", "greet"]),
        "resources": Check({"resources": {}}, ["test://static-text"]),
        "prompts": Check({"prompts": {}}, ["review"]),
        "call": Check({"call": call("add", a=2, b=40)}, {"text": "42"}),
        "read": Check({"read": {"uri": "test://static-text"}}, ["This is the content of the static text resource."]),
        "read by template": Check({"read": {"uri": "note://ada"}}, ["A note on ada."]),
        "prompt": Check({"prompt": call("review", code="a + b")}, ["user: Please review a + b."]),
    }
    return [
        Server(f"Python {version}, found out", {"stdio": ([*old_python(version), program], HANDSHAKE[:1])}, checks,
               lacks if version == OLD_SDKS[-1] else [], is_found_out=True)
        for version in OLD_SDKS
    ]


def npm_servers() -> list[Server]:
    programs = NODE_MODULES / "@modelcontextprotocol"
    FILES.mkdir(exist_ok=True)
    (FILES / "note.txt").write_text("a note")
    everything = [node(), str(programs / "server-everything" / "dist" / "index.js"), "stdio"]
    files = [node(), str(programs / "server-filesystem" / "dist" / "index.js"), str(FILES)]
    return [
        Server("npm server-everything", {"stdio": (everything, HANDSHAKE)}, everything_checks(programs / "server-everything" / "dist" / "docs"), [
            "2026-07-28", "forms before 2025-06-18: it has no such tool for clients that do not declare them",
            "a tool that says whether a call was cancelled: it must answer the next call",
        ]),
        Server("npm server-filesystem", {"stdio": (files, HANDSHAKE)}, filesystem_checks(), [
            "2026-07-28", "resources and prompts", "progress", "forms and questions for a model (it asks for roots)",
            "changes", "calls that last",
        ]),
    ]


def everything_checks(docs: Path) -> dict:
    documents = ["architecture", "extension", "features", "how-it-works", "instructions", "startup", "structure"]
    tools = ["echo", "get-annotated-message", "get-env", "get-resource-links", "get-resource-reference",
             "get-roots-list", "get-structured-content", "get-sum", "get-tiny-image", "gzip-file-as-resource",
             "simulate-research-query", "toggle-simulated-logging", "toggle-subscriber-updates",
             "trigger-long-running-operation", "trigger-sampling-request"]
    with_forms = [revision for revision in HANDSHAKE if revision not in BEFORE_FORMS]
    weather = {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}
    filled = {"email": "ada@example.com", "name": "Ada", "firstLine": "It was a dark and stormy night.",
              "integer": 42, "number": 3.14, "untitledSingleSelectEnum": "Monica",
              "untitledMultipleSelectEnum": ["Guitar"], "titledSingleSelectEnum": "hero-1",
              "titledMultipleSelectEnum": ["fish-1"], "legacyTitledEnum": "pet-1"}
    form = ("✅ User provided the requested information!\nUser inputs:\n- Name: Ada\n- Email: ada@example.com\n"
            "- Favorite Integer: 42\n- Favorite Number: 3.14\n\n"
            f"Raw result: {json.dumps({'action': 'accept', 'content': filled}, indent=2)}")
    sampled = {"model": "none", "role": "assistant", "content": {"type": "text", "text": "Paris"}}
    watched = "demo://resource/dynamic/text/1"
    return {
        "tools": Check({"tools": {}}, tools, BEFORE_FORMS),
        "tools with forms": Check({"tools": {}}, sorted([*tools, "trigger-elicitation-request"]), with_forms),
        "resources": Check({"resources": {}}, [f"demo://resource/static/document/{name}.md" for name in documents]),
        "prompts": Check({"prompts": {}}, ["args-prompt", "completable-prompt", "resource-prompt", "simple-prompt"]),
        "call": Check({"call": call("get-structured-content", location="Chicago")},
                      {"text": compact(weather), "structured": weather}),
        "progress": Check({"progress": call("trigger-long-running-operation", duration=0.1, steps=2)},
                          [[1, 2], [2, 2]]),
        "read": Check({"read": {"uri": f"demo://resource/static/document/{documents[0]}.md"}},
                      [(docs / f"{documents[0]}.md").read_text()]),
        "prompt": Check({"prompt": call("simple-prompt")}, ["user: This is a simple prompt without arguments."]),
        "form": Check({"call": call("trigger-elicitation-request")}, {"text": form}, with_forms),
        "model": Check({"call": call("trigger-sampling-request", prompt="Where?", maxTokens=10)},
                       {"text": f"LLM sampling result: \n{json.dumps(sampled, indent=2)}"}),
        "listen": Check({"listen": {"uris": [watched], "cause": [call("toggle-subscriber-updates")],
                                    "until": [watched]}}, [watched]),
        "cancel": Check({"cancel": {"call": call("trigger-long-running-operation", duration=60, steps=600),
                                    "then": call("echo", message="on"), "until": "Echo: on"}},
                        ["cancelled", "Echo: on"]),
    }


def filesystem_checks() -> dict:
    tools = ["create_directory", "directory_tree", "edit_file", "get_file_info", "list_allowed_directories",
             "list_directory", "list_directory_with_sizes", "move_file", "read_file", "read_media_file",
             "read_multiple_files", "read_text_file", "search_files", "write_file"]
    allowed = f"Allowed directories:\n{FILES}"
    return {
        "tools": Check({"tools": {}}, tools),
        "call": Check({"call": call("read_text_file", path=str(FILES / "note.txt"))},
                      {"text": "a note", "structured": {"content": "a note"}}),
        "roots": Check({"call": call("list_allowed_directories")}, {"text": allowed, "structured": {"content": allowed}}),
    }


def our_servers(running: ExitStack, commands: list) -> list[Server]:
    fixtures = REPOSITORY / "mcp-driver-tokio" / "examples" / "everything" / "fixtures"
    declared = [name for source in fixtures.glob("*.rs") for name in re.findall(r'\btool\("(\w+)"', source.read_text())]
    checks = offers(
        tools=sorted(declared), before_values=BEFORE_FORMS, value=compact,
        resources=["test://static-binary", "test://static-text", "test://watched-resource"],
        prompts=["test_input_required_result_prompt", "test_prompt_with_arguments",
                 "test_prompt_with_embedded_resource", "test_prompt_with_image", "test_simple_prompt"],
        form='User response: action=accept, content={"email":"ada@example.com","username":"Ada"}',
    )
    servers = []
    for name, command in commands:
        url = running.enter_context(listening(f"servers-{name}", command))
        servers.append(Server(f"ours, {name}", {
            "http": ([url], REVISIONS),
            "sse": ([url.removesuffix("/mcp") + "/sse"], HANDSHAKE),
            "stdio": ([*command, "--stdio"], REVISIONS),
        }, checks, []))
    return servers


@dataclass(frozen=True)
class Cell:
    client: str
    command: tuple[str, ...]
    server: str
    transport: str
    revision: str
    place: tuple[str, ...]
    checks: dict
    is_found_out: bool

    @property
    def name(self) -> str:
        return f"{self.client} {self.server} {self.transport} {self.revision}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_server_option(parser)
    parser.add_argument("--client", action="append", required=True, type=named_command, metavar="NAME=COMMAND")
    arguments = parser.parse_args()
    ensure_node()
    ensure_python()
    ensure_old_pythons()
    commands = [(name, absolute(command)) for name, command in arguments.server]
    with ExitStack() as running:
        servers = [*our_servers(running, commands), *sdk_servers(running), *old_servers(), *npm_servers()]
        cells = [
            Cell(client, tuple(absolute(command)), server.name, transport, revision, tuple(place), server.checks,
                 server.is_found_out)
            for client, command in arguments.client for server in servers
            for transport, (place, revisions) in server.transports.items() for revision in revisions
        ]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            outcomes = dict(zip([cell.name for cell in cells], pool.map(outcome, cells)))
    print_table([client for client, _ in arguments.client], servers, outcomes)
    failures = {name: why for name, why in outcomes.items() if why}
    for name, why in failures.items():
        print(f"{name}: {why}")
    print(f"servers: {len(outcomes) - len(failures)} passed, {len(failures)} failed")
    raise SystemExit(bool(failures))


def absolute(command: list[str]) -> list[str]:
    return [str(REPOSITORY / command[0]), *command[1:]]


def outcome(cell: Cell) -> str:
    """Nothing where the cell holds, else what is wrong."""
    checks = {name: check for name, check in cell.checks.items() if cell.revision in check.revisions}
    steps = json.dumps([check.step for check in checks.values()]).replace(KEY, cell.name)
    # A session of its own, so that a client that hangs goes together with the server that it started.
    revision = "any" if cell.is_found_out else cell.revision
    client = subprocess.Popen([*cell.command, revision, steps, *cell.place], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=FILES,
                              start_new_session=True)
    try:
        out, err = client.communicate(timeout=CELL_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(client.pid, signal.SIGKILL)
        out, err = client.communicate()
        return f"not done after {CELL_LIMIT} s\n{(out + err).strip()}"
    if client.returncode != 0:
        return f"ended with {client.returncode}\n{(out + err).strip()}"
    report = json.loads(out)
    if report["revision"] != cell.revision:
        return f"speaks {report['revision']}"
    for (name, check), result in zip(checks.items(), report["results"], strict=True):
        if in_any_order(name, result) != check.expected:
            return f"{name} gave {result}, not {check.expected}"
    return ""


def in_any_order(name: str, result):
    """Lists of names have no order of their own."""
    return sorted(result) if name.split()[0] in ("tools", "resources", "prompts") else result


def print_table(clients: list[str], servers: list[Server], outcomes: dict[str, str]) -> None:
    lines = [["client", "server", "transport", *REVISIONS]]
    for client in clients:
        for server in servers:
            for transport in server.transports:
                found = [outcomes.get(f"{client} {server.name} {transport} {revision}") for revision in REVISIONS]
                words = ("-" if why is None else "FAILED" if why else "ok" for why in found)
                lines.append([client, server.name, transport, *words])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip())
    for server in servers:
        for what in server.lacks:
            print(f"{server.name} lacks {what}")
    print("sse is HTTP+SSE, which went with the handshake")


if __name__ == "__main__":
    main()
