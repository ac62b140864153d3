"""`ugs key`: the same on a store here and on a gateway there, and one hears of the other."""

import time
from pathlib import Path
from typing import Any

from tests.gateway.cli.conftest import Ugs
from tests.gateway.processes import serving


def test_keys_are_made_listed_and_revoked_here_and_there(ugs: Ugs, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/x.db"

    def key(*words: str, **environ: str) -> Any:
        done = ugs("key", *words, **environ)
        assert done.code == 0, done.err
        return done.value

    root = key("add", "root", "--role", "admin", "--store", store)
    with serving(tmp_path, "--store", store, "--store-keys", "on") as gateway:
        there = {"UGS_URL": gateway.url, "UGS_TOKEN": root["token"]}
        made = key("add", "ci", "--user", "jo", "--expires", "2099-01-01T00:00:00Z", **there)
        assert [one["name"] for one in key("list", **there)] == ["root", "ci"]
        assert key("list", "--store", store) == key("list", **there)
        assert ugs("stats", UGS_URL=gateway.url, UGS_TOKEN=made["token"]).code == 0
        revoked = key("revoke", made["id"], "--store", store)
        assert revoked["revoked_at"] and set(made) == {"token", *revoked}
        wait_until_refused(ugs, gateway.url, made["token"])
        assert key("revoke", root["id"], **there)["revoked_at"]
        refused = ugs("key", "list", **there)
        assert refused.code == 1 and "UNAUTHENTICATED" in refused.err


def wait_until_refused(ugs: Ugs, url: str, token: str) -> None:
    """Another process has taken the key back; this gateway hears of it by itself."""
    deadline = time.monotonic() + 30
    while ugs("stats", UGS_URL=url, UGS_TOKEN=token).code == 0:
        assert time.monotonic() < deadline, "the key still opens the door"
        time.sleep(0.02)


def test_what_is_no_key_is_refused_in_words(ugs: Ugs) -> None:
    store = ("--store", "memory:")
    assert "key add needs a name" in ugs("key", "add", *store).err
    assert "--role is reader, writer or admin" in ugs("key", "add", "x", "--role", "root", *store).err
    assert "--expires: 'soon' is not a time" in ugs("key", "add", "x", "--expires", "soon", *store).err
    assert "API key not found: nobody" in ugs("key", "revoke", "nobody", *store).err
    assert "--at means nothing to key" in ugs("key", "list", "--at", "1", *store).err
    assert "ugs key revoke" in ugs("key", "--help").out.partition("examples:")[2]
