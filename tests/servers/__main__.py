"""The servers from the command line: start, stop, status, env, check, and `run -- <command>`."""

import argparse
import os
import subprocess
import sys
import time

from tests.servers.pytest_use import in_ci
from tests.servers.server import ServerUnavailable
from tests.servers.shared import join, stop, url_of
from tests.servers.state import KINDS, find_shared


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description="real servers for the tests")
    parser.add_argument("action", choices=[*ACTIONS, "run"])
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="servers (default: all), or the command to run")
    asked = parser.parse_args()
    rest = [word for word in asked.rest if word != "--"]
    if asked.action == "run":
        return run(rest)
    return max(ACTIONS[asked.action](name) for name in rest or KINDS)


def start(name: str) -> int:
    return tell_start(name, keep=True)


def check(name: str) -> int:
    return tell_start(name, keep=False)


def tell_start(name: str, keep: bool) -> int:
    print(f"{name}: starting, or joining the one that runs", flush=True)
    begun = time.monotonic()
    try:
        server = join(name, keep=keep).server
    except ServerUnavailable as unavailable:
        print(unavailable, file=sys.stderr, flush=True)
        return 1
    print(
        f"{name}: answers on port {server.port} after {time.monotonic() - begun:.1f} s; log: {server.log}",
        flush=True,
    )
    return 0


def halt(name: str) -> int:
    print(f"{name}: {'stopped' if stop(name) else 'was not running'}", flush=True)
    return 0


def status(name: str) -> int:
    shared = find_shared(name)
    if shared is None or shared.server.process() is None:
        print(f"{name}: not running")
        return 0
    stays = "stays up until `stop`" if shared.kept else "stops with its last user"
    print(f"{name}: port {shared.server.port}, pid {shared.server.pid}, {stays}, users {shared.live_users()}")
    return 0


def env(name: str) -> int:
    """Print shell lines for the servers that run; they hold the passwords."""
    shared = find_shared(name)
    if shared is not None and shared.server.process() is not None:
        print(f"export UGS_TEST_{name.upper()}='{shared.server.url}'")
    return 0


def run(command: list[str]) -> int:
    """Run a command with both servers up and their URLs in its environment."""
    missing = [name for name in KINDS if f"UGS_TEST_{name.upper()}" not in os.environ and check(name)]
    if missing and in_ci():
        return 1
    urls = {f"UGS_TEST_{name.upper()}": url_of(name) for name in KINDS if name not in missing}
    return subprocess.run(command, env={**os.environ, **urls}, check=False).returncode


ACTIONS = {"start": start, "stop": halt, "status": status, "env": env, "check": check}

if __name__ == "__main__":
    sys.exit(main())
