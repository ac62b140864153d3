"""Programs over REST: the seed's cases, the cases of the public project behind it, and who may do what."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ugs.errors import StorageIOError
from ugs.programs.validation.json_schema import JSON_SCHEMA
from ugs.programs.validation.limits import Bounds
from ugs_conformance.support.external_cases import cases_or_skip
from ugs_conformance.support.store_fixture import fixture
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.settings import Settings

ALL = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}]}
PEOPLE = {"user": ("writer",), "other-user": ("writer",), "admin": ("admin",), "guest": ("reader",)}


class Door:
    """The gateway, as four people and a stranger know it, with a program of each kind."""

    def __init__(self, client: TestClient, keys: Mapping[str, str]) -> None:
        self.client = client
        self.keys = keys
        self.known = {
            "own": self.saved("user", "Org patterns"),
            "other": self.saved("other-user", "Secret"),
            "system": self.saved("admin", "For all", system=True),
        }

    def ask(self, method: str, path: str, body: Any = None, who: str | None = "user", **headers: str) -> Any:
        if who is not None:
            headers["authorization"] = f"Bearer {self.keys[who]}"
        return self.client.request(method, path, json=body, headers=headers)

    def saved(self, who: str, name: str, **more: Any) -> int:
        found = self.ask("POST", "/programs", {"name": name, "program": ALL, **more}, who)
        assert found.status_code == 201, found.text
        return int(found.json()["id"])

    @property
    def events(self) -> int:
        return int(self.client.app.state.system.bus.position)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    file: Path = tmp_path_factory.mktemp("keys") / "tokens.jsonl"
    keys = {who: create_token(file, StoredToken("", who, roles)) for who, roles in PEOPLE.items()}
    app = create_app(Settings(store="memory:", token_file=str(file)))
    with TestClient(app, base_url="http://localhost") as client:
        yield Door(client, keys)


def with_files(body: Any) -> Any:
    """A body of the seed's cases, its program read from the file it names."""
    if isinstance(body, dict) and "program_file" in body:
        found = fixture(body["program_file"].removesuffix(".json"))
        return {**{key: value for key, value in body.items() if key != "program_file"}, "program": found["program"]}
    return body


def filled(text: Any, door: Door) -> Any:
    """Placeholders replaced by the numbers of stored programs."""
    if isinstance(text, str):
        names = {"{id}": "own", "{own}": "own", "{other}": "other", "{system}": "system", "{system_id}": "system"}
        for placeholder, name in names.items():
            if text == placeholder:
                return door.known[name]
            text = text.replace(placeholder, str(door.known[name]))
        return text
    return {key: filled(value, door) for key, value in text.items()} if isinstance(text, dict) else text


def includes(found: Any, expected: Mapping[str, Any]) -> bool:
    return all(key in found and found[key] == value for key, value in expected.items())


@pytest.mark.clause(
    *("PROG-44", "PROG-70", "PROG-74", "PROG-84", "PROG-108", "PROG-109", "PROG-110", "PROG-111", "PROG-112"),
    *("PROG-113", "PROG-114", "PROG-115", "PROG-116", "PROG-117", "PROG-118", "PROG-119", "PROG-120", "PROG-123"),
)
@pytest.mark.parametrize("case", fixture("prog_rest_cases")["cases"], ids=lambda case: case["name"])
def test_the_seeds_cases(door: Door, case: dict[str, Any]) -> None:
    request, expect = case["request"], case["expect"]
    who = request.get("as", "user")
    found = door.ask(
        request["method"], filled(request["path"], door), filled(with_files(request.get("body")), door), who
    )
    assert found.status_code in expect.get("status_in", [expect.get("status")]), found.text
    body = found.json()
    assert includes(body, expect.get("body", {}))
    assert set(expect.get("keys", ())) <= set(body if isinstance(body, dict) else ())
    assert set(expect.get("keys_under_detail", ())) <= (set(body["detail"]) if "keys_under_detail" in expect else set())
    for item in body if "item_keys" in expect else ():
        assert set(item) == set(expect["item_keys"])
    assert len(body) <= expect.get("max_items", len(body))


def nested(depth: int) -> Any:
    found: Any = {}
    for _ in range(depth):
        found = {"statements": [found]}
    return found


@pytest.mark.parametrize(
    "program", [None, 3, True, [], "text", {}, nested(40), [[[]]], nested(150)], ids=lambda p: str(p)[:20]
)
def test_whatever_is_no_program_is_judged_and_not_refused(door: Door, program: Any) -> None:
    found = door.ask("POST", "/programs/validate", {"program": program})
    assert found.status_code == 200, found.text
    assert found.json()["valid"] is False
    assert "V000" in {issue["rule_id"] for issue in found.json()["errors"]}
    assert door.ask("POST", "/programs/validate", {"text": program}).status_code == 422


