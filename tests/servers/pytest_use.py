"""For pytest: a server that cannot be had is a skip with its reason, and in CI a failure."""

import os

import pytest

from tests.servers.server import ServerUnavailable
from tests.servers.shared import url_of


def require(name: str) -> str:
    """The URL of the server, or the end of this test."""
    try:
        return url_of(name)
    except ServerUnavailable as unavailable:
        if in_ci():
            pytest.fail(f"CI needs {name}: {unavailable}", pytrace=False)
        pytest.skip(f"{unavailable} (or set UGS_TEST_{name.upper()} to a server URL)")


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("true", "1")
