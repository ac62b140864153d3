"""Processes we started: known by id and start time, so that a reused id is never mistaken for ours."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

# Held for as long as we live: a forgotten Popen object complains that its child still runs.
_children: list[subprocess.Popen[bytes]] = []


def launch(command: Sequence[str], log: Path, user: int | None = None) -> psutil.Process:
    """Start a process in a session of its own (Ctrl+C in the tests does not reach it), output in `log`."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True, cwd="/", **as_user(user),
        )  # fmt: skip
    _children.append(child)
    return psutil.Process(child.pid)


def as_user(user: int | None) -> dict[str, Any]:
    """The arguments of `subprocess` that run a program as `user`; None is ourselves."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def find_process(pid: int, started: float) -> psutil.Process | None:
    """The process we once started, or None when it has ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        if process.create_time() == started and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None


def end(process: psutil.Process, signals: Sequence[signal.Signals], patience: float = 30) -> None:
    """Send one signal after the other, each with `patience` seconds to work."""
    for sign in signals:
        with suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
            process.send_signal(sign)
            process.wait(patience)
            return


def wait_until(condition: Callable[[], bool], patience: float, pause: float = 0.1) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + patience
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(pause)
    return met
