#!/usr/bin/env python3
"""Ask public servers from npm and PyPI, by the names of their packages, with the command-line client, over stdio.

usage: public.py --client COMMAND

Every line of the script below is a command that anybody may type; what it prints must be exactly what stands under
it. The packages are those that are pinned beside this file, and need no network.
"""

import argparse
import http.server
import os
import re
import shlex
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from installed import PYTHON, TARGET, ensure_node, ensure_python, node

COMMAND_LIMIT = 60  # seconds for one command

SCRIPT = r"""
$ mcp npx --offline @modelcontextprotocol/server-memory --env MEMORY_FILE_PATH=$HOME/memory.jsonl \
    call create_entities 'entities=[{"name":"Ada","entityType":"person","observations":["writes programs"]}]' --json
{"content":[{"type":"text","text":…}],"structuredContent":{"entities":[{"name":"Ada","entityType":"person",\
"observations":["writes programs"]}]}}
$ mcp npx --offline @modelcontextprotocol/server-memory --env MEMORY_FILE_PATH=$HOME/memory.jsonl \
    read memory://knowledge-graph
{
  "entities": [
    {
      "name": "Ada",
      "entityType": "person",
      "observations": [
        "writes programs"
      ]
    }
  ],
  "relations": []
}
$ mcp npx --offline @modelcontextprotocol/server-sequential-thinking --env DISABLE_THOUGHT_LOGGING=true \
    call sequentialthinking thought=2 nextThoughtNeeded=false thoughtNumber=1 totalThoughts=1
{
  "thoughtNumber": 1,
  "totalThoughts": 1,
  "nextThoughtNeeded": false,
  "branches": [],
  "thoughtHistoryLength": 1
}
$ mcp mcp-server-time --local-timezone=UTC tools
get_current_time timezone=string  — Get current time in a specific timezone
convert_time source_timezone=string target_timezone=string time=string  — Convert time between timezones
$ mcp mcp-server-time --local-timezone=UTC \
    call convert_time source_timezone=UTC time=12:00 target_timezone=Asia/Kolkata
{
  "source": {
    "timezone": "UTC",
    "datetime": "…T12:00:00+00:00",
    "day_of_week": "…",
    "is_dst": false
  },
  "target": {
    "timezone": "Asia/Kolkata",
    "datetime": "…T17:30:00+05:30",
    "day_of_week": "…",
    "is_dst": false
  },
  "time_difference": "+5.5h"
}
$ mcp mcp-server-git --repository $HOME/repository call git_log repo_path=$HOME/repository
Commit history:
Commit: …
Author: Ada
Date: 2026-07-28 12:00:00+00:00
Message: Write a note
$ mcp mcp-server-git --repository $HOME/repository call git_show repo_path=$HOME/repository revision=HEAD:note.txt
a note
$ mcp mcp-server-fetch --allow-private-ips --ignore-robots-txt call fetch url=$PAGE raw=true
Content type text/html cannot be simplified to markdown, but here is the raw content:
Contents of $PAGE:
<html><body><h1>Hello</h1><p>This is a page.</p></body></html>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", required=True, type=Path, metavar="COMMAND")
    client = parser.parse_args().client.resolve()
    ensure_node()
    ensure_python()
    failures = 0
    steps = commands(SCRIPT)
    with TemporaryDirectory() as home, page() as url:
        programs = [Path(node()).parent, PYTHON.parent]
        path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
        environment = {**os.environ, "HOME": home, "PATH": path}
        make_repository(Path(home) / "repository")

        def filled(text: str) -> str:
            return text.replace("$HOME", home).replace("$PAGE", url)

        for line, expected in steps:
            print(f"$ mcp {' '.join(line.split())}")
            words, expected = shlex.split(filled(line)), filled(expected)
            done = subprocess.run([client, *words], env=environment, cwd=TARGET / "node", stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=COMMAND_LIMIT)
            if done.returncode != 0 or not is_as(done.stdout, expected):
                failures += 1
                print(f"ended with {done.returncode} and printed\n{done.stdout}\nnot\n{expected}\n{done.stderr}")
    print(f"public: {len(steps) - failures} passed, {failures} failed")
    raise SystemExit(failures > 0)


def commands(script: str) -> list[tuple[str, str]]:
    """The command lines, without `mcp`, and what each prints."""
    pieces = script.replace("\\\n", "").strip().removeprefix("$ mcp ").split("\n$ mcp ")
    return [(line, expected) for line, _, expected in (piece.partition("\n") for piece in pieces)]


def is_as(printed: str, expected: str) -> bool:
    """`…` stands for anything, such as the time of day."""
    return re.fullmatch(re.escape(expected).replace("…", ".*"), printed.strip()) is not None


def make_repository(home: Path) -> None:
    home.mkdir()
    (home / "note.txt").write_text("a note")
    who = {"NAME": "Ada", "EMAIL": "ada@example.com", "DATE": "2026-07-28T12:00:00Z"}
    ada = {f"GIT_{role}_{name}": value for role in ("AUTHOR", "COMMITTER") for name, value in who.items()}
    for words in (["init", "--quiet"], ["add", "note.txt"], ["commit", "--quiet", "--message=Write a note"]):
        subprocess.run(["git", *words], cwd=home, env={**os.environ, **ada}, check=True)


@contextmanager
def page():
    """Serve one page on a port of its own."""
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<html><body><h1>Hello</h1><p>This is a page.</p></body></html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/page"
        server.shutdown()


if __name__ == "__main__":
    main()
