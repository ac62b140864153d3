"""What commands ask of a graph, wherever it is: a store opened here, or a gateway that somebody runs.

Everything that passes is plain JSON in the seed's shapes, with `version` (and `modified` for edges) added to elements,
so that a command neither knows nor shows which of the two has answered.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, NamedTuple

Record = dict[str, Any]
"""A node, an edge, an event or another thing as JSON."""

PROGRAM_KEYS = ("id", "name", "description", "statement_count")
"""What is told of a stored program."""


KEY_FIELDS = (
    *("id", "name", "user", "roles", "tenant", "project", "agent"),
    *("created_at", "expires_at", "revoked_at"),
)
"""What is told of an API key."""


class Done(NamedTuple):
    """What a change left behind, and what somebody should know about it."""

    value: Any
    warnings: Sequence[Record] = ()


class Wanted(NamedTuple):
    """What a search is for, and what it goes by."""

    query: str
    mode: str = "words"
    """`words`, `vector` or `hybrid`."""
    type: str | None = None
    scope: str | None = None
    near: str | None = None
    """For `hybrid`: nodes near this one count more."""
    limit: int = 100


class Port(ABC):
    """The graph, for reading and changing."""

    name: str
    """Which graph it is, without secrets."""
    at: Any = None
    """The place in time that reads answer from; None is now."""

    @abstractmethod
    async def element(self, id: str) -> Record | None:
        """The node or edge with this id."""

    @abstractmethod
    async def settings_nodes(self) -> tuple[Record, Record]:
        """The properties of `_user_prefs` and of `_system_config`; empty where there is no such node."""

    @abstractmethod
    async def add_node(self, id: str, type: str | None, properties: Record, data: Any) -> Done:
        """Create a node."""

    @abstractmethod
    async def add_edge(
        self, id: str, ends: tuple[str, str], type: str | None, weight: float, properties: Record
    ) -> Done:
        """Create an edge."""

    @abstractmethod
    async def update(self, id: str, changes: Record) -> Done:
        """Change a node or an edge: `properties`, `append`, `remove`, `type`, `data`, `weight`, `expected_version`."""

    @abstractmethod
    async def delete(self, id: str) -> Done:
        """Remove a node with its edges, or an edge."""

    @abstractmethod
    async def search(self, wanted: Wanted) -> list[Record]:
        """Hits as `{score, node}`, best first."""

    @abstractmethod
    def nodes(self, type: str | None = None, scope: str | None = None) -> AsyncIterator[list[Record]]:
        """Nodes by id, a page at a time."""

    @abstractmethod
    def edges(self, scope: str | None = None) -> AsyncIterator[list[Record]]:
        """Edges by id, a page at a time."""

    @abstractmethod
    async def find_by_property(self, key: str, value: Any) -> list[Record]:
        """Nodes whose property has exactly this value."""

    @abstractmethod
    async def neighbors(self, id: str, direction: str, type: str | None) -> list[Record]:
        """Adjacent nodes."""

    @abstractmethod
    async def traverse(self, id: str, depth: int, direction: str, strategy: str, type: str | None) -> list[Record]:
        """Steps as `{depth, node, via}`."""

    @abstractmethod
    async def path(self, start: str, goal: str) -> Record | None:
        """The cheapest path as `{nodes, edges, weight}`."""

    @abstractmethod
    async def stats(self) -> Record:
        """The four counts."""

    @abstractmethod
    async def hubs(self, limit: int) -> list[Record]:
        """Nodes with `degree`, `incoming` and `outgoing`."""

    @abstractmethod
    async def roots(self) -> list[Record]:
        """Nodes at which no edge arrives."""

    @abstractmethod
    async def property_keys(self) -> list[str]:
        """All property keys of nodes."""

    @abstractmethod
    async def scopes(self) -> list[Record]:
        """Scopes in use as `{scope, nodes, edges}`."""

    @abstractmethod
    async def history(self, last: int, element: str | None) -> list[Record]:
        """The last events, oldest first."""

    @abstractmethod
    def follow(self, after: int | None) -> AsyncGenerator[Record, None]:
        """Events after a place in the log, or from now on, as they happen."""

    @abstractmethod
    def log(self, after: int) -> AsyncGenerator[list[bytes], None]:
        """The lines of the log behind a position, as many at a time as suits."""

    @abstractmethod
    async def digest(self) -> str:
        """One hash of the whole state."""

    @abstractmethod
    async def versions(self, id: str) -> list[Record]:
        """The life of an element as `{version, timestamp, event, deleted, value}`."""

    @abstractmethod
    async def resolve(self, address: str) -> Any:
        """What an address leads to, or the address."""

    @abstractmethod
    async def clear_scope(self, scope: str, force: bool) -> Done:
        """Delete everything in a scope."""

    @abstractmethod
    async def snapshot(self) -> Record:
        """Write the state down beside the log."""

    @abstractmethod
    async def import_graph(self, graph: Record, on_conflict: str, key: str | None) -> Done:
        """Add nodes and edges, all or nothing, and only once under a key; tells how many of each."""

    @abstractmethod
    async def ingest(self, notes: Sequence[Record], scope: str, supported: bool, key: str | None) -> Done:
        """Keep notes with what they state, all or nothing, and only once under a key; tells how many of each."""

    @abstractmethod
    async def load_demo(self, force: bool) -> Done:
        """Add the demonstration graph."""

    @abstractmethod
    async def verify(self) -> Record:
        """Whether the state is what the log says, as `{ok, events, digest}`."""

    @abstractmethod
    async def cypher(self, query: str, parameters: Record) -> Record:
        """The answer to a query as `{columns, rows}`."""

    @abstractmethod
    async def facts(self, subject: str) -> list[Record]:
        """All facts about a subject in the order they began."""

    @abstractmethod
    async def send(self, id: str, type: str, payload: Record) -> Record:
        """The answer of a node's actor to a message; a refusal has `success: false`."""

    @abstractmethod
    async def validate_program(self, program: Any) -> Record:
        """All that is wrong with a program."""

    @abstractmethod
    async def save_program(self, program: Any, name: str | None) -> Record:
        """Keep a program; tells its number."""

    @abstractmethod
    async def run_program(self, program: Any, parameters: Record) -> Record:
        """Run a program, given as JSON or by its number."""

    @abstractmethod
    async def programs(self, search: str | None, limit: int) -> list[Record]:
        """Stored programs, newest first."""

    @abstractmethod
    async def add_key(self, wanted: Record) -> Record:
        """Make an API key, told only now; with `name`, `roles`, and what else `KEY_FIELDS` has where it is given."""

    @abstractmethod
    async def keys(self) -> list[Record]:
        """The API keys of the store, oldest first, without what opens anything."""

    @abstractmethod
    async def revoke_key(self, id: str) -> Record:
        """Take an API key back."""


async def gathered(pages: AsyncIterator[list[Record]]) -> list[Record]:
    """All pages as one list."""
    return [record async for page in pages for record in page]
