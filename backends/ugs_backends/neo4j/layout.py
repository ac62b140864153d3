"""The layout of rows in Neo4j: labels, property names, and native copies of JSON properties.

* Every table has an internal label (`nodes` → `UGSNode`), which carries its constraints and indexes.
* A vertex also has its type as a label, and its JSON properties as native ones where Neo4j stores them exactly. The key
  keeps its name; all other columns begin with `_`, so that they never collide with keys of users.
* An arc is a relationship of its type, for people and their tools, and a record node (`UGSEdge`) that holds the row:
  Neo4j indexes relationships per type only, and edge types are open, so without the record neither an edge's id nor
  its words could be looked up or kept unique.
* An endpoint that does not exist (yet) is a node labelled `UGSMissingNode`, which reads of nodes ignore.
* All other tables are record nodes with their fields as properties.

Names from outside are passed as parameters wherever Cypher allows it, and names that tools of Neo4j could not quote
safely (with a backslash or a backtick) are not made native.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeGuard

from ugs.reads.vector_search import pack, unpack
from ugs.tables import Arc, Field, Kind, Row, Table, Unique, Vertex
from ugs_backends.neo4j.indexes.collation import from_ordered, to_ordered
from ugs_backends.neo4j.indexes.fulltext_terms import has_terms

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
UNQUOTABLE = re.compile(r"[`\\\x00-\x1f]")
PLURALS = (("ies", "y"), ("ases", "as"), ("s", ""))
TERMS = "_terms"
MORE = "_more"
"""The property that lists the keys of the JSON object without a native copy."""


class Names:
    """Labels and index names of one store; a namespace separates stores in one database."""

    def __init__(self, namespace: str = "") -> None:
        self._tail = f"_{namespace}" if namespace else ""
        self.log = self.label("log")
        self.event = self.label("event")

    def label(self, table: str) -> str:
        words = to_singular(check_identifier(table)).split("_")
        return "UGS" + "".join(word[:1].upper() + word[1:] for word in words) + self._tail

    def rule(self, *parts: str) -> str:
        """The name of an index or a constraint."""
        return "_".join(["ugs", *(part.strip("_") for part in parts)]) + self._tail

    def has_own(self, rule: str) -> bool:
        """Whether an index or constraint belongs to this namespace, even if made by an earlier version."""
        return bool(self._tail) and rule.startswith("ugs_") and rule.endswith(self._tail)


def to_singular(plural: str) -> str:
    """The singular of a table name, for labels: `nodes` → `node`, `retries` → `retry`."""
    for ending, replacement in PLURALS:
        if plural.endswith(ending):
            return plural.removesuffix(ending) + replacement
    return plural


def check_identifier(name: str) -> str:
    """A name of the catalog, checked to be a safe identifier."""
    if not IDENTIFIER.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a table or a column")
    return name


class Layout:
    """The layout of one table."""

    def __init__(self, table: Table, names: Names) -> None:
        self.table = table
        self.names = names
        self.label = names.label(table.name)
        self.vertex = table.shape if isinstance(table.shape, Vertex) else None
        self.arc = table.shape if isinstance(table.shape, Arc) else None
        self.columns = {field.name: self._column(field) for field in table.fields}
        self.key = [self.columns[name] for name in table.key]
        self.kinds = {field.name: field.kind for field in table.fields}
        self.nullable = {field.name for field in table.fields if field.nullable}
        self.terms_index = names.rule(table.name, "terms") if has_terms(table) else None
        self.counted = {count.name for count in table.counted}
        self._counting: dict[Table, Layout] = {}
        self._texts = [at for at, field in enumerate(table.fields) if field.kind is Kind.TEXT]
        self.vectors = {field.name: at for at, field in enumerate(table.fields) if field.kind is Kind.VECTOR}
        self.searched = {
            field.name: (
                names.label(f"{table.name}_{field.stored_as}_short"),
                names.label(f"{table.name}_{field.stored_as}_long"),
            )
            for field in table.fields
            if field.searched and table.shape is None
        }
        """Columns searched for substrings, with the labels of rows whose text is indexed or too long for the index."""
        self.missing = names.label(f"missing_{table.name}")
        """The label of placeholders for rows of this vertex table."""

    def _column(self, field: Field) -> str:
        plain = self.vertex is None or field.name in self.table.key
        return check_identifier(field.stored_as if plain else f"_{field.stored_as}")

    def rule_property(self, rule: Unique) -> str:
        """The property with the value that a constraint keeps unique; absent where the constraint does not apply."""
        return f"_unique_{check_identifier(rule.name)}"

    def constraint(self, rule: Unique) -> str:
        """The name of the constraint."""
        return self.names.rule(self.table.name, "unique", rule.name)

    def vector_index(self, name: str, dimension: int | str) -> str:
        """The name of the vector index of a column."""
        return self.names.rule(self.table.name, self.columns[name], "near", str(dimension))

    @cached_property
    def find(self) -> str:
        """The statement that looks up a row by key."""
        return f"MATCH (n:{self.label} {self.key_pattern('$key')}) RETURN {self.select_columns('n')}"

    @cached_property
    def find_many(self) -> str:
        """The statement that looks up rows by key."""
        return f"UNWIND $rows AS key MATCH (n:{self.label} {self.key_pattern('key')}) RETURN {self.select_columns('n')}"

    @property
    def keys_parameter(self) -> str:
        """The parameter of `found_among`."""
        return f"{self.table.name}_keys"

    @cached_property
    def found_among(self) -> str:
        """An expression for rows by key, so that one statement can query several tables."""
        found = f"UNWIND ${self.keys_parameter} AS key MATCH (n:{self.label} {self.key_pattern('key')})"
        return f"COLLECT {{ {found} RETURN [{self.select_columns('n')}] }}"

    @cached_property
    def native_keys(self) -> str:
        """The statement that counts the keys of a vertex's JSON object."""
        ours = f"[key IN keys(n) WHERE NOT key STARTS WITH '_' AND NOT key IN {self.key}]"
        return f"MATCH (n:{self.label}) UNWIND {ours} + coalesce(n.{MORE}, []) AS key RETURN key, count(*)"

    def at(self, variable: str, name: str) -> str:
        """The expression for a column of a row; a count column is a variable of its own."""
        return f"{variable}_{name}" if name in self.counted else f"{variable}.{self.columns[name]}"

    def with_counts(self, table: Table) -> Layout:
        """The layout of this table with count columns."""
        if not table.counted:
            return self
        found = self._counting.get(table)
        if found is None:
            found = self._counting[table] = Layout(table, self.names)
        return found

    def select_columns(self, variable: str) -> str:
        """The columns of a row, in the order of the fields."""
        return ", ".join(f"{variable}.{column}" for column in self.columns.values())

    def row(self, values: Sequence[Any]) -> Row:
        """Decode a row from selected columns."""
        for at in self._texts:
            text = values[at]
            if text is not None and not text.isascii():
                values = [*values[:at], from_ordered(text), *values[at + 1 :]]
        for at in self.vectors.values():
            values = [*values[:at], pack(values[at]), *values[at + 1 :]]
        return self.table.row(*values)

    def encode_value(self, name: str, value: Any) -> Any:
        """Encode a column's value for Neo4j."""
        if value is None:
            return None
        kind = self.kinds[name]
        if kind is Kind.TEXT:
            return to_ordered(value)
        if kind is Kind.VECTOR:
            return list(unpack(value))
        # Neo4j sorts -0.0 before 0.0, although they are equal; adding 0.0 removes the sign.
        return float(value) + 0.0 if kind is Kind.REAL else value

    def decode_value(self, name: str, value: Any) -> Any:
        """Decode a column's value."""
        return from_ordered(value) if self.kinds[name] is Kind.TEXT and value is not None else value

    def encode_key(self, key: Any) -> dict[str, Any]:
        """The key columns with their stored values."""
        parts = (key,) if len(self.table.key) == 1 else key
        return {
            self.columns[name]: self.encode_value(name, part) for name, part in zip(self.table.key, parts, strict=True)
        }

    def key_pattern(self, source: str) -> str:
        """The property map of a pattern that looks up a row by the key in `source`."""
        return "{" + ", ".join(f"{column}: {source}.{column}" for column in self.key) + "}"


def is_label(name: str | None) -> TypeGuard[str]:
    """Whether a type can be a native label or relationship type that tools can quote."""
    return bool(name) and not (name or "").startswith("UGS") and UNQUOTABLE.search(name or "") is None


def is_native_key(layout: Layout, key: str) -> bool:
    """Whether a key of a JSON object may become a native property."""
    return not key.startswith("_") and key not in layout.key and UNQUOTABLE.search(key) is None


def to_native_value(value: Any) -> Any:
    """The native form of a value; None where Neo4j cannot store it exactly."""
    if isinstance(value, float):
        return value + 0.0
    if isinstance(value, list):
        return value if _is_uniform(value) else None
    return None if isinstance(value, dict) else value


def _is_uniform(items: list[Any]) -> bool:
    kinds = {type(item) for item in items}
    return len(kinds) <= 1 and kinds <= {str, int, float, bool}


def to_native_properties(layout: Layout, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The native copies of a JSON object, and the keys that have none."""
    native = {}
    more = []
    for key, value in values.items():
        kept = to_native_value(value) if is_native_key(layout, key) else None
        if kept is None:
            more.append(key)
        else:
            native[key] = kept
    return native, more
