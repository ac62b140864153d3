"""How rows look in Neo4j: labels, property names, and what of a JSON object becomes native.

* Every table has an internal label (`nodes` → `UGSNode`), which carries its constraints and indexes.
* A vertex also has its type as a label, and its JSON properties as native ones where Neo4j keeps them exactly. The
  key keeps its name; all other columns begin with `_`, so that users' keys and ours never meet.
* An arc is a relationship of its type, made for people and their tools, beside a record node (`UGSEdge`) that holds
  the row: Neo4j indexes relationships per type only, and the types of edges are open, so without the record neither
  an edge's id nor its words could be looked up or kept unique.
* An endpoint that does not exist (yet) is a node labelled `UGSMissingNode`, which no read of nodes sees.
* All other tables are record nodes with their fields as properties.

Names from outside are handed over as data wherever Cypher allows it, and names that Neo4j's own tools could not quote
safely (a backslash or a backtick in them) are not made native at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeGuard

from backends.neo4j.terms import has_terms
from backends.neo4j.texts import from_ordered, to_ordered
from ugs.catalog import Arc, Field, Kind, Row, Table, Unique, Vertex
from ugs.reads.near import pack, unpack

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
UNQUOTABLE = re.compile(r"[`\\\x00-\x1f]")
PLURALS = (("ies", "y"), ("ases", "as"), ("s", ""))
TERMS = "_terms"
MORE = "_more"
"""Keys of the JSON object that have no native copy."""


class Names:
    """Labels and index names of one store; a namespace tells stores in one database apart."""

    def __init__(self, namespace: str = "") -> None:
        self._tail = f"_{namespace}" if namespace else ""
        self.log = self.label("log")
        self.event = self.label("event")

    def label(self, table: str) -> str:
        words = singular(checked(table)).split("_")
        return "UGS" + "".join(word[:1].upper() + word[1:] for word in words) + self._tail

    def rule(self, *parts: str) -> str:
        """The name of an index or a constraint."""
        return "_".join(["ugs", *(part.strip("_") for part in parts)]) + self._tail

    def has_own(self, rule: str) -> bool:
        """Whether a rule is of this namespace, also one that a former version has made."""
        return bool(self._tail) and rule.startswith("ugs_") and rule.endswith(self._tail)


def singular(plural: str) -> str:
    """`nodes` → `node`, `retries` → `retry`: labels say what one thing is."""
    for ending, replacement in PLURALS:
        if plural.endswith(ending):
            return plural.removesuffix(ending) + replacement
    return plural


def checked(name: str) -> str:
    """A name of the catalog that may stand in a statement."""
    if not IDENTIFIER.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a table or a column")
    return name


class Layout:
    """One table in Neo4j."""

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
        """Columns in which parts are looked for, with the labels of rows whose texts are indexed or too long for it."""
        self.missing = names.label(f"missing_{table.name}")
        """The label of placeholders for rows of this vertex table."""

    def _column(self, field: Field) -> str:
        plain = self.vertex is None or field.name in self.table.key
        return checked(field.stored_as if plain else f"_{field.stored_as}")

    def rule_property(self, rule: Unique) -> str:
        """Where a row says what a rule keeps unique; absent while the rule does not hold for the row."""
        return f"_unique_{checked(rule.name)}"

    def vector_index(self, name: str, dimension: int | str) -> str:
        """What the vector index of a column is called, where there is one."""
        return self.names.rule(self.table.name, self.columns[name], "near", str(dimension))

    @cached_property
    def find(self) -> str:
        """The statement that finds a row by its key."""
        return f"MATCH (n:{self.label} {self.key_pattern('$key')}) RETURN {self.selected('n')}"

    @cached_property
    def find_many(self) -> str:
        """The statement that finds rows by their keys."""
        return f"UNWIND $rows AS key MATCH (n:{self.label} {self.key_pattern('key')}) RETURN {self.selected('n')}"

    @property
    def keys_parameter(self) -> str:
        """The parameter of `found_among`."""
        return f"{self.table.name}_keys"

    @cached_property
    def found_among(self) -> str:
        """An expression for the rows with certain keys, so that one statement asks several tables."""
        found = f"UNWIND ${self.keys_parameter} AS key MATCH (n:{self.label} {self.key_pattern('key')})"
        return f"COLLECT {{ {found} RETURN [{self.selected('n')}] }}"

    @cached_property
    def native_keys(self) -> str:
        """The statement that counts the keys of a vertex's JSON object."""
        ours = f"[key IN keys(n) WHERE NOT key STARTS WITH '_' AND NOT key IN {self.key}]"
        return f"MATCH (n:{self.label}) UNWIND {ours} + coalesce(n.{MORE}, []) AS key RETURN key, count(*)"

    def at(self, variable: str, name: str) -> str:
        """A column of a row in a statement; what is counted stands in a variable of its own."""
        return f"{variable}_{name}" if name in self.counted else f"{variable}.{self.columns[name]}"

    def counting(self, table: Table) -> Layout:
        """The layout of this table as it is seen with counts."""
        if not table.counted:
            return self
        found = self._counting.get(table)
        if found is None:
            found = self._counting[table] = Layout(table, self.names)
        return found

    def selected(self, variable: str) -> str:
        """The columns of a row, in the order of the fields."""
        return ", ".join(f"{variable}.{column}" for column in self.columns.values())

    def row(self, values: Sequence[Any]) -> Row:
        """The row behind selected columns."""
        for at in self._texts:
            text = values[at]
            if text is not None and not text.isascii():
                values = [*values[:at], from_ordered(text), *values[at + 1 :]]
        for at in self.vectors.values():
            values = [*values[:at], pack(values[at]), *values[at + 1 :]]
        return self.table.row(*values)

    def stored(self, name: str, value: Any) -> Any:
        """A column's value as Neo4j keeps it."""
        if value is None:
            return None
        kind = self.kinds[name]
        if kind is Kind.TEXT:
            return to_ordered(value)
        if kind is Kind.VECTOR:
            return list(unpack(value))
        # Neo4j sorts -0.0 before 0.0, and they are one number.
        return float(value) + 0.0 if kind is Kind.REAL else value

    def loaded(self, name: str, value: Any) -> Any:
        """A column's value from what Neo4j keeps."""
        return from_ordered(value) if self.kinds[name] is Kind.TEXT and value is not None else value

    def stored_key(self, key: Any) -> dict[str, Any]:
        """The key columns with their stored values."""
        parts = (key,) if len(self.table.key) == 1 else key
        return {self.columns[name]: self.stored(name, part) for name, part in zip(self.table.key, parts, strict=True)}

    def key_pattern(self, source: str) -> str:
        """The property map of a pattern that finds a row by the key inside `source`."""
        return "{" + ", ".join(f"{column}: {source}.{column}" for column in self.key) + "}"


def is_label(name: str | None) -> TypeGuard[str]:
    """Whether a type can be a label or a relationship type that tools can work with."""
    return bool(name) and not (name or "").startswith("UGS") and UNQUOTABLE.search(name or "") is None


def is_native_key(layout: Layout, key: str) -> bool:
    """Whether a key of a vertex's JSON object may name a native property."""
    return not key.startswith("_") and key not in layout.key and UNQUOTABLE.search(key) is None


def native_value(value: Any) -> Any:
    """The value as Neo4j keeps it exactly, or None where it cannot."""
    if isinstance(value, float):
        return value + 0.0
    if isinstance(value, list):
        return value if _is_uniform(value) else None
    return None if isinstance(value, dict) else value


def _is_uniform(items: list[Any]) -> bool:
    kinds = {type(item) for item in items}
    return len(kinds) <= 1 and kinds <= {str, int, float, bool}


def native_properties(layout: Layout, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The native copies of a JSON object, and the keys that have none."""
    native = {}
    more = []
    for key, value in values.items():
        kept = native_value(value) if is_native_key(layout, key) else None
        if kept is None:
            more.append(key)
        else:
            native[key] = kept
    return native, more
