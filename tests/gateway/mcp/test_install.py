"""`ugs mcp install`: one entry in a client's configuration, with absolute paths, and nothing else changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.conftest import Ugs, ugs
from tests.gateway.mcp.client import Talk
from ugs_gateway.cli.commands.mcp import absolute_store
from ugs_gateway.defaults import memory_folder
from ugs_gateway.mcp.client_config import CLIENTS, ENTRY, clients

__all__ = ["ugs"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA", "BASE_PATH"):
        monkeypatch.delenv(name, raising=False)
    return home


def written(home: Path, client: str) -> dict[str, Any]:
    config = clients(home, {})[client]
    found: dict[str, Any] = json.loads(config.path.read_text("utf-8"))
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_an_entry_that_starts_the_server_anywhere(ugs: Ugs, home: Path, client: str) -> None:
    done = ugs("mcp", "install", client)
    assert (done.code, done.value["change"], done.value["backup"]) == (0, "added", None)
    config = clients(home, {})[client]
    assert done.value["file"] == str(config.path)
    entry = written(home, client)[config.key][ENTRY]
    assert Path(entry["command"]).is_absolute() and os.access(entry["command"], os.X_OK)
    assert entry["args"] == ["mcp"] and entry["env"] == {"BASE_PATH": str(memory_folder(home))}
    assert (entry.get("type") == "stdio") is config.has_type
    assert os.name == "nt" or config.path.stat().st_mode & 0o777 == 0o600
    again = ugs("mcp", "install", client)
    assert (again.value["change"], again.value["backup"]) == ("unchanged", None)


def test_other_settings_stay_and_the_file_as_it_was_is_kept(ugs: Ugs, home: Path) -> None:
    path = clients(home, {})["cursor"].path
    path.parent.mkdir()
    before = '{"theme": "dunkel — ü", "mcpServers": {"other": {"command": "x"}, "graph-memory-core": {"command": "old"}}, "z": 1}'
    path.write_text(before, "utf-8")
    path.chmod(0o640)
    done = ugs("mcp", "install", "cursor", "--profile", "memory", BASE_PATH="/home/me/memory")
    assert done.value["change"] == "replaced"
    assert Path(done.value["backup"]).read_text("utf-8") == before
    now = written(home, "cursor")
    assert list(now) == ["theme", "mcpServers", "z"] and now["theme"] == "dunkel — ü"
    assert list(now["mcpServers"]) == ["other", ENTRY] and now["mcpServers"]["other"] == {"command": "x"}
    assert now["mcpServers"][ENTRY]["args"] == ["mcp", "--profile", "memory"]
    assert now["mcpServers"][ENTRY]["env"] == {"BASE_PATH": "/home/me/memory"}
    assert os.name == "nt" or path.stat().st_mode & 0o777 == 0o640
    other = ugs("mcp", "install", "cursor", "--store", "sqlite:///m.db")
    assert Path(other.value["backup"]) != Path(done.value["backup"])
    assert written(home, "cursor")["mcpServers"][ENTRY]["args"] == ["mcp", "--store", f"sqlite:///{Path.cwd()}/m.db"]


def test_a_dry_run_writes_nothing(ugs: Ugs, home: Path) -> None:
    done = ugs("mcp", "install", "claude-code", "--dry-run")
    assert (done.value["dryRun"], done.value["change"]) == (True, "added")
    assert done.value["entry"]["env"] == {"BASE_PATH": str(memory_folder(home))}
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "text", ['{"mcpServers": {}, // mine\n}', "[]", '{"mcpServers": []}', "\0", '"a"', "[" * 100_000]
)
def test_a_file_that_is_not_understood_is_left_alone(ugs: Ugs, home: Path, text: str) -> None:
    path = clients(home, {})["cursor"].path
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    done = ugs("mcp", "install", "cursor")
    assert done.code != 0 and done.value["error"]["code"] == "E005"
    assert path.read_text("utf-8") == text and list(path.parent.iterdir()) == [path]


def test_a_link_to_a_file_kept_elsewhere_stays_a_link(ugs: Ugs, home: Path) -> None:
    (home / "dotfiles").mkdir()
    kept = home / "dotfiles" / "claude.json"
    kept.write_text("{}", "utf-8")
    (home / ".claude.json").symlink_to(kept)
    assert ugs("mcp", "install", "claude-code").code == 0
    assert (home / ".claude.json").is_symlink() and ENTRY in json.loads(kept.read_text("utf-8"))["mcpServers"]


def test_a_password_is_not_shown(ugs: Ugs, home: Path) -> None:
    done = ugs("mcp", "install", "cursor", "--store", "postgresql://me:hunter2@localhost/graph")
    assert "hunter2" not in done.out
    assert written(home, "cursor")["mcpServers"][ENTRY]["args"][-1] == "postgresql://me:hunter2@localhost/graph"


@pytest.mark.parametrize(
    "words", [("install",), ("install", "emacs"), ("serve", "cursor"), ("--dry-run",), ("install", "cursor", "--bogus")]
)
def test_wrong_words_are_refused(ugs: Ugs, home: Path, words: tuple[str, ...]) -> None:
    assert ugs("mcp", *words).code == 2
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "absolute"),
    [
        ("file:data", "file:{}/data"),
        ("file:./data?fsync=off", "file:{}/data?fsync=off"),
        ("file:/srv/data", "file:/srv/data"),
        ("sqlite:///a.db", "sqlite:///{}/a.db"),
        ("sqlite:////srv/a.db", "sqlite:////srv/a.db"),
        ("sqlite:", "sqlite:"),
        ("postgresql://h/db", "postgresql://h/db"),
        ("memory:", "memory:"),
    ],
)
def test_paths_become_absolute(url: str, absolute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute_store(url) == absolute.format(tmp_path)


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, "/h/.local/share/ugs-gateway/memory"),
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/ugs-gateway/memory"),
        ("darwin", {}, "/h/Library/Application Support/ugs-gateway/memory"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/ugs-gateway/memory"),
    ],
)
def test_a_memory_without_a_place_has_one_by_platform(platform: str, environ: dict[str, str], folder: str) -> None:
    assert memory_folder(Path("/h"), environ, platform) == Path(folder)


def test_info_says_where(ugs: Ugs, home: Path) -> None:
    assert ugs("info").value["memory"] == str(memory_folder(home))


async def test_the_entry_works_as_it_is_written(ugs: Ugs, home: Path) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    ugs("mcp", "install", "claude-desktop", "--profile", "memory")
    entry = written(home, "claude-desktop")["mcpServers"][ENTRY]
    environment = {**os.environ, **entry["env"]}
    parameters = StdioServerParameters(command=entry["command"], args=entry["args"], env=environment, cwd="/")
    async with Client(parameters) as client:
        await Talk(client)("remember", text="Alice prefers tea.")
    assert (memory_folder(home) / "_system" / "events.wal").stat().st_size > 0