@pytest.mark.parametrize("size", [0, 11, 100])
def test_a_deck_has_one_to_ten_programs(door: Door, size: int) -> None:
    found = door.ask("POST", "/programs/execute", {"deck": [{"program": ALL}] * size})
    assert (found.status_code, found.json()["code"]) == (422, "E005")
    assert door.ask("POST", "/programs/execute", {"deck": [{"program": ALL}] * 10}).status_code == 200


@pytest.mark.parametrize("query", ["MATCH (n) RETURN", "MATCH (n) RETURN n,", "MATCH (n) RETURN 1 +", "RETURN NOT"])
def test_a_query_that_ends_in_the_middle_is_refused_by_every_endpoint(door: Door, query: str) -> None:
    program = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": query}}]}
    judged = door.ask("POST", "/programs/validate", {"program": program})
    assert (judged.status_code, judged.json()["errors"][0]["rule_id"]) == (200, "V031")
    for path in ("/programs", "/programs/execute"):
        assert door.ask("POST", path, {"program": program}).status_code == 400


def outside() -> list[Any]:
    return [case for case in cases_or_skip("graphprogram_cases") if case["kind"] == "rest"]


def at_path(body: Any, path: str) -> Any:
    for step in path.split("."):
        body = len(body) if step == "length" else body[int(step) if step.isdecimal() else step]
    return body


