"""Hooks, options and marks of a run of the kit, and the record of what was proven.

Registered by `ugs_conformance.plugin` in runs that name the kit. Tests take `clause` and `needs` from here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from ugs_conformance.support import event_loop
from ugs_conformance.support.run_record import Record

Test = TypeVar("Test", bound=Callable[..., Any])
RECORD = pytest.StashKey[Record]()
HOOKS = "ugs-conformance-hooks"
HISTORIES = 200
EXAMPLES = 30

MARKS = (
    "clause(*ids): the requirements this test proves",
    "needs(capability): runs only on a store that declares the capability",
)


def clause(*ids: str) -> Callable[[Test], Test]:
    """Name the requirements a test proves, and let an asynchronous test run."""

    def named(test: Test) -> Test:
        marked: Test = pytest.mark.clause(*ids)(event_loop.run_on_loop(test))
        return marked

    return named


def needs(capability: str) -> pytest.MarkDecorator:
    """Run a test only on stores that have the capability; elsewhere the report says why not."""
    return pytest.mark.needs(capability)


def begin(config: pytest.Config, parser: pytest.Parser) -> None:
    """Make a run one of the kit: its options, fixtures, hooks and record."""
    from ugs_conformance.support import fixtures

    add_options(parser)
    config.pluginmanager.register(sys.modules[__name__], HOOKS)
    config.pluginmanager.register(fixtures, "ugs-conformance-fixtures")
    config.stash[RECORD] = Record()


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "UGS conformance kit")
    group.addoption("--backend", metavar="URL", help="the store to test; {tmp} stands for a fresh folder")
    group.addoption("--also", metavar="URL", action="append", default=[], help="another store, to copy to and from")
    group.addoption("--native", choices=["on", "off"], help="off: the store uses the port's defaults only")
    group.addoption("--histories", type=int, default=HISTORIES, help="how many random histories are compared")
    group.addoption("--examples", type=int, default=EXAMPLES, help="how many random cases each law is tried on")
    group.addoption("--record", metavar="FILE", help="write what was proven, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    if RECORD in config.stash:
        set_hypothesis_up(config.getoption("--examples"), config.getoption("--histories") > HISTORIES)


def set_hypothesis_up(examples: int, explore: bool) -> None:
    """The same cases in every ordinary run, so that a red run can be repeated; new ones when many are asked for."""
    settings.register_profile(
        "conformance",
        max_examples=examples,
        derandomize=not explore,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("conformance")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if RECORD in config.stash:
        for item in items:
            item.user_properties.append(("clauses", clauses_of(item)))


def clauses_of(item: pytest.Item) -> list[str]:
    """The requirements named on a test."""
    return [str(id) for mark in item.iter_markers("clause") for id in mark.args]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report: pytest.TestReport = yield
    if (record := item.config.stash.get(RECORD, None)) is not None:
        record.hear(report)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    record = session.config.stash.get(RECORD, None)
    if record is not None and (path := session.config.getoption("--record")):
        record.write(path, session.config.getoption("--backend") or "")


def pytest_unconfigure(config: pytest.Config) -> None:
    if RECORD in config.stash:
        event_loop.close()
