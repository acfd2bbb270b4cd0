"""The peers, installed: pinned packages from npm and PyPI, kept under target/peers until a pin changes.

usage: installed.py    installs all of them at once
"""

import fcntl
import hashlib
import platform
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
# Resolved: npm takes a directory behind a link for a package of its own.
TARGET = (REPOSITORY / "target" / "peers").resolve()

NODE_MODULES = TARGET / "node" / "node_modules"
SUITE = NODE_MODULES / "@modelcontextprotocol" / "conformance"
PYTHON = TARGET / "python" / "bin" / "python"

# The last of each early minor version of the Python SDK.
OLD_SDKS = ["1.2.1", "1.3.0", "1.4.1", "1.5.0", "1.6.0", "1.7.1", "1.8.1"]


def node() -> str:
    """The Node that npm brought; the suite needs a newer one than a machine may have."""
    architecture = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return str(NODE_MODULES / f"node-linux-{architecture}" / "bin" / "node")


def ensure_node() -> None:
    """Install the npm packages and lay the programs beside them, where their imports resolve."""
    home = TARGET / "node"

    def install() -> None:
        for manifest in ("package.json", "package-lock.json"):
            shutil.copy(HERE / manifest, home)
        run(["npm", "ci", "--prefix", home, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])

    once(home, ["package.json", "package-lock.json"], install)
    for programs in ("clients", "servers"):
        shutil.copytree(HERE / programs, home / programs, dirs_exist_ok=True)


def ensure_python() -> None:
    """Make the virtual environment that holds the Python SDK."""
    environment("python", "requirements.txt")


def ensure_old_pythons() -> None:
    """Make the environment of the old Python SDKs: what they bring once, and beside it each of them on its own."""
    environment("python-old", "requirements-old.txt", {version: [f"mcp=={version}"] for version in OLD_SDKS})


def old_python(version: str) -> list[str]:
    """The command of a Python with that old SDK."""
    return python_with("python-old", version)


def ensure_frameworks() -> None:
    """Make the environment of the agent frameworks, with the SDK 1.x, and the SDK 2.x beside it."""
    sdk = [line for line in (HERE / "requirements.txt").read_text().splitlines() if line.startswith(("mcp==", "mcp-types=="))]
    environment("python-frameworks", "requirements-frameworks.txt", {"2": sdk})


def frameworks_python(sdk: int) -> list[str]:
    """The command of a Python with the agent frameworks on the SDK 1.x or 2.x."""
    return python_with("python-frameworks", "2") if sdk == 2 else [str(TARGET / "python-frameworks" / "bin" / "python")]


def environment(name: str, requirements: str, beside: dict[str, list[str]] = {}) -> None:
    """Make a virtual environment, and beside it directories of packages that take precedence where they are asked for."""
    home = TARGET / name

    def install() -> None:
        run([sys.executable, "-m", "venv", home])
        # What is imported is compiled then; most never is.
        pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile"]
        run([*pip, "--requirement", HERE / requirements])
        for directory, packages in beside.items():
            run([*pip, "--no-deps", "--target", home / "beside" / directory, *packages])

    once(home, [requirements], install, repr(beside))


def python_with(name: str, directory: str) -> list[str]:
    home = TARGET / name
    return ["/usr/bin/env", f"PYTHONPATH={home / 'beside' / directory}", str(home / "bin" / "python")]


def once(home: Path, manifests: list[str], install, more: str = "") -> None:
    """Run `install` into an empty `home` unless it was already done for these very manifests. Others wait meanwhile."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in manifests) + more.encode()).hexdigest()
    stamp = home / ".installed"
    TARGET.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == digest:
            return
        began = time.monotonic()
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        install()
        stamp.write_text(digest)
        print(f"installed {home.name} in {time.monotonic() - began:.0f} s", flush=True)


def run(command: list) -> None:
    subprocess.run([str(word) for word in command], check=True, timeout=600, stdin=subprocess.DEVNULL)


def main() -> None:
    with ThreadPoolExecutor() as pool:
        for installed in [pool.submit(it) for it in (ensure_node, ensure_python, ensure_old_pythons, ensure_frameworks)]:
            installed.result()


if __name__ == "__main__":
    main()
