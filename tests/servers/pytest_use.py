"""For pytest: a server that cannot be had is a skip with its reason, and in CI a failure."""

import os

import pytest

from tests.servers.server import ServerUnavailable
from tests.servers.shared import url_of

WITHOUT_SERVERS = "UGS_TEST_WITHOUT_SERVERS"
"""Set by `make check`: tests that need a server are skipped."""


def require(name: str) -> str:
    """The URL of the server, or the end of this test."""
    if os.environ.get(WITHOUT_SERVERS):
        pytest.skip(f"needs {name}, and {WITHOUT_SERVERS} is set")
    try:
        return url_of(name)
    except ServerUnavailable as unavailable:
        if in_ci():
            pytest.fail(f"CI needs {name}: {unavailable}", pytrace=False)
        pytest.skip(f"{unavailable} (or set UGS_TEST_{name.upper()} to a server URL)")


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("true", "1")
