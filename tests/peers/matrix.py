#!/usr/bin/env python3
"""Let every client reach the example `everything` at every revision that it speaks.

usage: matrix.py --server NAME=COMMAND ...

A cell is one client, driver, transport and revision: the client lists the tools, calls `add`, reads a resource,
and must have negotiated that very revision and got exactly the expected results. The SDKs' clients also fill in a
form, lend their model, come back for the result of a call whose stream the server closed, and hear of changes.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from installed import HERE, PYTHON, TARGET, ensure_node, ensure_python, node
from server import add_server_option, listening

CELL_LIMIT = 30  # seconds for one cell
AT_ONCE = 2  # cells that run side by side

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
REVISIONS = [*HANDSHAKE, "2026-07-28"]
PRIMED = ["2025-11-25"]  # where a stream can be closed before its result, and resumed
STRUCTURED = REVISIONS[2:]  # where a tool's result has structured content
TRANSPORTS = {"http": REVISIONS, "sse": HANDSHAKE, "stdio": REVISIONS}  # where each is of use


ANSWERED = {
    "elicited": 'User response: action=accept, content={"username":"Ada","email":"ada@example.com"}',
    "sampled": "LLM response: Paris",
    "reconnected": "Reconnection test completed successfully. If you received this, the client properly reconnected "
                   "after stream closure.",
    "changed": ["test://watched-resource", "tools"],
}


@dataclass(frozen=True)
class Client:
    name: str
    command: list[str]
    revisions: list[str]
    lacks: str = ""  # why other cells are missing
    transports: tuple[str, ...] = tuple(TRANSPORTS)
    is_asked: bool = True  # and answers, resumes and hears of changes


def clients() -> list[Client]:
    programs = TARGET / "node" / "clients"
    pins = json.loads((HERE / "package.json").read_text())["dependencies"]
    v1, v2 = pins["@modelcontextprotocol/sdk"], pins["@modelcontextprotocol/client"]
    python = next(line[5:] for line in (HERE / "requirements.txt").read_text().splitlines() if line.startswith("mcp=="))
    return [
        Client(f"TypeScript {v1}", [node(), str(programs / "typescript_v1.mjs")], HANDSHAKE,
               lacks="has the handshake only"),
        Client(f"TypeScript {v2}", [node(), str(programs / "typescript_v2.mjs")], REVISIONS),
        Client(f"Python {python}", [str(PYTHON), str(HERE / "clients" / "python_sdk.py")], REVISIONS),
        Client("raw", [sys.executable, str(HERE / "clients" / "raw.py")], REVISIONS,
               transports=("http", "stdio"), is_asked=False),
    ]


@dataclass(frozen=True)
class Cell:
    client: Client
    driver: str
    transport: str
    revision: str
    place: list[str]  # a URL, or a command


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_server_option(parser)
    servers = parser.parse_args().server
    ensure_node()
    ensure_python()
    with ExitStack() as running:
        rows = []
        for name, command in servers:
            url = running.enter_context(listening(f"matrix-{name}", command))
            places = {"http": [url], "sse": [url.removesuffix("/mcp") + "/sse"], "stdio": [*command, "--stdio"]}
            rows += [(client, name, transport, places[transport])
                     for client in clients() for transport in client.transports]
        failed = try_all(rows, "peers")
    raise SystemExit(failed)


def try_all(rows: list[tuple[Client, str, str, list[str]]], title: str) -> bool:
    """Try each client at each place in all its revisions, and say what came of it; whether anything failed."""
    cells = [Cell(client, driver, transport, revision, place)
             for client, driver, transport, place in rows for revision in client.revisions
             if revision in TRANSPORTS[transport]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = dict(zip([key(cell) for cell in cells], pool.map(outcome, cells)))
    print_table(rows, outcomes)
    failures = {name: why for name, why in outcomes.items() if why}
    for name, why in failures.items():
        print(f"{' '.join(name)}: {why}")
    print(f"{title}: {len(outcomes) - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


def key(cell: Cell) -> tuple[str, str, str, str]:
    return cell.client.name, cell.driver, cell.transport, cell.revision


def outcome(cell: Cell) -> str:
    """Nothing where the cell holds, else what is wrong."""
    command = [*cell.client.command, cell.revision, cell.transport, *cell.place]
    # A session of its own, so that a client that hangs goes together with the server that it started.
    client = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, start_new_session=True)
    try:
        out, err = client.communicate(timeout=CELL_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(client.pid, signal.SIGKILL)
        out, err = client.communicate()
        return f"not done after {CELL_LIMIT} s\n{(out + err).strip()}"
    if client.returncode != 0:
        return f"ended with {client.returncode}\n{(out + err).strip()}"
    try:
        return difference(json.loads(out), cell)
    except ValueError:
        return f"printed no report: {out!r}"


def difference(report: dict, cell: Cell) -> str:
    sum = {"total": 42}
    tools = report.pop("tools")
    if "add" not in tools or tools != sorted(tools):
        return f"listed {tools}"
    expected = {
        "revision": cell.revision,
        "text": sum,
        "structured": sum if cell.revision in STRUCTURED else None,
        "resource": "This is the content of the static text resource.",
    }
    if cell.client.is_asked:
        cut = cell.transport == "http" and cell.revision in PRIMED
        expected |= {**ANSWERED, "resumptions": int(cut)}
    report["text"] = json.loads(report["text"])
    return "" if report == expected else f"expected {expected}, got {report}"


def print_table(rows: list, outcomes: dict) -> None:
    lines = [["client", "driver", "transport", *REVISIONS]]
    for client, driver, transport, _ in rows:
        found = [outcomes.get((client.name, driver, transport, revision)) for revision in REVISIONS]
        words = ("-" if why is None else "FAILED" if why else "ok" for why in found)
        lines.append([client.name, driver, transport, *words])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip())
    for client in dict.fromkeys(client.name + " " + client.lacks for client, *_ in rows if client.lacks):
        print(f"-  {client}")
    print("-  sse is HTTP+SSE, which went with the handshake")


if __name__ == "__main__":
    main()
