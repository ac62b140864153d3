"""Every requirement has a test, every id on a test is a requirement, and the page says how far the proof reaches."""

from __future__ import annotations

import re

import pytest

from tests.conformance.clause_coverage import PROJECT, STORES, Proof, collect_marks, proofs
from ugs_conformance.support.report import all_clauses


@pytest.fixture(scope="module")
def marks() -> dict[str, list[str]]:
    return collect_marks()


@pytest.fixture(scope="module")
def found(marks: dict[str, list[str]]) -> dict[str, Proof]:
    return proofs(marks)


def test_every_requirement_has_a_test(found: dict[str, Proof]) -> None:
    assert [id for id, proof in found.items() if proof.tests == 0] == []


def test_every_id_on_a_test_is_a_requirement(marks: dict[str, list[str]]) -> None:
    known = {clause.id for clause in all_clauses()}

    assert {id: tests for id, tests in marks.items() if id not in known} == {}


def test_the_page_says_how_far_the_proof_reaches(found: dict[str, Proof]) -> None:
    page = " ".join((PROJECT / "docs" / "conformance.md").read_text(encoding="utf-8").split())
    stated = re.search(
        r"Of (\d+) requirements, (\d+) are proven by the kit on every store, (\d+) of these also through GraphQL .*?, "
        r"(\d+) on stores that keep files .*?, and (\d+) need no store",
        page,
    )
    assert stated is not None

    on_every = [proof for proof in found.values() if proof.kit]
    on_some = [proof for proof in found.values() if not proof.kit and proof.stores]
    assert [int(number) for number in stated.groups()] == [
        len(found),
        len(on_every),
        sum(bool(proof.graphql) for proof in on_every),
        len(on_some),
        len(found) - len(on_every) - len(on_some),
    ]
    assert {tuple(proof.stores) for proof in on_some} == {("files",)}


def test_a_test_for_some_stores_proves_nothing_for_the_others() -> None:
    tests = ["conformance/ugs_conformance/test_x.py::test_a (needs files)", "tests/gateway/cli/test_y.py::test_b"]
    proof = proofs({"UGS-1": tests})["UGS-1"]

    assert (proof.kit, proof.stores, proof.interfaces) == ([], ["files"], ["command line"])
    assert proofs({"UGS-1": [*tests, "conformance/ugs_conformance/test_x.py::test_c"]})["UGS-1"].stores == list(STORES)
