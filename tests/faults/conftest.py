"""The option that chooses the tier, and the figures that a run leaves behind."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.faults.figures import Figures

REPORTS = {"quick": Path("build/faults/quick.json"), "full": Path("build/faults/report.json")}
FIGURES = pytest.StashKey[Figures]()
BOUND = {"quick": 90, "full": 7200}
"""Seconds after which a test is given up, so that a run always ends."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--faults", choices=("quick", "full"), default="quick", help="how many faults to try")


@pytest.fixture(scope="session")
def tier(request: pytest.FixtureRequest) -> str:
    """`quick` with all other tests, `full` in `make faults`; the option is unknown when pytest starts elsewhere."""
    return str(request.config.getoption("faults", "quick"))


@pytest.fixture(scope="session")
def full(tier: str) -> bool:
    return tier == "full"


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest, tier: str) -> Figures:
    """Where tests put down what they counted."""
    stash = request.config.stash
    if FIGURES not in stash:
        stash[FIGURES] = Figures(tier)
    return stash[FIGURES]


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> Random:
    """Chance that can be had again: its seed is the test's name."""
    return Random(request.node.nodeid)


@pytest.fixture(autouse=True)
def bound(tier: str) -> Iterator[None]:
    """Give a test up that has not ended by itself."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"given up after {BOUND[tier]} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(BOUND[tier])
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    figures = config.stash.get(FIGURES, None)
    if figures is None or not figures.rows:
        return
    figures.write(config.rootpath / REPORTS[figures.tier])
    terminalreporter.section(f"faults, {figures.tier} tier")
    for line in figures.lines():
        terminalreporter.write_line(line)
