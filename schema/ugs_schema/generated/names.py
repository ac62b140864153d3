"""GraphQL names for the types of an ontology: valid, unique, and stable when the ontology grows.

Names are assigned in the order in which the ontology grew. A later name that collides with an earlier one gets a
number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from ugs.ontology.definition import ConnectionType
from ugs.ontology.history import Addition, ConnectionTypeAdded, NodeTypeAdded, PropertyAdded
from ugs.ontology.properties import Owner, PropertyDefinition

WORDS = re.compile(r"[A-Za-z0-9]+")
NAME = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*")

TYPES = frozenset(
    {
        *("Query", "Mutation", "Subscription", "MemoryNode", "Content", "Encoding", "PageInfo", "Warning", "At"),
        *("JSON", "DateTime", "Millis", "Long", "Position", "String", "Int", "Float", "Boolean", "ID"),
        *("StringWhere", "LongWhere", "FloatWhere", "BooleanWhere", "MillisWhere"),
        *("MemoryOrder", "MemoryOrderField", "SortDirection", "DeletePayload", "ChangeKind", "NullsOrder"),
    }
)
"""Type names that every generated schema has."""

FIELDS = frozenset(
    {
        *("id", "type", "created", "modified", "createdAt", "modifiedAt", "version", "label", "properties"),
        *("content", "format", "encoding", "from", "to", "and", "or", "not", "match"),
        *("idempotencyKey", "clientMutationId", "expectedVersion"),
    }
)
"""Field names of every node type and its inputs."""

LINK_FIELDS = FIELDS | {"cursor", "node"}
RESERVED_ROOT_FIELDS = frozenset({"ontology", "snapshot", "verify", "clearScope", "importGraph", "exportGraph"})
"""Reserved root fields: those of every generated schema, and some of the main schema that require the role admin,
because that check goes by name."""

OF_NODE = (
    "{}",
    "{}Connection",
    "{}Edge",
    "{}Where",
    "{}WhereRelated",
    "{}Payload",
    "{}Change",
    "Create{}Input",
    "Update{}Input",
)
OF_LINK = (
    "{}Target", "{}TargetConnection", "{}TargetEdge", "{}Source", "{}SourceConnection", "{}SourceEdge",
    "Connect{}Input", "Connect{}Payload",
)  # fmt: skip


class Names:
    """A set of names in use."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def take(self, base: str, forms: Iterable[str] = ("{}",)) -> str:
        """Reserve and return the first of base, base_2, base_3, … whose forms are all free."""
        number = 1
        while True:
            name = base if number == 1 else f"{base}_{number}"
            made = {form.format(name) for form in forms}
            if not made & self.taken:
                self.taken |= made
                return name
            number += 1


def to_pascal_case(text: str, otherwise: str) -> str:
    """The name of a type in Pascal case: `next action`, `next_action` and `NEXT_ACTION` all give `NextAction`."""
    parts = WORDS.findall(text)
    name = "".join(
        part.capitalize() if part.isupper() and len(parts) > 1 else part[0].upper() + part[1:] for part in parts
    )
    if not name:
        return otherwise
    return name if name[0].isalpha() else f"T{name}"


def to_camel_case(name: str) -> str:
    """The name of a field, from the name of a type."""
    return name[0].lower() + name[1:]


def plural(name: str) -> str:
    """The English plural."""
    if re.search(r"[^aeiou]y$", name):
        return name[:-1] + "ies"
    return name + ("es" if re.search(r"(s|x|z|ch|sh)$", name) else "s")


def to_property_name(key: str) -> str:
    """The name of a property's field: unchanged if it is a valid GraphQL name."""
    if NAME.fullmatch(key):
        return key
    words = re.sub(r"[^A-Za-z0-9]+", "_", key).strip("_")
    return words if NAME.fullmatch(words) else f"p_{words}".rstrip("_")


class Link(Struct):
    """A connection type with its GraphQL name and properties."""

    type: ConnectionType
    name: str
    properties: dict[str, PropertyDefinition] = {}


class Side(Struct):
    """One direction of a connection type, as a field of a node type."""

    link: Link
    outgoing: bool


class Kind(Struct):
    """A node type with its GraphQL names, properties and connections."""

    type: str
    name: str
    singular: str
    plural: str
    properties: dict[str, PropertyDefinition] = {}
    """The defined properties by GraphQL name."""
    sides: dict[str, Side] = {}
    """The connections that start or end here by GraphQL name."""


class Naming:
    """Assigns names by replaying the growth of an ontology."""

    def __init__(self, steps: Iterable[Addition]) -> None:
        self.kinds: dict[str, Kind] = {}
        self.links: dict[str, Link] = {}
        self._types, self._roots = Names(TYPES), Names(RESERVED_ROOT_FIELDS)
        self._fields: dict[str, Names] = {}
        for step in steps:
            self._follow(step)

    def _follow(self, step: Addition) -> None:
        if isinstance(step, NodeTypeAdded):
            self._add_node_type(step.name)
        elif isinstance(step, ConnectionTypeAdded):
            self._add_connection_type(step.type)
        else:
            self._property(step)

    def _add_node_type(self, type: str) -> None:
        name = self._types.take(to_pascal_case(type, "Type"), OF_NODE)
        singular = self._roots.take(to_camel_case(name))
        kind = Kind(type, name, singular, self._roots.take(plural(to_camel_case(name))))
        self.kinds[type], self._fields[type] = kind, Names(FIELDS)
        for link in self.links.values():
            self._add_sides(kind, link)

    def _add_connection_type(self, type: ConnectionType) -> None:
        link = Link(type, self._types.take(to_pascal_case(type.name, "Connection"), OF_LINK))
        self.links[type.name] = link
        for kind in self.kinds.values():
            self._add_sides(kind, link)

    def _add_sides(self, kind: Kind, link: Link) -> None:
        """Add the fields of a node type that follow a connection type forward and backward."""
        names, base = self._fields[kind.type], to_camel_case(link.name)
        if kind.type in link.type.from_types:
            kind.sides[names.take(base)] = Side(link, True)
        if kind.type in link.type.to_types:
            kind.sides[names.take(f"{base}Of")] = Side(link, False)

    def _property(self, step: PropertyAdded) -> None:
        name = to_property_name(step.definition.name)
        if step.owner is Owner.NODE:
            self.kinds[step.type].properties[self._fields[step.type].take(name)] = step.definition
        else:
            properties = self.links[step.type].properties
            properties[Names({*LINK_FIELDS, *properties}).take(name)] = step.definition

    def take_type_name(self, base: str) -> str:
        """A free name for a further type of the schema; asked for after all types of the ontology have theirs."""
        return self._types.take(base)

    def ends(self, side: Side) -> list[Kind]:
        """The existing node types at the other end, in the order of the connection type's definition."""
        types = side.link.type.to_types if side.outgoing else side.link.type.from_types
        return [self.kinds[type] for type in dict.fromkeys(types) if type in self.kinds]

    def has_one_end(self, side: Side) -> bool:
        """Whether the connection type allows only one node type at the other end."""
        types = side.link.type.to_types if side.outgoing else side.link.type.from_types
        return len(set(types)) == 1
