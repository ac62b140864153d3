"""Without the plugin awake (see `conformance.plugin`) there is no store to test, so nothing here is collected."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.plugin import RECORD


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if RECORD in config.stash else True
