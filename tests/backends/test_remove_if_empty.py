"""`remove_if_empty`: a new store without events leaves no files, and one that is used or filled stays."""

from pathlib import Path

import pytest

from ugs.graph.commands import AddNode
from ugs.system import System

URLS = ["file:{}/data", "sqlite:///{}/store.db"]


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("url", URLS)
async def test_a_store_without_events_leaves_no_files(url: str, tmp_path: Path) -> None:
    async with System.at_url(url.format(tmp_path)) as system:
        pass
    assert names(tmp_path)
    await system.storage.remove_if_empty()
    assert names(tmp_path) == []
    await system.storage.remove_if_empty()


@pytest.mark.parametrize("url", URLS)
async def test_a_store_with_events_stays(url: str, tmp_path: Path) -> None:
    async with System.at_url(url.format(tmp_path)) as system:
        await system.execute(AddNode(id="a"))
        await system.storage.remove_if_empty()  # open: nothing happens
    await system.storage.remove_if_empty()
    async with System.at_url(url.format(tmp_path)) as system:
        assert (await system.verify()).events == 1


@pytest.mark.parametrize("url", URLS)
async def test_a_store_that_somebody_has_open_stays(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugs_backends.sql.sqlite.connection.BUSY_SECONDS", 0)
    async with System.at_url(url.format(tmp_path)) as first:
        pass
    async with System.at_url(url.format(tmp_path)) as system:
        await first.storage.remove_if_empty()
        await system.execute(AddNode(id="a"))
    async with System.at_url(url.format(tmp_path)) as system:
        assert (await system.verify()).events == 1
