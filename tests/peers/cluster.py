#!/usr/bin/env python3
"""Run the cluster with the official SDKs among its clients.

usage: cluster.py PROGRAM OPTION...

PROGRAM is the built `cluster`; the options are its own.
"""

import subprocess
import sys

from installed import HERE, PYTHON, TARGET, ensure_node, ensure_python, node


def peers() -> list[str]:
    programs = TARGET / "node" / "clients"
    python = HERE / "clients" / "cluster_python.py"
    return [
        f"{node()} {programs / 'cluster_v1.mjs'} URL",
        f"{node()} {programs / 'cluster_v2.mjs'} URL 2025-11-25",
        f"{node()} {programs / 'cluster_v2.mjs'} URL 2026-07-28",
        f"{PYTHON} {python} URL 2025-06-18",
        f"{PYTHON} {python} URL 2026-07-28",
    ]


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    ensure_node()
    ensure_python()
    options = [word for peer in peers() for word in ("--peer", peer)]
    raise SystemExit(subprocess.call([*sys.argv[1:], *options]))


if __name__ == "__main__":
    main()
