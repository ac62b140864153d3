"""`ugs backup` and `ugs restore`: the same store again, at any position of its log, and never from a damaged file."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.conftest import Ugs
from tests.gateway.processes import serving

STORES = ["file:new", "sqlite:///new.db"]


@pytest.fixture
def kept(demo: Ugs) -> Ugs:
    """The demonstration graph with a change and a deletion, and a backup of it."""
    assert demo("update", "alice", "role=boss").code == 0
    assert demo("delete", "bob").code == 0
    assert demo("backup", "graph.wal").code == 0
    return demo


def manifest() -> Any:
    return json.loads(Path("graph.wal.json").read_text())


def state(ugs: Ugs, store: str) -> Any:
    """The digest of a store whose tables are what its log says."""
    found = ugs("verify", "--store", store).value
    assert found["ok"]
    return found["stored"]


@pytest.mark.parametrize("store", STORES)
def test_a_restored_store_is_the_same(kept: Ugs, store: str) -> None:
    done = kept("restore", "graph.wal", "--store", store).value
    assert done == {
        "file": "graph.wal",
        "events": manifest()["events"],
        "imported": manifest()["events"],
        "digest": manifest()["digest"],
        "checked": True,
    }
    assert state(kept, store) == state(kept, "file:data") == done["digest"]
    assert kept("versions", "alice", "--store", store).out == kept("versions", "alice").out


@pytest.mark.parametrize("store", STORES)
def test_a_restore_ends_where_it_is_told(kept: Ugs, store: str) -> None:
    assert kept("restore", "graph.wal", "--until", "16", "--store", store).value["events"] == 16
    assert kept("export", "--store", store).out == kept("export", "--at", "16").out
    assert kept("restore", "graph.wal", "--store", store).value["imported"] == manifest()["events"] - 16
    assert kept("export", "--store", store).out == kept("export").out


def test_a_restore_ends_at_a_time(kept: Ugs) -> None:
    assert (
        kept("restore", "graph.wal", "--until", "2099-01-01T00:00:00Z", "--store", "file:all").value["events"]
        == (manifest()["events"])
    )
    events = [json.loads(line) for line in Path("graph.wal").read_text().splitlines()]
    for number, event in enumerate(events):
        event["timestamp"] = 1_000 * (number + 1)
        event.pop("crc", None)
    Path("seconds.wal").write_text("".join(json.dumps(event) + "\n" for event in events))
    done = kept("restore", "seconds.wal", "--until", "1970-01-01T00:00:07.500Z", "--store", "file:some")
    assert (done.value["events"], done.value["checked"]) == (7, False)
    assert "seconds.wal.json is missing" in done.err


@pytest.mark.parametrize(
    ("until", "code", "words"),
    [
        ("0", "POSITION_NOT_FOUND", "the backup has positions 1 to"),
        ("99", "POSITION_NOT_FOUND", "the backup has positions 1 to"),
        ("2001-01-01T00:00:00Z", "POSITION_NOT_FOUND", "the backup begins after that time"),
        ("yesterday", "E005", "--until takes a position or a time"),
    ],
)
def test_a_place_that_the_backup_does_not_have_restores_nothing(kept: Ugs, until: str, code: str, words: str) -> None:
    refused = kept("restore", "graph.wal", "--until", until, "--store", "sqlite:///new.db")
    assert refused.value["error"]["code"] == code
    assert words in refused.value["error"]["message"]
    assert not Path("new.db").exists()


@pytest.mark.parametrize("change", [b"", b"half a line", None])
def test_a_file_that_has_changed_is_refused_before_anything_is_written(kept: Ugs, change: bytes | None) -> None:
    whole = Path("graph.wal").read_bytes()
    Path("graph.wal").write_bytes(whole[:-1] if change is None else whole[: len(whole) // 2] + change)
    refused = kept("restore", "graph.wal", "--store", "sqlite:///new.db")
    assert refused.value["error"]["code"] == "DIGEST_MISMATCH"
    assert not Path("new.db").exists()


def test_a_state_unlike_that_of_the_backup_is_told(kept: Ugs) -> None:
    Path("graph.wal.json").write_text(json.dumps(manifest() | {"digest": "0" * 64}))
    refused = kept("restore", "graph.wal", "--store", "file:new")
    assert refused.value["error"]["code"] == "DIGEST_MISMATCH"
    assert "made, by version" in refused.value["error"]["message"]


def test_a_manifest_that_is_none_is_refused(kept: Ugs) -> None:
    Path("graph.wal.json").write_text("[]")
    assert kept("restore", "graph.wal", "--store", "file:new").value["error"]["code"] == "E007"
    assert not Path("new").exists()


def test_a_store_with_another_history_is_left_as_it_is(kept: Ugs) -> None:
    assert kept("add-node", "mine", "--store", "file:other").code == 0
    refused = kept("restore", "graph.wal", "--store", "file:other")
    assert refused.value["error"]["code"] == "DIGEST_MISMATCH"
    assert kept("verify", "--store", "file:other").value["events"] == 1


def test_an_interrupted_backup_goes_on(kept: Ugs) -> None:
    whole = Path("graph.wal").read_bytes()
    Path("second.wal.part").write_bytes(whole[: len(whole) // 2])
    again = kept("backup", "second.wal")
    assert "going on after event" in again.err
    assert Path("second.wal").read_bytes() == whole
    assert again.value["sha256"] == manifest()["sha256"]


def test_standard_streams_are_no_backups(kept: Ugs) -> None:
    assert kept("backup", "-").value["error"]["code"] == "E005"
    assert kept("backup", "nowhere/graph.wal").value["error"]["code"] == "E007"
    assert kept("restore", "missing.wal", "--store", "file:new").value["error"]["code"] == "E007"
    assert not Path("new").exists()


def test_a_running_gateway_is_backed_up_and_takes_no_restore(ugs: Ugs, tmp_path: Path) -> None:
    assert ugs("load-demo", "--store", "file:data").code == 0
    with serving(tmp_path, "--store", "file:data") as gateway:
        assert ugs("backup", "graph.wal", "--url", gateway.url).value["events"] == 15
        refused = ugs("restore", "graph.wal", "--url", gateway.url)
        assert refused.code == 2 and "give --store" in refused.err
    assert ugs("restore", "graph.wal", "--store", "file:new").value["digest"] == state(ugs, "file:data")
