"""Stores of earlier versions: opened by this one they have the digest that they had."""

import shutil
from pathlib import Path

import pytest

from ugs.system import System

LOG = Path(__file__).parent / "store_0_1_0" / "events.wal"
DIGEST = "bd273a4a4c3df2df8ba7fd681cc0db1a8a93f3da13fffff70d4ce72d98ae2465"
"""What `ugs verify` of 0.1.0 said of that log."""


async def test_a_log_of_0_1_0_keeps_its_digest(tmp_path: Path) -> None:
    shutil.copy(LOG, tmp_path / "events.wal")
    async with System.at_url(f"file:{tmp_path}") as system:
        assert await system.digest() == DIGEST
        assert (await system.verify()).ok


@pytest.mark.parametrize("native", ["on", "off"])
async def test_it_keeps_its_digest_on_a_database(tmp_path: Path, native: str) -> None:
    shutil.copy(LOG, tmp_path / "events.wal")
    url = f"sqlite:///{tmp_path}/graph.db?native={native}"
    async with System.at_url(f"file:{tmp_path}") as old, System.at_url(url) as new:
        assert await old.copy_to(new.storage) == DIGEST
    async with System.at_url(url) as again:
        assert await again.digest() == DIGEST
