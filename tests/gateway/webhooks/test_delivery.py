"""Webhooks through a gateway: what arrives, signed by whom, after which failures, and what never does."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests import servers
from tests.gateway.webhooks.receiver import Arrival, Receiver, check_order, is_signed, until
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.settings import Settings, Tenancy
from ugs_gateway.webhooks import delivery

CREATE = "mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id seq filter } } }"
LIST = "{ webhooks { totalCount nodes { id name url filter user seq pausedAt pauseReason deadLetters { seq attempts error } } } }"
MANAGE = "mutation($id: ID!) {{ {0}Webhook(input: {{id: $id}}) {{ webhook {{ id pausedAt }} }} }}"
REDELIVER = "mutation($id: ID!) { redeliverWebhook(input: {id: $id}) { delivered left } }"
REWIND = "mutation($id: ID!, $to: Position!) { rewindWebhook(input: {id: $id, afterSeq: $to}) { webhook { seq } } }"
ADD = "mutation($id: ID!, $type: String) { addNode(input: {id: $id, type: $type}) { event { seq } } }"
UPDATE = "mutation($id: ID!, $p: JSON!) { updateNode(input: {id: $id, properties: $p}) { event { seq } } }"
FACT = """mutation($name: String!, $scope: String!) { addFact(input: {subject: {name: $name}, predicate: "likes",
  objectValue: "zqsecret", scope: $scope, notes: [{text: "a note"}]}) { fact { factId } } }"""


class Client:
    """A gateway, asked with the keys of several people."""

    def __init__(self, client: TestClient, tokens: dict[str, str]) -> None:
        self.client, self.tokens = client, tokens

    def answer(self, query: str, by: str = "admin", **variables: Any) -> Any:
        headers = {"authorization": f"Bearer {self.tokens[by]}"} if self.tokens else {}
        return self.client.post("/graphql", json={"query": query, "variables": variables}, headers=headers).json()

    def ask(self, query: str, by: str = "admin", **variables: Any) -> Any:
        found = self.answer(query, by, **variables)
        assert "errors" not in found, found
        return found["data"]

    def code(self, query: str, by: str = "admin", **variables: Any) -> str:
        return str(self.answer(query, by, **variables)["errors"][0]["extensions"]["code"])

    def create(self, by: str = "admin", **input: Any) -> Any:
        return self.ask(CREATE, by, input=input)["createWebhook"]

    def add(self, id: str, type: str | None = None, by: str = "admin") -> int:
        return int(self.ask(ADD, by, id=id, type=type)["addNode"]["event"]["seq"])

    def webhook(self) -> Any:
        (found,) = self.ask(LIST)["webhooks"]["nodes"]
        return found


@contextmanager
def opened(store: str = "memory:", tokens: dict[str, str] | None = None, **more: Any) -> Iterator[Client]:
    settings = Settings(store=store, **{"webhooks": True, "webhook_private_addresses": True, **more})
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield Client(client, tokens or {})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses after failures in milliseconds."""
    monkeypatch.setattr(delivery, "pause_after", lambda attempt, failed: 0.01)


@pytest.mark.parametrize("kind", ["memory", "file", "sqlite", "postgresql", "neo4j"])
def test_events_arrive_signed_as_cloud_events_on_every_store(kind: str, tmp_path: Path) -> None:
    places = {"memory": "memory:", "file": f"file:{tmp_path}/data", "sqlite": f"sqlite:///{tmp_path}/graph.db"}
    options = {"postgresql": "schema", "neo4j": "namespace"}
    place = places.get(kind) or f"{servers.require(kind)}?{options[kind]}=hooks_{time.time_ns() % 10**9}"
    with Receiver() as receiver, opened(place) as client:
        made = client.create(url=receiver.url, afterSeq=0)
        seqs = [client.add("n1", "Person"), client.add("n2")]
        arrived = receiver.wait_for(2)
        assert [arrival.seq for arrival in arrived] == seqs
        (one, _), told = arrived, arrived[0].told
        assert is_signed(one, made["secret"]) and not is_signed(one, "whsec_AAAA")
        assert one.headers["content-type"] == "application/cloudevents+json"
        assert (told["specversion"], told["type"], told["subject"]) == ("1.0", "ugs.NodeAdded", "n1")
        assert told["source"] == "/tenants/default" and told["sequence"] == f"{seqs[0]:020d}"
        assert told["data"]["data"]["type"] == "Person" and one.headers["webhook-id"].endswith(told["id"])
        until(lambda: client.webhook()["seq"] == seqs[1], lambda: "the position is not recorded")


