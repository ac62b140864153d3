"""What the tests ask for by name. Override `fresh_store_url` to bring stores of your own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ugs.clock import FixedClock
from ugs.graph.api import Graph
from ugs.system import System
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.harness import Harness, store_url
from ugs_conformance.support.store_fixture import StoreUnderTest


@pytest.fixture(scope="session")
def fresh_store_url(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the store under test lives; the kit wipes it before every test."""
    given = pytestconfig.getoption("--backend")
    if given is None:
        pytest.fail("Name the store to test: --backend URL, or define the fixture fresh_store_url", pytrace=False)
    return store_url(given, tmp_path_factory.mktemp("store"), pytestconfig.getoption("--native"))


@pytest.fixture(scope="session")
def storage_url(fresh_store_url: str) -> str:
    """The URL of the store under test."""
    return fresh_store_url


@pytest.fixture(scope="session")
def other_urls(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Other stores at hand (`--also`), to copy to and from."""
    given = pytestconfig.getoption("--also")
    return [store_url(url, tmp_path_factory.mktemp("other"), None) for url in given]


@pytest.fixture(scope="session")
def histories_wanted(pytestconfig: pytest.Config) -> int:
    """How many random histories to compare."""
    wanted: int = pytestconfig.getoption("--histories")
    return wanted


@pytest.fixture(scope="session")
def harness(storage_url: str) -> Iterator[Harness]:
    """The store under test, opened when first needed."""
    harness = Harness(storage_url)
    yield harness
    run(harness.close())


@pytest.fixture(autouse=True)
def applicable(request: pytest.FixtureRequest) -> None:
    """Leave out tests that ask for what the store does not declare."""
    for mark in request.node.iter_markers("needs"):
        reason = run(request.getfixturevalue("harness").lacks(mark.args[0]))
        if reason is not None:
            pytest.skip(f"not applicable: {reason}")


@pytest.fixture
def world(harness: Harness) -> Iterator[StoreUnderTest]:
    """An empty store with a system on it and a clock that stands still."""
    world = StoreUnderTest(harness)
    run(world.begin())
    yield world
    run(world.end())


@pytest.fixture
def system(world: StoreUnderTest) -> System:
    return world.system


@pytest.fixture
def graph(world: StoreUnderTest) -> Graph:
    return world.graph


@pytest.fixture
def clock(world: StoreUnderTest) -> FixedClock:
    return world.clock
