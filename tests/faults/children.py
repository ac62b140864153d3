"""Child processes that start quickly: forked from a parent that has everything imported and no threads."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.faults.warm"])
TIMEOUT_SECONDS = 30.0


class Child:
    """A process and our end of its pipe."""

    def __init__(self, process: ForkServerProcess, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe

    def tell(self, patience: float = TIMEOUT_SECONDS) -> Any:
        """The next thing the child says; EOFError when it is gone."""
        if not self.pipe.poll(patience):
            raise TimeoutError(f"the child said nothing for {patience} s")
        return self.pipe.recv()

    def kill(self) -> list[Any]:
        """End it at once, and answer what it had said but nobody had heard."""
        self.process.kill()
        return self.rest()

    def rest(self, patience: float = TIMEOUT_SECONDS) -> list[Any]:
        """Everything it says until it ends."""
        heard = []
        try:
            while True:
                heard.append(self.tell(patience))
        except (EOFError, ConnectionResetError):
            self.process.join(TIMEOUT_SECONDS)
            return heard


@contextmanager
def child(work: Callable[..., None], *arguments: Any) -> Iterator[Child]:
    """Run `work(pipe, *arguments)` in a process of its own, which does not outlive the block."""
    ours, theirs = FORKS.Pipe()
    process = FORKS.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Child(process, ours)
    finally:
        if process.is_alive():
            process.kill()
        process.join(TIMEOUT_SECONDS)
        ours.close()
