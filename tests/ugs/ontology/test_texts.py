"""Ontologies as YAML and as JSON Schema: written, read again, and read with distrust."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import ugs_conformance
from tests.work import TIMED
from ugs.errors import LimitExceeded, UgsError
from ugs.ontology.definition import ConnectionType, Ontology, TypeProperties
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.json_schema import from_json_schema, to_json_schema
from ugs.ontology.model import Enforcement
from ugs.ontology.properties import Owner, PropertyDefinition, PropertyKind, check_definitions
from ugs.ontology.yaml_format import Document, from_yaml, to_yaml
from ugs_conformance.support.store_fixture import fixture

DATA = Path(ugs_conformance.__file__).parent / "data"
STATUS = PropertyDefinition(
    "status", PropertyKind.STRING, True, ("active", "no", "1:30"), None, "active", "Where it is: now"
)
DEFINED = (
    STATUS,
    PropertyDefinition("code", PropertyKind.STRING, pattern="^[A-Z]{2}\\d+$"),
    PropertyDefinition("priority", PropertyKind.INTEGER, enum=(1, 2, -3), default=1),
    PropertyDefinition("share", PropertyKind.NUMBER, default=0.5),
    PropertyDefinition("urgent", PropertyKind.BOOLEAN, default=False),
)
RICH = Ontology(
    "default",
    ("Project", "no", "two words"),
    (
        ConnectionType("NextAction", ("Project",), ("no", "Later"), ("since",), acyclic=True),
        ConnectionType("Plain", ("Project",), ("Project",)),
    ),
    Enforcement.OFF,
    0,
    (
        TypeProperties(Owner.NODE, "Project", DEFINED),
        TypeProperties(Owner.CONNECTION, "NextAction", (PropertyDefinition("since", PropertyKind.STRING),)),
    ),
)


def said(document: Document) -> Ontology:
    """The ontology that a document would make."""
    types, properties = tuple(document.connection_types), tuple(document.properties)
    return Ontology("default", tuple(document.node_types), types, Enforcement.OFF, 0, properties)


@pytest.mark.clause("ONT-185", "ONT-186")
def test_yaml_says_everything_and_is_read_again() -> None:
    assert said(from_yaml(to_yaml(RICH))) == RICH
    plain = msgspec.structs.replace(RICH, properties=())
    assert set(yaml.safe_load(to_yaml(plain))) == {"node_types", "connection_types"}
    seed = from_yaml((DATA / "ont_ontology.yaml").read_text("utf-8"))
    assert said(seed).as_json() == fixture("ont_ontology")


@TIMED
@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x]\nb: *a",
        "node_types: !!python/object:os.system [x]",
        "node_types: !!str x",
        "node_types: " + "[" * 5_000,
        "node_types: [A]\nnode_types: [B]",
        "node_types: [A]\nconnection_types:\n  - {name: x, name: y, from_types: [A], to_types: [A]}",
        "node_types: [[A]]",
        "node_types: {A: 1}",
        "- a",
        "",
        "node_types: [A]\nother: 1",
        "node_types: [A",
        "node_types: [A]\nproperties:\n  - {owner: node, type: A, definitions: [{name: x, kind: date}]}",
    ],
)
def test_yaml_from_strangers_is_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(InvalidArgument):
        from_yaml(text)
    assert time.process_time() - started < 1


def test_yaml_has_a_limit_and_knows_only_text() -> None:
    with pytest.raises(LimitExceeded):
        from_yaml("x" * (1 << 20))
    assert from_yaml("node_types: [NO, 1:30, 2026-01-01, 1e3, ~, 0x1F]").node_types == [
        "NO", "1:30", "2026-01-01", "1e3", "~", "0x1F",
    ]  # fmt: skip
    bad = "node_types: [A]\nproperties: [{owner: node, type: A, definitions: [{name: x, kind: integer, default: abc}]}]"
    with pytest.raises(UgsError):
        check_definitions(from_yaml(bad).properties[0].definitions)


def test_json_schema_says_everything_and_is_read_again() -> None:
    schema = to_json_schema(RICH)
    assert schema["$defs"]["Project"]["properties"]["status"] == {
        "type": "string",
        "enum": ["active", "no", "1:30"],
        "default": "active",
        "description": "Where it is: now",
    }
    assert schema["$defs"]["Project"]["required"] == ["status"]
    again = said(from_json_schema(schema))
    # A required property that is also defined is required by its definition.
    since = msgspec.structs.replace(RICH.properties[1].definitions[0], required=True)
    assert again.properties == (RICH.properties[0], TypeProperties(Owner.CONNECTION, "NextAction", (since,)))
    assert to_json_schema(again) == schema
    assert again.node_types == RICH.node_types


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ([], "the document"),
        ({"$defs": []}, "$defs"),
        ({"properties": {}}, "the document"),
        ({"$defs": {"A": {"type": "array"}}}, "$defs/A"),
        ({"$defs": {"A": {"additionalProperties": False}}}, "$defs/A"),
        ({"$defs": {"A": {"properties": {"x": {"type": "string", "minLength": 1}}}}}, "$defs/A/properties/x"),
        ({"$defs": {"A": {"properties": {"x": {"type": ["string", "null"]}}}}}, "$defs/A/properties/x/type"),
        ({"$defs": {"A": {"properties": {"x": {"type": "integer", "enum": [True]}}}}}, "$defs/A/properties/x/enum"),
        ({"$defs": {"A": {"properties": {"x": {"type": "string", "default": 1}}}}}, "$defs/A/properties/x/default"),
        ({"$defs": {"A": {"required": ["x"]}}}, "$defs/A/required"),
        ({"x-connection-types": [{"name": "c"}]}, "x-connection-types/0/from_types"),
        ({"$ref": "file:///etc/passwd"}, "the document"),
    ],
)
def test_json_schema_that_cannot_be_kept_is_refused_by_place(schema: Any, place: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        from_json_schema(schema)
    assert refused.value.details["place"] == place
