"""From a URL to a store: what is told where no backend, or not its driver, is installed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ugs import connect
from ugs.connect import backend_names, storage_for
from ugs.errors import UnknownStore

LATE = "def make(url):\n    import {driver}\n"
EARLY = "import {driver}\nmake = None\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages with a backend for `odd:`, whose module the test writes."""
    info = tmp_path / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ugs.backends]\nodd = odd_backend:make\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    connect._entries.cache_clear()
    yield tmp_path
    connect._entries.cache_clear()
    sys.modules.pop("odd_backend", None)


@pytest.mark.parametrize("module", [EARLY, LATE], ids=["imported with the backend", "imported for the URL"])
@pytest.mark.parametrize(
    ("driver", "command"),
    [
        ("driver_nobody_has", "pip install driver_nobody_has"),
        ("asyncpg", "pip install 'ugs-gateway[postgresql]'"),
        ("neo4j", "pip install 'ugs-gateway[neo4j]'"),
    ],
)
def test_a_driver_that_is_missing_is_named(
    packages: Path, monkeypatch: pytest.MonkeyPatch, module: str, driver: str, command: str
) -> None:
    (packages / "odd_backend.py").write_text(module.format(driver=driver))
    monkeypatch.setitem(sys.modules, driver, None)
    with pytest.raises(UnknownStore) as refused:
        storage_for("odd://me:s3cret@h/g")
    assert str(refused.value).endswith(f"The backend 'odd' needs the package '{driver}': {command}")
    assert "s3cret" not in str(refused.value)


def test_a_scheme_that_nobody_answers_to_is_told_with_those_that_are_known() -> None:
    with pytest.raises(UnknownStore) as refused:
        storage_for("odd://me:s3cret@h/g")
    assert all(f"{name}:" in str(refused.value) for name in backend_names())
    assert "s3cret" not in str(refused.value) + str(refused.value.details)
    with pytest.raises(UnknownStore) as refused:
        storage_for("odd:/graph")
    assert refused.value.details["url"] == "odd:/graph"
