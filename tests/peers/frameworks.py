#!/usr/bin/env python3
"""Let the MCP clients of agent frameworks use the example `everything`, as their agents do, without a model.

usage: frameworks.py --server NAME=COMMAND ...

A cell is one framework, SDK, driver and transport. The framework lists the tools and calls one; calls one that asks,
once without anything that could answer and once with, where it can; and over HTTP it goes on calling after the server
was started again.
"""

import argparse
import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from installed import HERE, ensure_frameworks, frameworks_python
from server import Listening, add_server_option, conversation

CELL_LIMIT = 60  # seconds for one cell
AT_ONCE = 2  # cells that run side by side
TRANSPORTS = ["http", "sse", "stdio"]

SUM = {"total": 42}
ACCEPTED = ("accept", {"username": "Ada", "email": "ada@example.com"})
TERMINATED = "Session terminated"


@dataclass(frozen=True)
class Framework:
    package: str
    module: str  # what the program that runs it calls it
    sdk: int  # the major version of the Python SDK below it
    answers: bool  # it has a way to answer forms
    restarted: tuple  # what the first two calls give after the server was started again
    is_modern: bool = False  # it asks for the revision without a handshake, where the transport has it


# A framework recovers by itself, or at its next call, or not before it is connected anew.
FRAMEWORKS = [
    Framework("google-adk", "adk", 1, answers=True, restarted=(TERMINATED, SUM)),
    Framework("google-adk", "adk", 2, answers=True, restarted=(TERMINATED, SUM)),
    Framework("langchain-mcp-adapters", "langchain", 1, answers=True, restarted=(TERMINATED, TERMINATED)),
    Framework("langchain-mcp-adapters", "langchain-each", 1, answers=True, restarted=(SUM, SUM)),
    Framework("openai-agents", "openai", 1, answers=False, restarted=(TERMINATED, TERMINATED)),
    Framework("openai-agents", "openai", 2, answers=False, restarted=(SUM, SUM), is_modern=True),
]


@dataclass(frozen=True)
class Cell:
    framework: Framework
    driver: str
    transport: str
    command: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_server_option(parser)
    servers = parser.parse_args().server
    ensure_frameworks()
    cells = [Cell(framework, driver, transport, command) for framework in FRAMEWORKS for driver, command in servers
             for transport in TRANSPORTS]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(outcome, cells))
    print_table(cells, outcomes)
    for cell, why in zip(cells, outcomes):
        if why:
            print(f"{name(cell.framework)} {cell.driver} {cell.transport}: {why}")
    failed = sum(map(bool, outcomes))
    print(f"frameworks: {len(outcomes) - failed} passed, {failed} failed")
    raise SystemExit(failed > 0)


def outcome(cell: Cell) -> str:
    """Nothing where the cell holds, else what is wrong."""
    framework = cell.framework
    with ExitStack() as running:
        restart = None
        if cell.transport == "stdio":
            place = [*cell.command, "--stdio"]
        else:
            log = f"frameworks-{framework.module}-{framework.sdk}-{cell.driver}-{cell.transport}"
            server = running.enter_context(Listening(log, cell.command))
            restart = server.restart
            place = [server.url if cell.transport == "http" else server.url.removesuffix("/mcp") + "/sse"]
        command = [*frameworks_python(framework.sdk), str(HERE / "clients" / "frameworks.py"), framework.module,
                   cell.transport, *place]
        out, why = conversation(command, CELL_LIMIT, {"restart": restart})
    return why or difference(json.loads(out), cell)


def difference(report: dict, cell: Cell) -> str:
    framework = cell.framework
    is_modern = framework.is_modern and cell.transport != "sse"
    expected = {"call": lambda said: json.loads(said) == SUM}
    if is_modern:
        # A capability that lacks is an error here, and nothing is asked in words.
        expected["asked in words"] = lambda said: said.startswith("raised MCPError: ") and "capability" in said
    else:
        expected["asked in words"] = lambda said: "Who are you?" in said and "input_responses" in said
        # A process for each call forgets what it asked.
        is_forgotten = framework.module.endswith("-each") and cell.transport == "stdio"
        expected["answered in arguments"] = is_forgetful if is_forgotten else is_accepted
    if framework.answers:
        expected["answered"] = is_accepted
    if cell.transport == "http":
        for which, told in zip(("restarted", "again"), framework.restarted):
            expected[which] = is_sum if told == SUM else lambda said: said.endswith(TERMINATED)
        expected["fresh"] = is_sum
    if "add" not in report.pop("tools"):
        return "add is not among the tools"
    if report.keys() != expected.keys():
        return f"reported {report}, not just {list(expected)}"
    wrong = {what: said for what, said in report.items() if not expected[what](said)}
    return f"got {wrong}" if wrong else ""


def is_sum(said: str) -> bool:
    return said.startswith("{") and json.loads(said) == SUM


def is_accepted(said: str) -> bool:
    found = re.fullmatch(r"User response: action=(\w+), content=(.*)", said)
    return found is not None and (found[1], json.loads(found[2])) == ACCEPTED


def is_forgetful(said: str) -> bool:
    return said == "unknown or expired request state; call again without it"


def pins(manifest: str) -> dict[str, str]:
    lines = (HERE / manifest).read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def name(framework: Framework) -> str:
    pinned = pins("requirements-frameworks.txt")
    sdk = pinned["mcp"] if framework.sdk == 1 else pins("requirements.txt")["mcp"]
    each = ", a session for each call" if framework.module.endswith("-each") else ""
    return f"{framework.package} {pinned[framework.package]} on mcp {sdk}{each}"


def print_table(cells: list[Cell], outcomes: list[str]) -> None:
    found = {(name(cell.framework), cell.driver, cell.transport): why for cell, why in zip(cells, outcomes)}
    lines = [["framework", "driver", *TRANSPORTS]]
    for row in dict.fromkeys((framework, driver) for framework, driver, _ in found):
        lines.append([*row, *("FAILED" if found[*row, transport] else "ok" for transport in TRANSPORTS)])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip())
    print("openai-agents has no way to answer forms")


if __name__ == "__main__":
    main()