@pytest.mark.parametrize(
    ("filter", "wanted"),
    [
        ({"types": ["NodeUpdated"]}, {("NodeUpdated", "a")}),
        ({"element": "b"}, {("NodeAdded", "b")}),
        ({"nodes": {"type": "Person"}}, {("NodeAdded", "a"), ("NodeUpdated", "a")}),
        ({"nodes": {"properties": [{"key": "age", "op": "GT", "value": 3}]}}, {("NodeUpdated", "a")}),
        ({"edges": {"types": ["knows"]}}, {("EdgeAdded", "e")}),
        ({}, {("NodeAdded", "a"), ("NodeAdded", "b"), ("NodeUpdated", "a"), ("EdgeAdded", "e")}),
    ],
)
def test_a_webhook_has_the_filters_of_subscriptions(filter: dict[str, Any], wanted: set[tuple[str, str]]) -> None:
    with Receiver() as receiver, opened() as client:
        client.add("a", "Person")
        client.add("b", "Place")
        client.ask(UPDATE, id="a", p={"age": 4})
        edge = "mutation($e: AddEdgeInput!) { addEdge(input: $e) { event { seq } } }"
        client.ask(edge, e={"id": "e", "from": "a", "to": "b", "type": "knows"})
        made = client.create(url=receiver.url, afterSeq=0, **filter)
        assert made["webhook"]["filter"] == filter
        receiver.wait_for(len(wanted))
        time.sleep(0.3)
        assert {(one.told["data"]["type"], one.element) for one in receiver.arrived} == wanted


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"url": "ftp://x.example"}, "E005"),
        ({"url": "https://me:secret@x.example/"}, "E005"),
        ({"url": "https://x.example/#part"}, "E005"),
        ({"url": "https:///nowhere"}, "E005"),
        ({"url": "https://x.example:99999/"}, "E005"),
        ({"url": "https://x.example/a b"}, "E005"),
        ({"types": ["NodeAdded"], "element": "a"}, "E005"),
        ({"nodes": {"hasContent": True}}, "E005"),
        ({"afterSeq": 99}, "E005"),
        ({"name": ""}, "E005"),
        ({"types": ["Nothing"]}, "GRAPHQL_VALIDATION_FAILED"),
    ],
)
def test_a_wrong_webhook_is_refused_and_changes_nothing(wrong: dict[str, Any], code: str) -> None:
    with opened() as client:
        found = client.answer(CREATE, input={"url": "https://x.example/", **wrong})["errors"][0]
        assert found["extensions"]["code"] in (code, "BAD_USER_INPUT"), found
        assert client.ask(LIST)["webhooks"]["totalCount"] == 0


def test_a_failing_receiver_is_tried_again_and_the_order_of_an_element_stays(quick: None) -> None:
    failures: dict[str, int] = {}

    def fail_twice(arrival: Arrival) -> int:
        tries = failures[arrival.headers["webhook-id"]] = failures.get(arrival.headers["webhook-id"], 0) + 1
        return 204 if tries > 2 else (500, 302)[tries - 1]

    with Receiver(fail_twice) as receiver, opened() as client:
        client.create(url=receiver.url)
        seqs = {client.add(f"n{number}") for number in range(3)}
        for age in range(5):
            seqs.add(client.ask(UPDATE, id="n0", p={"age": age})["updateNode"]["event"]["seq"])
        receiver.wait_for(8)
        check_order(receiver.accepted, seqs)
        assert len(receiver.arrived) == 3 * 8
        assert not [arrival for arrival in receiver.arrived if arrival.path != "/hook"], "a redirect was followed"