def test_the_public_projects_cases(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in outside():
        with monkeypatch.context() as patch:
            if case["name"] == "rest.create_storage_failure":
                patch.setattr(door.client.app.state.system, "execute", failing)  # type: ignore[attr-defined]
            check_outside(door, case)


async def failing(*arguments: Any) -> Any:
    raise StorageIOError("relation ugs.programs does not exist (psycopg)")


DECIDED = {"rest.execute_deck_empty": 422, "rest.execute_deck_11": 422}
"""Where the gateway answers otherwise: a deck of the wrong size is a body of the wrong shape, like the others."""


def check_outside(door: Door, case: Mapping[str, Any]) -> None:
    before = door.events
    found = door.ask(case["method"], filled(case["path"], door), case["json"], case["auth"])
    assert found.status_code == DECIDED.get(case["name"], case["status"]), (case["name"], found.text)
    body = found.json()
    for path, value in case.get("expect", {}).items():
        if path == "detail.validation.errors.rule_ids_include":
            assert set(value) <= {issue["rule_id"] for issue in body["detail"]["validation"]["errors"]}
        elif path == "errors_nonempty":
            assert body["errors"]
        elif path == "storage_untouched":
            assert door.events == before
        elif path == "detail_names_entry_index":
            assert f"deck entry {value}" in body["detail"]["error"]
        elif path == "note":
            assert "psycopg" not in found.text and "relation" not in found.text
        else:
            assert at_path(body, path) == value, (case["name"], path)


@pytest.mark.clause("PROG-113", "PROG-114", "PROG-115")
def test_own_and_system_programs_are_seen_and_admins_see_all(door: Door) -> None:
    def names(who: str) -> set[str]:
        return {item["name"] for item in door.ask("GET", "/programs?limit=100", who=who).json()}

    assert {"Org patterns", "For all"} <= names("user") and "Secret" not in names("user")
    assert {"Secret", "For all"} <= names("other-user") and "Org patterns" not in names("other-user")
    assert {"Org patterns", "Secret", "For all"} <= names("admin")
    assert names("guest") == {"For all"}
    assert [item["name"] for item in door.ask("GET", "/programs?search=FOR%20aL").json()] == ["For all"]
    run = {"program_id": door.known["other"]}
    assert door.ask("POST", "/programs/execute", run).status_code == 403
    assert door.ask("POST", "/programs/execute", run, "admin").status_code == 200
    assert (
        door.ask("GET", f"/programs/{door.known['own']}", who="guest").json()["detail"]
        == "Access denied to this program"
    )


@pytest.mark.clause("PROG-14", "PROG-18", "PROG-83", "PROG-109")
def test_a_program_changes_and_goes_with_its_owner(door: Door) -> None:
    made = door.ask("POST", "/programs", {"program": ALL}, "user", **{"idempotency-key": "k1"})
    again = door.ask("POST", "/programs", {"program": ALL}, "user", **{"idempotency-key": "k1"})
    assert (made.json(), made.json()["name"]) == (again.json(), "Untitled program")
    assert made.json()["program"]["metadata"]["created"] == made.json()["created_at"]
    number, path = made.json()["id"], f"/programs/{made.json()['id']}"
    broken = copy.deepcopy(ALL)
    broken["statements"][0]["operation"]["query"] = "MATCH (n) DETACH DELETE n"  # type: ignore[index]
    assert door.ask("PUT", path, {"program": broken}).status_code == 400
    assert door.ask("PUT", path, {"name": "Mine"}, "other-user").status_code == 403
    assert door.ask("PUT", path, {"name": "Mine"}, "guest").status_code == 403
    assert door.ask("PUT", path, {}).status_code == 422
    changed = door.ask("PUT", path, {"name": "Mine"}).json()
    assert (changed["id"], changed["name"], changed["owner_id"]) == (number, "Mine", "user")
    assert door.ask("DELETE", path, who="other-user").status_code == 403
    assert door.ask("DELETE", path).status_code == 204
    assert door.ask("GET", path).json() == {"detail": f"Program not found: {number}", "code": "PROGRAM_NOT_FOUND"}
    assert door.ask("POST", "/programs", {"program": ALL, "system": True}).status_code == 403
    assert door.ask("GET", f"/programs/{'9' * 5000}").status_code == 404
    assert door.ask("GET", "/programs/one").status_code == 422


@pytest.mark.clause("PROG-112", "PROG-121")
def test_usual_sizes_are_the_seeds(door: Door) -> None:
    for number in range(22):
        door.saved("user", f"Many {number}")
    assert len(door.ask("GET", "/programs").json()) == 20
    assert len(door.ask("GET", "/programs?limit=100&search=many").json()) == 22
    assert [one["name"] for one in door.ask("GET", "/programs?limit=1").json()] == ["Many 21"]
    assert Settings().program_seconds == Bounds().seconds == 60


def test_what_is_no_request_is_refused_in_words(door: Door) -> None:
    key = {"authorization": f"Bearer {door.keys['user']}"}
    post = door.client.post
    assert (
        post("/programs/validate", content=b"{", headers={**key, "content-type": "application/json"}).status_code == 400
    )
    assert post("/programs/validate", content=b"{}", headers={**key, "content-type": "text/plain"}).status_code == 415
    deep: Any = {}
    for _ in range(40):
        deep = {"a": deep}
    assert door.ask("POST", "/programs/validate", {"program": deep}).status_code == 200
    assert door.ask("POST", "/programs", {"program": deep}).status_code == 400
    assert door.ask("POST", "/programs/execute", {"program": ALL, "params": {"a": [1]}}).status_code == 422
    nowhere: list[Any] = [
        {},
        3,
        {"position": -1},
        {"position": 2**63},
        {"position": 1.5},
        {"instant": "2026-01-01T00:00:00"},
    ]
    nowhere += [{"position": 1, "instant": "2026-01-01T00:00:00Z"}, {"instant": "nonsense"}, {"position": 10**6}]
    for at in nowhere:
        refused = door.ask("POST", "/programs/execute", {"program": ALL, "at": at})
        assert 400 <= refused.status_code < 500, (at, refused.text)
    assert door.ask("POST", "/programs/execute", {"program": ALL, "at": {}}).status_code == 422
    assert (
        door.ask("POST", "/programs/execute", {"program": ALL, "at": {"position": 0}}).json()["result"]["nodes"] == []
    )
    missing = door.ask("POST", "/programs/execute", {"program": ALL, "params": {"who": "x"}}).json()
    assert [issue["rule_id"] for issue in missing["detail"]["validation"]["errors"]] == ["V040"]


def test_only_stored_programs_run_where_only_what_is_trusted_may(tmp_path: Path) -> None:
    file = tmp_path / "tokens.jsonl"
    keys = {who: create_token(file, StoredToken("", who, roles)) for who, roles in PEOPLE.items()}
    (tmp_path / "documents.json").write_text("{}")
    settings = Settings(
        store="memory:", token_file=str(file), trusted_only=True, trusted_documents=str(tmp_path / "documents.json")
    )
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        door = Door(client, keys)
        assert door.ask("POST", "/programs/execute", {"program": ALL}, "guest").status_code == 403
        assert door.ask("POST", "/programs/execute", {"deck": [{"program": ALL}]}, "guest").status_code == 403
        assert door.ask("POST", "/programs/execute", {"program_id": door.known["system"]}, "guest").status_code == 200
        assert door.ask("POST", "/programs/execute", {"program": ALL}, "admin").status_code == 200


@pytest.mark.clause("PROG-162")
def test_the_documents_are_published(door: Door) -> None:
    assert door.client.get("/programs/schema.json").json() == JSON_SCHEMA == fixture("prog_json_schema")
    document = door.client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert json.dumps(document).count("$defs") == 0
