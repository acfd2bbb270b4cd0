#!/usr/bin/env python3
"""Run the official conformance suite against the examples `everything` and `conformance_client`, and judge them
by its own records.

usage: conformance.py [--server NAME=COMMAND ...] [--client NAME=COMMAND ...]

A scenario passes when it recorded at least one success and no failure, warning or skipped check; with a client, a
check is skipped that its revision has no use for. Every scenario that a run must contain has to be there and to
pass; those of what is not offered, and no others, have to fall short.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

from installed import SUITE, TARGET, ensure_node, node
from server import add_server_option, listening, named_command

RUN_LIMIT = 240  # seconds for one run of the suite

# A revision, and what selects its scenarios: its frozen requirements, or all that apply where it has none.
RUNS = {
    "2025-06-18": ["--suite", "all", "--spec-version", "2025-06-18"],
    "2025-11-25": ["--requirements", "2025-11-25"],
    "2026-07-28": ["--requirements", "2026-07-28"],
}
CLIENT_RUNS = ["2025-11-25", "2026-07-28"]

# The scenarios of what is not offered: the tasks extension of a server, which no requirement set scores, and the OAuth
# client, which both do.
NOT_OFFERED = {"server": "tasks-*", "client": "auth/*"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_server_option(parser, required=False)
    parser.add_argument("--client", action="append", default=[], type=named_command, metavar="NAME=COMMAND")
    arguments = parser.parse_args()
    ensure_node()
    totals = Counter()
    for name, command in arguments.server:
        with listening(f"conformance-{name}", command) as url:
            for revision, selection in RUNS.items():
                results = TARGET / "conformance" / name / revision
                run_suite(results, "server", "--url", url, *selection)
                totals += judge(f"{name} {revision}", "server", results, required(revision, "server"))
    for name, command in arguments.client:
        for revision in CLIENT_RUNS:
            run = f"client/{revision}"
            results = TARGET / "conformance" / name / run
            run_suite(results, "client", "--command", shlex.join(command), "--requirements", revision)
            totals += judge(f"{name} {run}", "client", results, required(revision, "client"), {"SKIPPED"})
    print(f"conformance: {totals['passed']} passed, {totals['not offered']} not offered, "
          f"{totals['failed']} failed")
    raise SystemExit(totals["failed"] > 0)


def suite(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [node(), str(SUITE / "dist" / "index.js"), *words],
        stdin=subprocess.DEVNULL, text=True, timeout=RUN_LIMIT, **options,
    )


def run_suite(results: Path, *words: str) -> None:
    """One run; its exit code says nothing that the records do not say better."""
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    with (results / "output.txt").open("w") as output:
        suite(*words, "-o", str(results), stdout=output, stderr=subprocess.STDOUT)


def required(revision: str, leg: str) -> set[str]:
    """The scenarios that a run at this revision has to contain."""
    requirements = SUITE / "requirements" / f"{revision}.yaml"
    if requirements.exists():
        text = requirements.read_text()
        scored = re.search(rf"^{leg}:\n((?:  - .*\n)+)", text, re.M)[1]
        unscored = re.findall(rf"^  - scenario: (\S+)\n    leg: {leg}$", text, re.M)
        return set(re.findall(r"- (\S+)", scored)) | set(unscored)
    listing = suite("list", "--server", check=True, capture_output=True).stdout
    return {name for name, where in re.findall(r"^  - (\S+) \[(.*)\]", listing, re.M) if revision in where.split(",")}


def judge(title: str, leg: str, results: Path, required: set[str], fine: set[str] = frozenset()) -> Counter:
    """Print what falls short and why; count the scenarios that passed, failed, or try what is not offered."""
    shortfalls = {}
    for record in results.glob("**/checks.json"):
        directory = str(record.parent.relative_to(results))
        scenario = re.fullmatch(r"(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", directory)[1]
        checks = json.loads(record.read_text())
        short = [check for check in checks if check["status"] not in {"SUCCESS", "INFO", *fine}]
        if not any(check["status"] == "SUCCESS" for check in checks):
            short.append({"status": "EMPTY", "id": scenario, "errorMessage": "no check succeeded"})
        shortfalls[scenario] = short

    count = Counter()
    for scenario in sorted(required | set(shortfalls)):
        is_offered = not fnmatch(scenario, NOT_OFFERED[leg])
        if scenario not in shortfalls:
            count["failed"] += 1
            print(f"{title}: {scenario} did not run")
        elif not shortfalls[scenario] and is_offered:
            count["passed"] += 1
        elif not shortfalls[scenario]:
            count["failed"] += 1
            print(f"{title}: {scenario} passes, and must not be listed as not offered")
        elif not is_offered:
            count["not offered"] += 1
        else:
            count["failed"] += 1
            print(f"{title}: {scenario} falls short")
            for check in shortfalls[scenario]:
                print(f"    {check['status']} {check['id']}: {(check.get('errorMessage') or '')[:300]}")
    print(f"{title}: {count['passed']} passed, {count['not offered']} not offered, {count['failed']} failed")
    return count


if __name__ == "__main__":
    main()
