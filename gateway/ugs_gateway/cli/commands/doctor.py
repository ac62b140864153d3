"""ugs doctor: look a store over, from its settings to the last event, and with --repair put right what can be.

It opens the store, which repairs a torn end of the log by itself; replays the log and compares it with the tables; and
says what it found. With --repair, tables that differ are written anew from the log, and a fresh snapshot is taken. The
log itself is never changed: where it is damaged, doctor says where, and a backup or `ugs copy` of a twin must help.
Where a snapshot stands for the damaged part, --acknowledge accepts the damage, so that the store writes again.

examples:
  ugs doctor
  ugs doctor --repair --store sqlite:///graph.db
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from ugs.errors import UgsError
from ugs.system import System
from ugs_gateway.cli.open_store import add_store_options, check_exists, run_coroutine, settings_of
from ugs_gateway.cli.output.progress import Progress
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.observability.redaction import mask_url, without_secrets


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_store_options(parser)
    parser.add_argument("--repair", action="store_true", help="put right what can be put right")
    parser.add_argument(
        "--acknowledge", action="store_true", help="accept damage of the log that a snapshot makes up for, and write on"
    )


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return run_coroutine(_run(options))


async def _run(options: Namespace) -> int:
    visit = Diagnosis(settings_of(options).store, options.repair, options.acknowledge)
    await visit.examine()
    healthy = all(check["ok"] for check in visit.checks)
    told = {"store": mask_url(visit.url), "healthy": healthy, "checks": visit.checks}
    code: int = options.speech.answer(Answer("checks", told, visit.checks, code=0 if healthy else 1))
    return code


class Diagnosis:
    """The findings of one examination of a store."""

    def __init__(self, url: str, repair: bool, acknowledge: bool = False) -> None:
        self.url = url
        self.repair = repair
        self.acknowledge = acknowledge
        self.checks: list[dict[str, Any]] = []

    def note(self, check: str, ok: bool, words: str) -> None:
        """Record a finding."""
        self.checks.append({"check": check, "ok": ok, "found": without_secrets(words, self.url)})

    async def examine(self) -> None:
        """Run all checks, as far as the store allows."""
        try:
            system = System.at_url(self.url)
            check_exists(system.storage)
            await system.open()
        except UgsError as error:
            self.note("opens", False, f"{error.code} {error.message}")
            return
        try:
            self.note("opens", True, system.storage.describe())
            for warning in system.storage.warnings:
                self.note("warning", True, warning)
            if self.acknowledge and (told := await system.storage.acknowledge_damage()) is not None:
                self.note("damage", True, f"acknowledged: {told}")
                return
            await self._compare(system)
            if (end := await system.storage.history_end()) is not None:
                self.note("history", True, f"versions of rows answer for the past up to event {end}")
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
            for problem in found.problems:
                self.note("log", False, problem)
            equal = found.stored == found.replayed
            if equal or not self.repair:
                told = "equals" if equal else "differs from"
                self.note("state", equal, f"the state {told} what {found.events} events say")
                return
            await system.rebuild(progress)
            again = await system.verify(progress)
            self.note("state", again.ok, f"the state differed and was written anew from {again.events} events")
        finally:
            progress.end()
