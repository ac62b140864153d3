"""ugs doctor: look a store over, from its settings to the last event, and with --repair put right what can be.

It opens the store, which repairs a torn end of the log by itself; replays the log and compares it with the tables; and
says what it found. With --repair, tables that differ are written anew from the log, and a fresh snapshot is taken. The
log itself is never changed: where it is damaged, doctor says where, and a backup or `ugs copy` of a twin must help.

examples:
  ugs doctor
  ugs doctor --repair --store sqlite:///graph.db
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from gateway.cli.answers import Answer
from gateway.cli.opening import settings_of, store_argument, wait_for
from gateway.cli.progress import Progress
from gateway.masking import without_secrets
from ugs.errors import UgsError
from ugs.system import System


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    store_argument(parser)
    parser.add_argument("--repair", action="store_true", help="put right what can be put right")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return wait_for(_run(options))


async def _run(options: Namespace) -> int:
    visit = Visit(settings_of(options).store, options.repair)
    await visit.look_over()
    healthy = all(check["ok"] for check in visit.checks)
    told = {"store": without_secrets(visit.url), "healthy": healthy, "checks": visit.checks}
    code: int = options.speech.answer(Answer("checks", told, visit.checks, code=0 if healthy else 1))
    return code


class Visit:
    """What is found on one look over a store."""

    def __init__(self, url: str, repair: bool) -> None:
        self.url = url
        self.repair = repair
        self.checks: list[dict[str, Any]] = []

    def note(self, check: str, ok: bool, words: str) -> None:
        """Write a finding down."""
        self.checks.append({"check": check, "ok": ok, "found": without_secrets(words)})

    async def look_over(self) -> None:
        """All checks, as far as the store allows."""
        try:
            system = System.at_url(self.url)
            await system.open()
        except UgsError as error:
            self.note("opens", False, f"{error.code} {error.message}")
            return
        try:
            self.note("opens", True, system.storage.describe())
            for warning in system.storage.warnings:
                self.note("warning", True, warning)
            await self._compare(system)
            if self.repair:
                written = await system.snapshot()
                self.note("snapshot", True, f"written at event {written.event_count}")
        except UgsError as error:
            self.note("works", False, f"{error.code} {error.message}")
        finally:
            await system.close()

    async def _compare(self, system: System) -> None:
        progress = Progress("replaying")
        try:
            found = await system.verify(progress)
            if found.ok or not self.repair:
                told = "equals" if found.ok else "differs from"
                self.note("state", found.ok, f"the state {told} what {found.events} events say")
                return
            await system.rebuild(progress)
            again = await system.verify(progress)
            self.note("state", again.ok, f"the state differed and was written anew from {again.events} events")
        finally:
            progress.end()
