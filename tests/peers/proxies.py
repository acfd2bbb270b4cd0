#!/usr/bin/env python3
"""Let every client reach two workers of the example `everything` that share a Redis store, through nginx and haproxy.

usage: proxies.py --worker COMMAND

The cells are those of the matrix, over HTTP and HTTP+SSE. The proxies send each request to the next worker, whatever
session it is of, so nearly everything that a client does is begun on one worker and goes on on the other.
"""

import argparse
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from installed import HERE, TARGET, ensure_node, ensure_python
from matrix import clients, try_all
from server import Listening

START = 20  # seconds that a program has to listen
STOP = 5  # seconds that it has to end before it is killed

# The program, its configuration, and how it is told where that is.
PROXIES = {"nginx": ("nginx.conf", ["-c"]), "haproxy": ("haproxy.cfg", ["-db", "-f"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", required=True, type=shlex.split, metavar="COMMAND")
    worker = parser.parse_args().worker
    ensure_node()
    ensure_python()
    with ExitStack() as running:
        directory = Path(running.enter_context(tempfile.TemporaryDirectory()))
        store = running.enter_context(redis(directory))
        workers = [running.enter_context(Listening(f"proxies-worker-{n}", [*worker, store])).address for n in (1, 2)]
        rows = []
        for name in PROXIES:
            url = running.enter_context(proxy(name, workers, directory))
            places = {"http": [f"{url}/mcp"], "sse": [f"{url}/sse"]}
            rows += [(client, name, transport, place) for client in clients() for transport, place in places.items()
                     if transport in client.transports]
        failed = try_all(rows, "proxies")
    raise SystemExit(failed)


@contextmanager
def redis(directory: Path):
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(directory)]
    with program("redis", command, port):
        yield f"redis://127.0.0.1:{port}"


@contextmanager
def proxy(name: str, workers: list[str], directory: Path):
    port = free_port()
    template, options = PROXIES[name]
    words = {"LISTEN": f"127.0.0.1:{port}", "WORKER_1": workers[0], "WORKER_2": workers[1], "DIRECTORY": str(directory)}
    text = (HERE / template).read_text()
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    configuration = directory / template
    configuration.write_text(text)
    with program(name, [executable(name), *options, str(configuration)], port):
        yield f"http://127.0.0.1:{port}"


def executable(name: str) -> str:
    # Debian keeps both where not everybody looks.
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if not found:
        raise SystemExit(f"{name} is not installed")
    return found


@contextmanager
def program(name: str, command: list[str], port: int):
    """Run a command until it is left; it has begun once it listens on `port`."""
    log = TARGET / "log" / f"proxies-{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            await_port(name, process, port, log)
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def await_port(name: str, process: subprocess.Popen, port: int, log: Path) -> None:
    late = time.monotonic() + START
    while time.monotonic() < late and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"{name} does not listen; its output:\n{log.read_text()}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
