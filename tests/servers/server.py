"""What every test server can do: be prepared once, start, stop, die, and start again on its data and URL."""

import os
import shutil
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import ClassVar

import psutil

from tests.servers.places import free_port, new_data_folder, state_folder
from tests.servers.processes import end, find_process, launch, wait_until


class ServerUnavailable(Exception):
    """A server cannot be had on this machine; the message says why and what to do."""


@dataclass
class Server(ABC):
    """One server of ours, running or not; its fields are what the state file keeps."""

    name: ClassVar[str]
    patience: ClassVar[float]  # seconds until it must answer
    stop_signals: ClassVar[Mapping[str, signal.Signals]]  # by mode, the gentle one first

    folder: str = ""
    log: str = ""
    port: int = field(default_factory=free_port)
    password: str = field(default_factory=lambda: token_urlsafe(12))
    pid: int = 0
    started: float = 0.0

    @property
    @abstractmethod
    def url(self) -> str: ...

    @abstractmethod
    def prepare(self) -> None:
        """Make the data folder ready for the first start."""

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether it answers now."""

    @abstractmethod
    def after_first_start(self) -> None:
        """What can only be set up while it runs."""

    def user(self) -> int | None:
        """The user id to run as; None is ourselves."""
        return None

    @property
    def home(self) -> Path:
        return Path(self.folder)

    def process(self) -> psutil.Process | None:
        return find_process(self.pid, self.started)

    def create(self, log: Path | None = None) -> None:
        """Set up new data and start on it for the first time."""
        self.folder = str(new_data_folder(self.name))
        self.log = str(log or state_folder() / f"{self.name}.log")
        try:
            self.prepare()
            self.start()
            self.after_first_start()
        except BaseException:
            self.remove()
            raise

    def start(self) -> None:
        """Start on the data that is there, and wait until it answers."""
        process = launch(self.command(), Path(self.log), self.user())
        self.pid, self.started = process.pid, process.create_time()
        wait_until(lambda: self.process() is None or self.is_ready(), self.patience)
        if self.process() is None or not self.is_ready():
            raise ServerUnavailable(f"{self.name} did not start; its last words, from {self.log}:\n{self.last_words()}")

    def stop(self, mode: str = "fast") -> None:
        """Stop in one of the ways `stop_signals` names; kill when it does not listen."""
        if process := self.process():
            end(process, [self.stop_signals[mode], signal.SIGKILL])

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        if process := self.process():
            orphans = process.children(recursive=True)
            end(process, [signal.SIGKILL])
            psutil.wait_procs(orphans, timeout=10)

    def remove(self) -> None:
        """Stop and delete the data; the log stays."""
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def last_words(self, lines: int = 15) -> str:
        log = Path(self.log)
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else "(no log)"


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
