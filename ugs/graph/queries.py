"""The queries of seed 000 that count, list and look up; graph walks live in `traversal` and `paths`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ugs.errors import InvalidSyntax
from ugs.events import Event
from ugs.graph.batches import in_scope
from ugs.graph.model import CONFIG_NODE as CONFIG_NODE
from ugs.graph.model import EDGES, NODES, Edge, Element, Node
from ugs.graph.text.tokenizer import reference_word
from ugs.graph.traversal import nodes_by_id
from ugs.graph.versions import ElementVersion, build_versions, element_at
from ugs.identity import Scope, is_identifier
from ugs.reads.filters import EVERYTHING, Has, Linked, Not, Op, Property, Where, all_of, eq, in_
from ugs.reads.plan import WHOLE, Order, Page, Read
from ugs.storage import EventQuery, Session
from ugs.values import Address, Json, check_key, check_type, check_value, find_addresses, parse_address

BUSIEST_FIRST = (Order("degree", descending=True),)
DEFAULTS: dict[str, Any] = {
    "neighbors_direction": "both",
    "traverse_depth": 3,
    "traverse_direction": "outgoing",
    "hubs_limit": 10,
    "history_limit": 20,
}


class Stats(Struct, frozen=True):
    """The size of the graph."""

    nodes: int
    edges: int
    types: int
    properties: int

    def as_json(self) -> dict[str, int]:
        return {"nodes": self.nodes, "edges": self.edges, "types": self.types, "properties": self.properties}


class Hub(Struct, frozen=True):
    """A node with many edges; a loop counts on both sides."""

    node: Node
    incoming: int
    outgoing: int

    @property
    def degree(self) -> int:
        return self.incoming + self.outgoing


class ScopeCount(Struct, frozen=True):
    """The numbers of nodes and edges in a scope."""

    scope: Scope
    nodes: int
    edges: int


class Reference(Struct, frozen=True):
    """An address inside an element, its path there, and the element it refers to, if any."""

    address: Address
    path: str
    target: Element | None


class Resolution(Struct, frozen=True):
    """The element an address refers to; an unresolved address stays as text."""

    text: str
    element: Element | None

    @property
    def value(self) -> Json:
        return self.text if self.element is None else self.element.as_json()


async def get(session: Session, id: str) -> Element | None:
    """The node or edge with an id, or None."""
    if not is_identifier(id):
        return None
    node: Node | None = await session.find(NODES, id)
    if node is not None:
        return node
    edge: Edge | None = await session.find(EDGES, id)
    return edge


async def get_many(session: Session, ids: Iterable[str]) -> dict[str, Element]:
    """The nodes and edges with these ids, in two reads; a node wins over an edge with the same id."""
    wanted = sorted({id for id in ids if is_identifier(id)})
    if not wanted:
        return {}
    rows = [*await session.find_many(EDGES, wanted), *await session.find_many(NODES, wanted)]
    return {row.id: row for row in rows}


async def resolve_all(session: Session, texts: Sequence[str]) -> list[Resolution]:
    """Resolve several addresses in two reads, plus one for each address of an older version."""
    addresses = [parse_address(text) for text in texts]
    known = await get_many(session, (address.id for address in addresses if address is not None))
    found = []
    for text, address in zip(texts, addresses, strict=True):
        element = None if address is None else known.get(address.id)
        if element is not None and address is not None and address.version not in (None, element.version):
            element = await at_version(session, address.id, address.version or 0)
        found.append(Resolution(text, element))
    return found


async def list_nodes(
    session: Session, type: str | None = None, scope: Scope | None = None, page: Page = WHOLE
) -> list[Node]:
    """Nodes of a type, of a scope, or both, by id."""
    return await session.fetch(NODES, node_filter(type, scope), page=page)


def node_filter(type: str | None = None, scope: Scope | None = None) -> Where:
    """The condition on type and scope, each if given."""
    by_type = EVERYTHING if type is None else eq("type", check_type(type))
    return all_of(by_type, EVERYTHING if scope is None else in_scope(scope))


async def find_by_property(session: Session, key: str, value: Json, page: Page = WHOLE) -> list[Node]:
    """Nodes whose property has exactly this value, numbers by value."""
    check_key(key)
    check_value(value)
    return await session.fetch(NODES, Property("properties_text", key, Op.EQ, value), page=page)


async def stats(session: Session) -> Stats:
    """Counts of nodes, edges, distinct node types and distinct property keys of nodes."""
    types = await session.group(NODES, "type")
    return Stats(
        nodes=sum(types.values()),
        edges=await session.count(EDGES),
        types=len(types.keys() - {None}),
        properties=len(await session.keys(NODES, "properties_text")),
    )


async def property_keys(session: Session) -> list[str]:
    """All property keys of nodes, sorted."""
    return sorted(await session.keys(NODES, "properties_text"))


async def hubs(session: Session, limit: int = 10) -> list[Hub]:
    """Nodes by degree, highest first, then by id."""
    if not 0 <= limit <= 10_000:
        raise InvalidSyntax(f"hubs takes a number between 0 and 10000, not {limit}")
    busiest = await session.read(Read(NODES.counting(["degree"]), order=BUSIEST_FIRST, page=Page(limit=limit)))
    ids = [row.id for row in busiest.rows]
    nodes = await nodes_by_id(session, ids)
    outgoing = await session.group(EDGES, "source", in_("source", ids)) if ids else {}
    incoming = await session.group(EDGES, "target", in_("target", ids)) if ids else {}
    return [Hub(nodes[id], incoming.get(id, 0), outgoing.get(id, 0)) for id in ids]


async def roots(session: Session, page: Page = WHOLE) -> list[Node]:
    """Nodes without incoming edges, by id."""
    return await session.fetch(NODES, Not(Linked("incoming")), page=page)


async def scopes(session: Session) -> list[ScopeCount]:
    """The scopes in use, default first."""
    found = []
    for scope in Scope:
        where = in_scope(scope)
        nodes = await session.count(NODES, where)
        if nodes:
            found.append(ScopeCount(scope, nodes, await session.count(EDGES, where)))
    return found


async def history(
    session: Session, last: int = 20, element: str | None = None, types: Iterable[str] | None = None
) -> list[Event]:
    """The last events, oldest of them first."""
    if element is not None and not is_identifier(element):
        return []
    wanted = None if types is None else frozenset(types)
    newest = await session.events(EventQuery(limit=last, element=element, types=wanted, newest=True))
    return newest[::-1]


async def versions(session: Session, id: str) -> list[ElementVersion]:
    """Every state an element has had, oldest first."""
    return build_versions(id, await session.events(EventQuery(element=id))) if is_identifier(id) else []


async def at_version(session: Session, id: str, version: int) -> Element | None:
    """The element as it was at a version."""
    return element_at(id, version, await session.events(EventQuery(element=id)))


async def resolve(session: Session, text: str) -> Resolution:
    """Resolve an address; an unresolved one is not an error."""
    address = parse_address(text)
    element = None if address is None else await follow(session, address)
    return Resolution(text, element)


async def follow(session: Session, address: Address) -> Element | None:
    """The element an address refers to, at its version if given; None for a deleted element, whatever the version."""
    element = await get(session, address.id)
    if element is None or address.version in (None, element.version):
        return element
    return await at_version(session, address.id, address.version or 0)


async def expand(session: Session, value: Json, depth: int, path: frozenset[str] = frozenset()) -> Json:
    """The value with addresses replaced by their elements, `depth` levels deep; one that closes a cycle stays."""
    if depth <= 0:
        return value
    if isinstance(value, list):
        return [await expand(session, item, depth, path) for item in value]
    if isinstance(value, dict):
        return {key: await expand(session, item, depth, path) for key, item in value.items()}
    address = parse_address(value)
    if address is None or address.id in path:
        return value
    element = await follow(session, address)
    return value if element is None else await expand(session, element.as_json(), depth - 1, path | {address.id})


async def references(session: Session, element: Element) -> list[Reference]:
    """The addresses in an element's properties and data, resolved."""
    return await follow_all(session, places_of_addresses(element))