def test_dead_letters_are_listed_and_delivered_when_asked(quick: None) -> None:
    broken = ["n1"]
    with (
        Receiver(lambda arrival: 500 if arrival.element in broken else 204) as receiver,
        opened(webhook_attempts=3) as client,
    ):
        id = client.create(url=receiver.url)["webhook"]["id"]
        seqs = [client.add(f"n{number}") for number in range(3)]
        receiver.wait_for(2)
        (letter,) = until(lambda: client.webhook()["deadLetters"], lambda: "there is no dead letter")
        assert letter == {"seq": seqs[1], "attempts": 3, "error": "the receiver answered 500"}
        assert client.ask(REDELIVER, id=id)["redeliverWebhook"] == {"delivered": 0, "left": 1}
        broken.clear()
        assert client.ask(REDELIVER, id=id)["redeliverWebhook"] == {"delivered": 1, "left": 0}
        assert receiver.accepted[-1].seq == seqs[1] and client.webhook()["deadLetters"] == []
        text = client.client.get("/metrics").text
        assert 'ugs_webhook_deliveries_total{outcome="delivered"} 3.0' in text
        assert 'ugs_webhook_deliveries_total{outcome="dead"} 1.0' in text


def test_a_webhook_can_be_paused_resumed_moved_and_deleted() -> None:
    with Receiver() as receiver, opened() as client:
        id = client.create(url=receiver.url)["webhook"]["id"]
        first = client.add("n1")
        receiver.wait_for(1)
        until(lambda: client.webhook()["seq"] == first, lambda: "the position is not recorded")
        assert client.ask(MANAGE.format("pause"), id=id)["pauseWebhook"]["webhook"]["pausedAt"]
        time.sleep(0.2)
        second = client.add("n2")
        time.sleep(0.5)
        assert len(receiver.arrived) == 1
        client.ask(MANAGE.format("resume"), id=id)
        assert [arrival.seq for arrival in receiver.wait_for(2)] == [first, second]
        until(lambda: client.webhook()["seq"] == second, lambda: "the position is not recorded")
        client.ask(REWIND, id=id, to=0)
        assert [arrival.seq for arrival in receiver.wait_for(4)] == [first, second] * 2
        client.ask(MANAGE.format("delete"), id=id)
        assert client.ask(LIST)["webhooks"]["totalCount"] == 0
        assert client.code(MANAGE.format("resume"), id=id) == "WEBHOOK_NOT_FOUND"
        client.add("n3")
        time.sleep(0.3)
        assert len(receiver.arrived) == 4


def test_a_receiver_that_is_gone_pauses_its_webhook() -> None:
    with Receiver(lambda arrival: 410) as receiver, opened() as client:
        client.create(url=receiver.url)
        client.add("n1")
        until(lambda: client.webhook()["pausedAt"], lambda: "it is not paused")
        assert client.webhook()["pauseReason"] == "the receiver answered 410 Gone"
        assert len(receiver.arrived) == 1


def test_a_private_address_is_refused_unless_allowed(quick: None) -> None:
    with Receiver() as receiver:
        with opened(webhook_private_addresses=False, webhook_attempts=1) as client:
            client.create(url=receiver.url.replace("http:", "https:"), name="private")
            client.add("n1")
            (letter,) = until(lambda: client.webhook()["deadLetters"], lambda: "there is no dead letter")
            assert letter["error"] == "the address is private: set webhook_private_addresses to allow it"
        assert receiver.arrived == []


