"""The server under test as a process on a loopback port of its own."""

import argparse
import os
import re
import shlex
import signal
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
    with Listening(name, command) as server:
        yield server.url


class Listening:
    """A process of `command` on a free port; its output goes to a log file. It can be started again on the same port."""

    def __init__(self, name: str, command: list[str]):
        self.name, self.command, self.address = name, command, "127.0.0.1:0"
        self.log = TARGET / "log" / f"{name}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "Listening":
        self.start()
        return self

    def __exit__(self, kind, *_) -> None:
        ended = self.process.poll()
        self.stop()
        if kind is None and ended is not None:
            raise SystemExit(f"{self.name} ended by itself with {ended}; its output:\n{self.log.read_text()}")

    def restart(self) -> None:
        self.stop()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*self.command, "--listen", self.address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        found, urls = threading.Event(), []
        threading.Thread(target=follow, args=(self.process.stdout, self.log, found, urls), daemon=True).start()
        found.wait(START)
        if not urls:
            self.stop()
            raise SystemExit(f"{self.name} did not say where it listens; its output:\n{self.log.read_text()}")
        self.url = urls[0]
        self.address = self.url.removeprefix("http://").removesuffix("/mcp")

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def conversation(command: list[str], limit: float, wishes: dict) -> tuple[str, str]:
    """Run a client that may wish for something: where it prints the name of a wish, alone on a line, what `wishes` says
    is done, and a line written to it. Gives the last line it printed, and what went wrong, if anything did."""
    # A session of its own, so that a client that hangs goes together with the server that it started.
    client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", start_new_session=True)
    late = threading.Timer(limit, os.killpg, [client.pid, signal.SIGKILL])
    late.start()
    complaints = []
    reader = threading.Thread(target=lambda: complaints.extend(client.stderr), daemon=True)
    reader.start()
    last = ""
    try:
        for line in client.stdout:
            if wish := wishes.get(line.strip()):
                wish()
                client.stdin.write("done\n")
                client.stdin.flush()
            else:
                last = line
    finally:
        code = client.wait()
        late.cancel()
        reader.join()
    told = "".join(complaints[-40:]).strip()
    if code == -signal.SIGKILL:
        return last, f"not done after {limit} s\n{last}{told}"
    return last, f"ended with {code}\n{last}{told}" if code else ""


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
