"""A30, A31, A36, A38: pretending to be somebody else, or many."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from starlette.testclient import TestClient

from gateway.app import create_app
from gateway.rates import Rates, TooManyRequests
from gateway.settings import Settings
from tests.attacks.conftest import SECRET, Guarded, code_of

STATS = "{ stats { nodes } }"


def claims(**changed: Any) -> dict[str, Any]:
    whole = {"sub": "jo", "aud": "ugs", "exp": time.time() + 60, "roles": ["admin"], **changed}
    return {name: value for name, value in whole.items() if value is not None}


def unsigned(header: dict[str, Any]) -> str:
    parts = [json.dumps(part).encode() for part in (header, claims())]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."


FORGED = {
    "alg none": lambda: unsigned({"alg": "none", "typ": "JWT"}),
    "alg NONE": lambda: unsigned({"alg": "NonE"}),
    "another secret": lambda: jwt.encode(claims(), "x" * 40, "HS256"),
    "another algorithm": lambda: jwt.encode(claims(), SECRET + SECRET, "HS512"),
    "kid path": lambda: unsigned({"alg": "HS256", "kid": "../../dev/null"}),
    "kid SQL": lambda: unsigned({"alg": "HS256", "kid": "' UNION SELECT 'x"}),
    "unknown crit": lambda: jwt.encode(claims(), SECRET, "HS256", {"crit": ["zzz"], "zzz": 1}),
    "expired": lambda: jwt.encode(claims(exp=time.time() - 3600), SECRET, "HS256"),
    "not yet": lambda: jwt.encode(claims(nbf=time.time() + 3600), SECRET, "HS256"),
    "wrong audience": lambda: jwt.encode(claims(aud="others"), SECRET, "HS256"),
    "never expires": lambda: jwt.encode(claims(exp=None), SECRET, "HS256"),
    "nobody": lambda: jwt.encode(claims(sub=None), SECRET, "HS256"),
}


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.parametrize("name", FORGED)
def test_a30_forged_tokens_are_refused(guarded: Guarded, name: str) -> None:
    answer = guarded.ask(STATS, FORGED[name]())
    assert (answer.status_code, code_of(answer)) == (401, "UNAUTHENTICATED")


def test_a31_keys_are_found_by_their_hash_and_never_told(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    right = guarded.keys["reader"]
    near = [right[:-1] + ("A" if right[-1] != "A" else "B"), right[:10], right + "x", right.swapcase()]
    assert [guarded.ask(STATS, key).status_code for key in near] == [401] * 4
    assert guarded.ask(STATS, right).status_code == 200
    assert not any(right in record.getMessage() + str(getattr(record, "fields", "")) for record in caplog.records)


def test_a36_what_a_body_says_about_its_sender_counts_for_nothing(guarded: Guarded) -> None:
    write = 'mutation { addNode(input: {id: "n"}) { node { id } } }'
    pretence = {"tenant_id": "other", "owner_id": "root", "role": "admin", "principal": {"roles": ["admin"]}}
    assert code_of(guarded.ask(write, guarded.keys["reader"], **pretence)) == "FORBIDDEN"
    assert code_of(guarded.ask(write, guarded.keys["reader"], extensions=pretence)) == "FORBIDDEN"


@pytest.fixture(scope="module")
def limited() -> Iterator[TestClient]:
    settings = Settings(store="memory:", max_requests_per_minute=5)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield client


def test_a38_who_asks_too_often_waits_whatever_address_it_claims(limited: TestClient) -> None:
    found = [
        limited.post("/graphql", json={"query": STATS}, headers={"x-forwarded-for": f"10.0.0.{number}"})
        for number in range(7)
    ]
    assert [answer.status_code for answer in found] == [200] * 5 + [429] * 2
    assert (code_of(found[-1]), int(found[-1].headers["retry-after"]) > 0) == ("TOO_MANY_REQUESTS", True)


def test_a38_a_bucket_fills_again() -> None:
    now = 0.0
    rates = Rates(60, lambda: now)
    for _ in range(60):
        rates.take("a")
    with pytest.raises(TooManyRequests):
        rates.take("a")
    rates.take("b")
    now = 1.0
    rates.take("a")
