"""One gateway in memory for all tests; each takes ids of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.processes import Gateway, serving


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("client"), "--store", "memory:") as running:
        yield running
