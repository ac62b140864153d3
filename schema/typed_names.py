"""What the types of an ontology are called in GraphQL: safe, free of collisions, and never changed by what comes later.

Names are given in the order in which the ontology grew. A later name that would meet an earlier one gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from ugs.ontology.definition import ConnectionType
from ugs.ontology.growth import ConnectionTypeCame, NodeTypeCame, PropertyCame, Step
from ugs.ontology.properties import Owner, PropertyDefinition

WORDS = re.compile(r"[A-Za-z0-9]+")
NAME = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*")

TYPES = frozenset(
    {
        *("Query", "Mutation", "Subscription", "MemoryNode", "Content", "Encoding", "PageInfo", "Warning", "At"),
        *("JSON", "DateTime", "Millis", "Long", "Position", "String", "Int", "Float", "Boolean", "ID"),
        *("StringWhere", "LongWhere", "FloatWhere", "BooleanWhere", "MillisWhere"),
        *("MemoryOrder", "MemoryOrderField", "SortDirection", "DeletePayload", "ChangeKind"),
    }
)
"""Types that every generated schema has."""

FIELDS = frozenset(
    {
        *("id", "type", "created", "modified", "createdAt", "modifiedAt", "version", "label", "properties"),
        *("content", "format", "encoding", "from", "to", "and", "or", "not", "match"),
        *("idempotencyKey", "clientMutationId"),
    }
)
"""Fields of every node type and of its inputs."""

LINK_FIELDS = FIELDS | {"cursor", "node"}
ROOTS = frozenset({"ontology", "snapshot", "verify", "clearScope", "importGraph", "exportGraph"})
"""Root fields that every generated schema has, and those that need a role of their own elsewhere."""

OF_NODE = ("{}", "{}Connection", "{}Edge", "{}Where", "{}Payload", "{}Change", "Create{}Input", "Update{}Input")
OF_LINK = (
    "{}Target", "{}TargetConnection", "{}TargetEdge", "{}Source", "{}SourceConnection", "{}SourceEdge",
    "Connect{}Input", "Connect{}Payload",
)  # fmt: skip


class Names:
    """Names that are taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def take(self, base: str, forms: Iterable[str] = ("{}",)) -> str:
        """The first of base, base_2, base_3, … whose forms are all free; they are taken from now on."""
        number = 1
        while True:
            name = base if number == 1 else f"{base}_{number}"
            made = {form.format(name) for form in forms}
            if not made & self.taken:
                self.taken |= made
                return name
            number += 1


def pascal(text: str, otherwise: str) -> str:
    """A type's name: `next action`, `next_action` and `NEXT_ACTION` are all `NextAction`."""
    parts = WORDS.findall(text)
    name = "".join(
        part.capitalize() if part.isupper() and len(parts) > 1 else part[0].upper() + part[1:] for part in parts
    )
    if not name:
        return otherwise
    return name if name[0].isalpha() else f"T{name}"


def camel(name: str) -> str:
    """A field's name from a type's."""
    return name[0].lower() + name[1:]


def plural(name: str) -> str:
    """How several of them are called."""
    if re.search(r"[^aeiou]y$", name):
        return name[:-1] + "ies"
    return name + ("es" if re.search(r"(s|x|z|ch|sh)$", name) else "s")


def property_name(key: str) -> str:
    """A property keeps its name where GraphQL can take it."""
    if NAME.fullmatch(key):
        return key
    words = re.sub(r"[^A-Za-z0-9]+", "_", key).strip("_")
    return words if NAME.fullmatch(words) else f"p_{words}".rstrip("_")


class Link(Struct):
    """A connection type."""

    type: ConnectionType
    name: str
    properties: dict[str, PropertyDefinition] = {}


class Side(Struct):
    """A connection type as a node type sees it."""

    link: Link
    outgoing: bool


class Kind(Struct):
    """A node type."""

    type: str
    name: str
    singular: str
    plural: str
    properties: dict[str, PropertyDefinition] = {}
    """Each defined property by its name in GraphQL."""
    sides: dict[str, Side] = {}
    """Each connection that starts or ends here by its name in GraphQL."""


class Naming:
    """Follows the growth of an ontology and gives names."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.kinds: dict[str, Kind] = {}
        self.links: dict[str, Link] = {}
        self._types, self._roots = Names(TYPES), Names(ROOTS)
        self._fields: dict[str, Names] = {}
        for step in steps:
            self._follow(step)

    def _follow(self, step: Step) -> None:
        if isinstance(step, NodeTypeCame):
            self._node_type(step.name)
        elif isinstance(step, ConnectionTypeCame):
            self._connection_type(step.type)
        else:
            self._property(step)

    def _node_type(self, type: str) -> None:
        name = self._types.take(pascal(type, "Type"), OF_NODE)
        singular = self._roots.take(camel(name))
        kind = Kind(type, name, singular, self._roots.take(plural(camel(name))))
        self.kinds[type], self._fields[type] = kind, Names(FIELDS)
        for link in self.links.values():
            self._sides(kind, link)

    def _connection_type(self, type: ConnectionType) -> None:
        link = Link(type, self._types.take(pascal(type.name, "Connection"), OF_LINK))
        self.links[type.name] = link
        for kind in self.kinds.values():
            self._sides(kind, link)

    def _sides(self, kind: Kind, link: Link) -> None:
        """The fields of a node type that follow a connection type: there, and back."""
        names, base = self._fields[kind.type], camel(link.name)
        if kind.type in link.type.from_types:
            kind.sides[names.take(base)] = Side(link, True)
        if kind.type in link.type.to_types:
            kind.sides[names.take(f"{base}Of")] = Side(link, False)

    def _property(self, step: PropertyCame) -> None:
        name = property_name(step.definition.name)
        if step.owner is Owner.NODE:
            self.kinds[step.type].properties[self._fields[step.type].take(name)] = step.definition
        else:
            properties = self.links[step.type].properties
            properties[Names({*LINK_FIELDS, *properties}).take(name)] = step.definition

    def ends(self, side: Side) -> list[Kind]:
        """The node types at the other end of a side that exist so far, in the order the connection type names them."""
        types = side.link.type.to_types if side.outgoing else side.link.type.from_types
        return [self.kinds[type] for type in dict.fromkeys(types) if type in self.kinds]

    def has_one_end(self, side: Side) -> bool:
        """Whether there can only ever be one node type at the other end."""
        types = side.link.type.to_types if side.outgoing else side.link.type.from_types
        return len(set(types)) == 1
