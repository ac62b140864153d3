"""What is made from the schema is up to date, and every document that the client sends by itself is valid."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from graphql import GraphQLSchema, build_schema, parse, validate

from tests.servers.places import PROJECT
from ugs_client import AsyncClient, Client, codegen, without_asyncio
from ugs_client.graph import operations
from ugs_client.operation import Operation, build_request

SDL = (PROJECT / "schema/ugs_schema/schema.graphql").read_text("utf-8")
PACKAGE = PROJECT / "clients/python/ugs_client"
DUE = "run clients/python/generate.sh .venv"
OPERATIONS = {name: value for name, value in vars(operations).items() if isinstance(value, Operation)}


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    return build_schema(SDL)


def tidied(folder: Path) -> None:
    """The same tidying as generate.sh does."""
    ruff, settings = Path(sys.executable).parent / "ruff", PROJECT / "pyproject.toml"
    for step in (["format"], ["check", "--fix"], ["format"]):
        subprocess.run([ruff, *step, "--quiet", "--config", settings, folder], check=True)


def test_what_is_made_from_the_schema_is_current(tmp_path: Path) -> None:
    for name, text in codegen.generate(SDL).items():
        (tmp_path / name).write_text(text, "utf-8")
    tidied(tmp_path)
    for made in tmp_path.glob("*.py"):
        assert made.read_text("utf-8") == (PACKAGE / "graph" / made.name).read_text("utf-8"), DUE


def test_the_client_without_asyncio_is_current(tmp_path: Path) -> None:
    made = tmp_path / "client.py"
    made.write_text(without_asyncio.without_asyncio(without_asyncio.read_source()), "utf-8")
    tidied(tmp_path)
    assert made.read_text("utf-8") == (PACKAGE / "client.py").read_text("utf-8"), DUE
    assert "async" not in made.read_text("utf-8").partition('"""\n\n')[2]


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_document_that_is_sent_unless_told_otherwise_is_valid(name: str, schema: GraphQLSchema) -> None:
    operation = OPERATIONS[name]
    arguments = {given: {} if given == "input" else "x" for given in operation.arguments}
    assert validate(schema, parse(build_request(operation, arguments, None).document)) == []


def test_every_root_field_has_a_method_of_both_clients(schema: GraphQLSchema) -> None:
    for root, prefix in ((schema.query_type, ""), (schema.mutation_type, ""), (schema.subscription_type, "watch_")):
        assert root is not None
        for field in root.fields:
            name = prefix + codegen.CASE.sub("_", field).lower()
            assert callable(getattr(Client, name)) and callable(getattr(AsyncClient, name))


def test_changes_without_a_key_are_those_of_the_list() -> None:
    keyless = {one.field for one in OPERATIONS.values() if one.kind == "mutation" and not one.key}
    assert keyless == {"snapshot", "installReadyPrograms"}, "they are not sent again by themselves"
