"""The server under test as a process on a loopback port of its own."""

import argparse
import re
import shlex
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

from installed import TARGET

URL = re.compile(r"http://127\.0\.0\.1:\d+/mcp")
START = 20  # seconds that a server has to say where it listens
STOP = 5  # seconds that it has to end before it is killed


def add_server_option(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """`--server NAME=COMMAND`, repeatable: one driver's build of the example `everything`."""
    parser.add_argument("--server", action="append", default=[], required=required, type=named_command, metavar="NAME=COMMAND")


def named_command(text: str) -> tuple[str, list[str]]:
    name, separator, command = text.partition("=")
    if not (name and separator and command):
        raise argparse.ArgumentTypeError("expected NAME=COMMAND")
    return name, shlex.split(command)


@contextmanager
def listening(name: str, command: list[str]):
    """Start `command` on a free port, yield its URL, and stop it; its output goes to a log file."""
    log = TARGET / "log" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    found, urls = threading.Event(), []
    threading.Thread(target=follow, args=(process.stdout, log, found, urls), daemon=True).start()
    try:
        found.wait(START)
        if not urls:
            raise SystemExit(f"{name} did not say where it listens; its output:\n{log.read_text()}")
        yield urls[0]
        if process.poll() is not None:
            raise SystemExit(f"{name} ended by itself with {process.returncode}; its output:\n{log.read_text()}")
    finally:
        process.terminate()
        try:
            process.wait(STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def follow(lines, log: Path, found: threading.Event, urls: list[str]) -> None:
    """Copy the output to the log, looking for the URL, until the process closes it."""
    with log.open("w") as out:
        for line in lines:
            out.write(line)
            out.flush()
            if not urls and (match := URL.search(line)):
                urls.append(match[0])
                found.set()
    found.set()