def test_the_secret_is_shown_once_and_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Receiver() as receiver, opened() as client:
        given = {"url": receiver.url, "idempotencyKey": "k1"}
        made, again = client.create(**given), client.create(**given)
        assert made["secret"].startswith("whsec_") and again["secret"] is None
        assert again["webhook"]["id"] == made["webhook"]["id"]
        client.add("n1")
        receiver.wait_for(1)
        readable = client.ask(
            "{ webhooks { nodes { id name url filter tenant user project agent seq createdAt pausedAt pauseReason } } "
            "history(last: 100) { type data } exportGraph }"
        )
        secret = made["secret"].removeprefix("whsec_")
        assert secret not in json.dumps(readable) and secret not in caplog.text
        fields = client.ask('{ __type(name: "Webhook") { fields { name } } }')["__type"]["fields"]
        assert "secret" not in {field["name"] for field in fields}


PEOPLE = {
    "admin": StoredToken("", "root", ("admin",), "acme", "p1", "a0"),
    "jo": StoredToken("", "jo", ("writer",), "acme", "p1", "a1"),
    "mo": StoredToken("", "mo", ("reader",), "acme", "p1", "a2"),
    "other": StoredToken("", "root", ("admin",), "globex", "p1", "a1"),
}


@pytest.mark.parametrize("tenancy", [Tenancy.SEPARATE, Tenancy.SHARED])
def test_a_webhook_is_told_only_what_its_reader_may_see(tenancy: Tenancy, tmp_path: Path) -> None:
    file = tmp_path / "tokens.jsonl"
    tokens = {name: create_token(file, person) for name, person in PEOPLE.items()}
    with Receiver() as receiver, opened(tokens=tokens, token_file=str(file), tenants=tenancy) as client:
        for by in ("jo", "mo"):
            assert client.code(CREATE, by, input={"url": receiver.url}) == "FORBIDDEN"
            assert client.code(LIST, by) == "FORBIDDEN"
        for path, user, agent in (("own", "jo", "a1"), ("colleague", "mo", "a2")):
            client.create(url=f"{receiver.url}/{path}", user=user, project="p1", agent=agent)
        client.create("other", url=f"{receiver.url}/other", project="p1", agent="a1")
        client.ask(FACT, "jo", name="Ann", scope="agent_private")
        client.add("seen", by="jo")
        client.add("theirs", by="other")

        def paths(what: bytes) -> set[str]:
            return {arrival.path.rpartition("/")[2] for arrival in receiver.accepted if what in arrival.body}

        until(lambda: paths(b'"seen"') >= {"own", "colleague"}, lambda: "not all were told")
        until(lambda: "other" in paths(b'"theirs"'), lambda: "the other tenant was not told")
        time.sleep(0.3)
        assert paths(b"zqsecret") == {"own"}
        assert not paths(b"Hidden")
        if tenancy is Tenancy.SEPARATE:
            assert paths(b'"theirs"') == {"other"} and paths(b'"seen"') == {"own", "colleague"}
        ids = {node["id"] for node in client.ask(LIST)["webhooks"]["nodes"]}
        assert len(ids) == 2
        assert client.code(MANAGE.format("pause"), "other", id=ids.pop()) == "WEBHOOK_NOT_FOUND"


def test_a_gateway_without_webhooks_says_so() -> None:
    with opened(webhooks=False) as client:
        answer = client.answer(CREATE, input={"url": "https://x.example/"})["errors"][0]
        assert answer["message"] == "This gateway has no webhooks: set webhooks"


def test_a_receiver_has_as_long_as_the_setting_says(quick: None) -> None:
    def sleep(arrival: Arrival) -> int:
        time.sleep(1.0)
        return 204

    with Receiver(sleep) as receiver, opened(webhook_attempts=2, webhook_seconds=0.2) as client:
        client.create(url=receiver.url)
        client.add("n1")
        (letter,) = until(lambda: client.webhook()["deadLetters"], lambda: "there is no dead letter")
        assert (letter["attempts"], letter["error"]) == (2, "no answer within 0.2 seconds")
