"""Generated requests: whatever comes, the answer is one that the OpenAPI document knows, in the shape it says.

Once operation by operation; once stateful, along the links of the document; once more stateful: programs are stored,
read, changed, run and deleted in any order, and the door must agree with a dictionary. `UGS_TEST_FUZZ` asks for more
than a few of each.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule, run_state_machine_as_test
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from starlette.testclient import TestClient

from tests.ugs.programs.generated import programs
from ugs.programs import load_builtin_programs
from ugs.programs.ast import GraphProgram
from ugs.programs.validation.validator import validate
from ugs_gateway.app import create_app
from ugs_gateway.rest.programs_openapi import openapi_document
from ugs_gateway.settings import Settings

EXAMPLES = int(os.environ.get("UGS_TEST_FUZZ", "25"))
DOCUMENT = openapi_document()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations()]
READY = st.sampled_from(list(load_builtin_programs().values()))
usual = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.generate],
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = create_app(Settings(store="memory:", program_seconds=2))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


def check(answer: Any, path: str, method: str) -> Any:
    """The body of an answer that the document allows."""
    known = DOCUMENT["paths"][path][method.lower()]["responses"]
    assert answer.status_code < 500, answer.text
    assert str(answer.status_code) in known, (answer.status_code, answer.text)
    content = known[str(answer.status_code)].get("content")
    if content is None:
        return None
    schema = {**content["application/json"]["schema"], "components": DOCUMENT["components"]}
    jsonschema.validate(answer.json(), schema, cls=jsonschema.Draft202012Validator)
    return answer.json()


@usual
@given(data=st.data())
def test_every_answer_is_one_the_document_knows(client: TestClient, data: st.DataObject) -> None:
    operation = data.draw(st.sampled_from(OPERATIONS))
    case = data.draw(operation.as_strategy())
    headers = {name: value for name, value in dict(case.headers or {}).items() if name.lower() == "idempotency-key"}
    body = {} if type(case.body).__name__ == "NotSet" else {"json": case.body}
    answer = client.request(case.method, case.formatted_path, params=case.query or None, headers=headers, **body)
    check(answer, operation.path, case.method)


@SCHEMA.hook  # type: ignore[untyped-decorator]
def flatmap_body(context: object, body: Any) -> st.SearchStrategy[Any]:
    """No schema knows what can be read as a query, so programs come from where one does."""
    if not isinstance(body, dict) or "program" not in body:
        return st.just(body)
    return READY.map(lambda tree: {**body, "program": tree.as_json()})


class Linked(SCHEMA.as_state_machine()):  # type: ignore[misc]
    """Requests that follow the document's links with what earlier answers said; the checks are schemathesis's own."""

    client: TestClient
    answers: Counter[tuple[str, int]]

    def call(self, case: Any, **options: Any) -> Response:
        request = case.as_transport_kwargs(base_url="http://localhost")
        request.pop("cookies", None)
        answer = self.client.request(**request)
        self.answers[case.method, answer.status_code] += 1
        return Response.from_any(answer)

    def validate_response(self, response: Response, case: Any, additional_checks: Any = None, **options: Any) -> None:
        # What has the right shape may still be refused: most texts are no queries. And where schemathesis made the
        # program wrong on purpose, `flatmap_body` has put it right again.
        unknown = [positive_data_acceptance, negative_data_rejection]
        case.validate_response(response, excluded_checks=unknown, transport_kwargs=options)


def test_links_lead_where_the_document_says(client: TestClient) -> None:
    Linked.client, Linked.answers = client, Counter()
    few = settings(usual, max_examples=max(2, EXAMPLES // 8 - 1), stateful_step_count=8, derandomize=True)
    wanted = {("POST", 201), ("GET", 200), ("PUT", 200), ("DELETE", 204)}
    # So few requests need not have come everywhere; others follow until they have.
    for more in (few, *[settings(few, derandomize=False)] * 5):
        Linked.run(settings=more)
        if wanted <= Linked.answers.keys():
            return
    raise AssertionError(f"never seen: {wanted - Linked.answers.keys()}")


class Keeping(RuleBasedStateMachine):
    """Programs over REST, and a dictionary that must agree with them."""

    client: TestClient
    numbers: Any = Bundle("numbers")

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[int, dict[str, Any]] = {}

    def ask(self, path: str, method: str, body: Any = None, **places: Any) -> Any:
        answer = self.client.request(method, path.format(**places), json=body)
        return answer.status_code, check(answer, path, method)

    @rule(target=numbers, tree=programs)
    def store(self, tree: GraphProgram) -> int:
        raw = tree.as_json()
        status, found = self.ask("/programs", "POST", {"program": raw})
        assert (status == 201) is validate(raw).valid
        if status != 201:
            return 10**9
        self.kept[found["id"]] = found["program"]
        return int(found["id"])

    @rule(number=numbers)
    def read(self, number: int) -> None:
        status, found = self.ask("/programs/{id}", "GET", id=number)
        assert (status == 200) is (number in self.kept)
        if status == 200:
            assert found["program"] == self.kept[number]

    @rule(number=numbers, tree=programs)
    def change(self, number: int, tree: GraphProgram) -> None:
        raw = tree.as_json()
        status, found = self.ask("/programs/{id}", "PUT", {"program": raw}, id=number)
        if number not in self.kept:
            assert status == 404
        elif status == 200:
            self.kept[number] = found["program"]
        else:
            assert not validate(raw).valid

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        status, _ = self.ask("/programs/{id}", "DELETE", id=number)
        assert (status == 204) is (self.kept.pop(number, None) is not None)

    @rule(
        number=numbers, given=st.dictionaries(st.sampled_from(["p", "n", "x"]), st.text(max_size=3) | st.integers(0, 9))
    )
    def run(self, number: int, given: dict[str, Any]) -> None:
        status, found = self.ask("/programs/execute", "POST", {"program_id": number, "params": given})
        if number not in self.kept:
            assert status == 404
        elif status == 200:
            assert found["log"] or found["aborted"]
        else:
            assert {issue["rule_id"] for issue in found["detail"]["validation"]["errors"]} <= {"V040", "V041"}

    @rule()
    def list(self) -> None:
        _, found = self.ask("/programs", "GET")
        newest = sorted(self.kept, reverse=True)[:20]
        assert [one["id"] for one in found if one["id"] in self.kept] == newest


def test_programs_are_kept_as_a_dictionary_would(client: TestClient) -> None:
    Keeping.client = client
    few = settings(usual, max_examples=max(5, EXAMPLES // 8), stateful_step_count=12)
    run_state_machine_as_test(Keeping, settings=few)