def places_of_addresses(element: Element) -> list[tuple[str, Address]]:
    """The addresses in an element's properties and data, with their paths."""
    found = [*find_addresses(element.properties, "properties")]
    if isinstance(element, Node):
        found += find_addresses(element.data, "data")
    return found


async def follow_all(session: Session, places: Sequence[tuple[str, Address]]) -> list[Reference]:
    """Resolve addresses in two reads, plus one for each address of an older version."""
    known = await get_many(session, (address.id for _, address in places))
    found = []
    for path, address in places:
        target = known.get(address.id)
        if target is not None and address.version not in (None, target.version):
            target = await at_version(session, address.id, address.version or 0)
        found.append(Reference(address, path, target))
    return found


async def referenced_by(session: Session, id: str, page: Page = WHOLE) -> list[Element]:
    """Elements that mention this one in their properties or data: nodes by id, then edges by id."""
    if not is_identifier(id):
        return []
    where = Has(reference_word(id))
    nodes: list[Element] = await session.fetch(NODES, where, page=page)
    left = None if page.limit is None else page.limit - len(nodes)
    edges: list[Element] = await session.fetch(EDGES, where, page=Page(limit=left)) if left != 0 else []
    return nodes + edges


async def setting(session: Session, name: str) -> Any:
    """A default, which the properties of the node `_system_config` may override (INV-5)."""
    config: Node | None = await session.find(NODES, CONFIG_NODE)
    return default_in({} if config is None else config.properties, name)


def default_in(config: Mapping[str, Json], name: str) -> Any:
    """A default, overridden by the given properties of `_system_config`."""
    built_in = DEFAULTS[name]
    value = config.get(name, built_in)
    # Digits as text are taken as a number; any other value of a wrong type falls back to the default (C-53).
    if isinstance(built_in, int) and isinstance(value, str) and value.isdecimal():
        value = int(value)
    return value if type(value) is type(built_in) else built_in
