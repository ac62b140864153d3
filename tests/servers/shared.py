"""The shared servers: joined by whoever asks for a URL, stopped when the last one leaves."""

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.server import ServerUnavailable
from tests.servers.state import KINDS, Shared, find_shared, forget_shared, locked, save_shared

_failures: dict[str, ServerUnavailable] = {}  # a server that did not start is not tried again for every test
_joined: set[tuple[str, int]] = set()


def postgresql_url() -> str:
    return url_of("postgresql")


def neo4j_url() -> str:
    return url_of("neo4j")


def url_of(name: str) -> str:
    """The URL of a running server; starts one when there is none. Raises ServerUnavailable."""
    if given := os.environ.get(f"UGS_TEST_{name.upper()}"):
        return given
    if name in _failures:
        raise _failures[name]
    try:
        return join(name).server.url
    except ServerUnavailable as failure:
        _failures[name] = failure
        raise


def join(name: str, keep: bool = False) -> Shared:
    """Start the server if need be, and count this process among its users until it ends."""
    with locked(name):
        shared = find_shared(name) or Shared(KINDS[name]())
        revive(shared)
        shared.kept = shared.kept or keep
        shared.users = sorted({*shared.live_users(), os.getpid()})
        save_shared(shared)
    if (name, os.getpid()) not in _joined:
        _joined.add((name, os.getpid()))
        atexit.register(leave, name, os.getpid())
    return shared


def revive(shared: Shared) -> None:
    """Make sure it runs: on its own data if that is still there, so that its URL stays true."""
    server = shared.server
    if not server.home.name or not server.home.exists():
        shared.server = KINDS[server.name]()
        shared.server.create()
    elif server.process() is None:
        server.start()


def leave(name: str, user: int) -> None:
    if user != os.getpid():  # a forked child ends; its parent still needs the server
        return
    with locked(name):
        shared = find_shared(name)
        if shared is None:
            return
        shared.users = [pid for pid in shared.live_users() if pid != user]
        if shared.kept or shared.users:
            save_shared(shared)
        else:
            shared.server.remove()
            forget_shared(name)


def stop(name: str) -> bool:
    """Stop the shared server whoever uses it; whether there was one."""
    with locked(name):
        shared = find_shared(name)
        if shared is None:
            return False
        shared.server.remove()
        forget_shared(name)
        return True


@contextmanager
def exclusive(name: str) -> Iterator[None]:
    """Be the only test run that uses the server's data; other runs wait here."""
    with locked(f"{name}-data"):
        yield
