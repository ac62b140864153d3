"""`ugs webhook`: the same on a store here and on a gateway there."""

import json
from pathlib import Path
from typing import Any

from tests.gateway.cli.conftest import Ugs
from tests.gateway.processes import serving
from tests.gateway.webhooks.receiver import Receiver


def test_webhooks_are_made_and_managed_here_and_there(ugs: Ugs, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/x.db"
    options = ("--store", store, "--webhooks", "on", "--webhook-private-addresses", "on")

    def webhook(*words: str, **environ: str) -> Any:
        done = ugs("webhook", *words, **environ)
        assert done.code == 0, done.err
        return done.value

    with Receiver() as receiver, serving(tmp_path, *options) as gateway:
        there = {"UGS_URL": gateway.url}
        filter = {"nodes": {"types": ["Person"]}}
        here = webhook("add", f"{receiver.url}/here", "--filter", json.dumps(filter), "--store", store)
        made = webhook("add", f"{receiver.url}/there", "--after", "0", "--user", "jo", **there)
        assert here["filter"] == filter and here["seq"] == 0 and made["user"] == "jo"
        assert [one["id"] for one in webhook("list", **there)] == [here["id"], made["id"]]
        assert webhook("list", "--store", store) == webhook("list", **there)
        assert set(made) == {"secret", *webhook("list", **there)[0]}
        assert ugs("add-node", "ann", "Person", **there).code == 0
        assert {arrival.path for arrival in receiver.wait_for(2)} == {"/hook/here", "/hook/there"}
        assert webhook("pause", made["id"], "--store", store)["paused_at"]
        assert webhook("resume", made["id"], **there)["paused_at"] is None
        assert webhook("rewind", made["id"], "--after", "0", **there)["seq"] == 0
        assert webhook("redeliver", made["id"], **there) == {"delivered": 0, "left": 0}
        receiver.wait_for(3)
        webhook("delete", made["id"], **there)
        webhook("delete", here["id"], "--store", store)
        assert webhook("list", **there) == []


def test_what_is_no_webhook_is_refused_in_words(ugs: Ugs) -> None:
    store = ("--store", "memory:")
    assert "webhook add needs an address" in ugs("webhook", "add", *store).err
    assert "webhook pause needs the id of a webhook" in ugs("webhook", "pause", *store).err
    assert "webhook rewind needs --after" in ugs("webhook", "rewind", "x", *store).err
    assert "--filter is not JSON" in ugs("webhook", "add", "https://x.example", "--filter", "{", *store).err
    assert "no 'colour'" in ugs("webhook", "add", "https://x.example", "--filter", '{"colour": 1}', *store).err
    assert (
        "list of event types" in ugs("webhook", "add", "https://x.example", "--filter", '{"types": ["X"]}', *store).err
    )
    assert "an http or https address" in ugs("webhook", "add", "ftp://x.example", *store).err
    assert "Webhook not found: nobody" in ugs("webhook", "delete", "nobody", *store).err
    assert "needs a gateway that delivers" in ugs("webhook", "redeliver", "nobody", *store).err
