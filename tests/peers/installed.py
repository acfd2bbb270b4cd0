"""The peers, installed: pinned packages from npm and PyPI, kept under target/peers until a pin changes."""

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
# Resolved: npm takes a directory behind a link for a package of its own.
TARGET = (REPOSITORY / "target" / "peers").resolve()

NODE_MODULES = TARGET / "node" / "node_modules"
SUITE = NODE_MODULES / "@modelcontextprotocol" / "conformance"
PYTHON = TARGET / "python" / "bin" / "python"


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
    home = TARGET / "python"

    def install() -> None:
        run([sys.executable, "-m", "venv", home])
        run([PYTHON, "-m", "pip", "install", "--quiet", "--requirement", HERE / "requirements.txt"])

    once(home, ["requirements.txt"], install)


def once(home: Path, manifests: list[str], install) -> None:
    """Run `install` into an empty `home` unless it was already done for these very manifests."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in manifests)).hexdigest()
    stamp = home / ".installed"
    if stamp.exists() and stamp.read_text() == digest:
        return
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    install()
    stamp.write_text(digest)


def run(command: list) -> None:
    subprocess.run([str(word) for word in command], check=True, timeout=600, stdin=subprocess.DEVNULL)
