"""The procedures that read: labels, relationship types and property keys of the graph, and its shape.

Each is a query of its own, so that stores answer it natively where they can and all limits hold.
"""

from __future__ import annotations

from msgspec import Struct

from ugs.cypher.errors import CypherRefused, CypherSyntaxError, did_you_mean
from ugs.cypher.static_types import MAP, STRING, Kind, list_of
from ugs.cypher.syntax import CallProcedure


class Procedure(Struct, frozen=True):
    """One procedure; it takes no arguments."""

    name: str
    columns: dict[str, Kind]
    query: str
    about: str


LABELS_QUERY = """
MATCH (n) WITH DISTINCT labels(n) AS own UNWIND own AS label
WITH DISTINCT label RETURN label ORDER BY label"""
TYPES_QUERY = """
MATCH ()-[r]->() WITH DISTINCT type(r) AS relationshipType
RETURN relationshipType ORDER BY relationshipType"""
KEYS_QUERY = """
CALL () {
  MATCH (n) UNWIND keys(n) AS propertyKey RETURN DISTINCT propertyKey
  UNION MATCH ()-[r]->() UNWIND keys(r) AS propertyKey RETURN DISTINCT propertyKey
} RETURN propertyKey ORDER BY propertyKey"""
SCHEMA_QUERY = """
CALL () {
  MATCH (n) WITH labels(n) AS own, count(*) AS number UNWIND own AS name
  WITH name, sum(number) AS number ORDER BY name RETURN collect({name: name, count: number}) AS nodes
} CALL () {
  MATCH (a)-[r]->(b) WITH DISTINCT labels(a) AS sources, type(r) AS type, labels(b) AS targets
  UNWIND sources AS source UNWIND targets AS target
  WITH DISTINCT source, type, target ORDER BY source, type, target
  RETURN collect({from: source, type: type, to: target}) AS relationships
} RETURN nodes, relationships"""
PROCEDURES = {
    procedure.name: procedure
    for procedure in (
        Procedure("db.labels", {"label": STRING}, LABELS_QUERY, "the labels of the nodes"),
        Procedure("db.relationshipTypes", {"relationshipType": STRING}, TYPES_QUERY, "the types of the relationships"),
        Procedure("db.propertyKeys", {"propertyKey": STRING}, KEYS_QUERY, "the property keys of all elements"),
        Procedure(
            "db.schema.visualization",
            {"nodes": list_of(MAP), "relationships": list_of(MAP)},
            SCHEMA_QUERY,
            "one row: the labels with their numbers of nodes, and which labels each type connects",
        ),
    )
}
BY_LOWER_NAME = {name.lower(): procedure for name, procedure in PROCEDURES.items()}


def find_procedure(clause: CallProcedure) -> Procedure:
    """The procedure that a clause calls; every other procedure is refused."""
    found = BY_LOWER_NAME.get(clause.name.lower())
    if found is None:
        known = ", ".join(PROCEDURES)
        hint = did_you_mean(clause.name, PROCEDURES)
        message = f"The procedure {clause.name} is not available; those that read are {known}{hint}"
        raise CypherRefused("procedures", message, clause.at)
    if clause.arguments:
        message = f"{found.name}() takes no arguments, not {len(clause.arguments)}"
        raise CypherSyntaxError("InvalidNumberOfArguments", message, clause.at)
    if clause.arguments is None and not clause.alone:
        raise CypherSyntaxError("InvalidArgumentPassingMode", f"Write {found.name}()", clause.at)
    if clause.yields is None and not clause.alone:
        fields = ", ".join(found.columns)
        raise CypherSyntaxError("UndefinedVariable", f"Say what is used: YIELD {fields}", clause.at)
    if clause.everything and not clause.alone:
        message = "YIELD * is possible only if the procedure is the whole query"
        raise CypherSyntaxError("UnexpectedSyntax", message, clause.at)
    return found


def yielded_fields(clause: CallProcedure, procedure: Procedure) -> list[tuple[str, str]]:
    """The result fields that a clause uses, with the variables they are bound to."""
    if not clause.yields:
        return [(field, field) for field in procedure.columns]
    for field, _ in clause.yields:
        if field not in procedure.columns:
            hint = did_you_mean(field, procedure.columns)
            message = f"{procedure.name} has no result field {field}{hint}"
            raise CypherSyntaxError("UndefinedVariable", message, clause.at)
    if len({alias for _, alias in clause.yields}) < len(clause.yields):
        raise CypherSyntaxError("VariableAlreadyBound", "Two result fields have the same name", clause.at)
    return list(clause.yields)
