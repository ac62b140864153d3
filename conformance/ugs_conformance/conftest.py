"""Without the plugin awake (see `ugs_conformance.plugin`) there is no store to test, so nothing here is collected."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if config.pluginmanager.has_plugin("ugs-conformance-hooks") else True
