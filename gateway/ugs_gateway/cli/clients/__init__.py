"""The interface between commands and a graph: a store opened in this process, or a running gateway.

Values are plain JSON in the seed's shapes, with `version` (and `modified` for edges) added to elements, so that a
command does not depend on which of the two has answered.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

Record = dict[str, Any]
"""A node, an edge, an event or another thing as JSON."""

PROGRAM_KEYS = ("id", "name", "description", "statement_count")
"""The fields of a stored program in a list."""


KEY_FIELDS = (
    *("id", "name", "user", "roles", "tenant", "project", "agent"),
    *("created_at", "expires_at", "revoked_at"),
)
"""The fields of an API key in a list."""
WEBHOOK_FIELDS = (
    *("id", "name", "url", "filter", "tenant", "user", "project", "agent"),
    *("seq", "created_at", "paused_at", "pause_reason"),
)
"""The fields of a webhook in a list."""


class ChangeResult(NamedTuple):
    """The result of a change, and its warnings."""

    value: Any
    warnings: Sequence[Record] = ()


class SearchQuery(NamedTuple):
    """The parameters of a search."""

    query: str
    mode: str = "words"
    """`words`, `vector` or `hybrid`."""
    type: str | None = None
    scope: str | None = None
    near: str | None = None
    """For `hybrid`: nodes near this one rank higher."""
    limit: int | None = None
    """The maximum number of hits; None: all."""


class Correction(NamedTuple):
    """The parameters of a correction; None leaves one out."""

    fact: str
    action: str
    """`end`, `replace` or `retract`."""
    reason: str
    value: str | None = None
    object: str | None = None
    """The name of the entity that is the object instead."""
    when: str | None = None
    reopen: bool = True


class RecallQuestion(NamedTuple):
    """The parameters of a recall; None leaves one at its default."""

    query: str
    budget: int | None = None
    limit: int | None = None
    as_of: str | None = None
    scopes: Sequence[str] | None = None
    kinds: Sequence[str] | None = None


class GraphClient(ABC):
    """Reads and changes a graph."""

    name: str
    """Which graph it is, without secrets."""
    at: Any = None
    """The place in time that reads answer from; None is now."""

    @abstractmethod
    def at_time(self, moment: int | datetime) -> GraphClient:
        """The same graph as of a log position or time."""

    @abstractmethod
    async def element(self, id: str) -> Record | None:
        """The node or edge with this id."""

    @abstractmethod
    async def settings_nodes(self) -> tuple[Record, Record]:
        """The properties of `_user_prefs` and of `_system_config`; empty where there is no such node."""

    @abstractmethod
    async def add_node(self, id: str, type: str | None, properties: Record, data: Any) -> ChangeResult:
        """Create a node."""

    @abstractmethod
    async def add_edge(
        self, id: str, ends: tuple[str, str], type: str | None, weight: float, properties: Record
    ) -> ChangeResult:
        """Create an edge."""

    @abstractmethod
    async def update(self, id: str, changes: Record) -> ChangeResult:
        """Change a node or an edge: `properties`, `append`, `remove`, `type`, `data`, `weight`, `expected_version`."""

    @abstractmethod
    async def delete(self, id: str) -> ChangeResult:
        """Remove a node with its edges, or an edge."""

    @abstractmethod
    async def search(self, query: SearchQuery) -> list[Record]:
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
        """Nodes without incoming edges."""

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
        """Events after a log position, or from now on, as they are committed."""

    @abstractmethod
    def log(self, after: int) -> AsyncGenerator[list[bytes], None]:
        """The lines of the log after a position, in chunks."""

    @abstractmethod
    async def digest(self) -> str:
        """One hash of the whole state."""

    @abstractmethod
    async def versions(self, id: str) -> list[Record]:
        """All states of an element as `{version, timestamp, event, deleted, value}`."""

    @abstractmethod
    async def changes(self, start: int | datetime, end: int | datetime | None, element: str | None) -> list[Record]:
        """Elements that differ between two places in time, as `{id, element, kind, fields, before, after}`."""

    @abstractmethod
    async def undo(self, selection: str, positions: Sequence[int], preview: bool, key: str | None) -> ChangeResult:
        """Reverse `events`, the `transaction` of one, or everything `after` one; returns `{done, changes, conflicts,
        events}`.
        """

    @abstractmethod
    async def resolve(self, address: str) -> Any:
        """The value at an address, or the address itself if it resolves to nothing."""

    @abstractmethod
    async def clear_scope(self, scope: str, force: bool) -> ChangeResult:
        """Delete everything in a scope."""

    @abstractmethod
    async def snapshot(self) -> Record:
        """Write a snapshot."""

    @abstractmethod
    async def import_graph(self, graph: Record, on_conflict: str, key: str | None) -> ChangeResult:
        """Add nodes and edges, all or nothing, and once per idempotency key; returns how many of each."""

    @abstractmethod
    async def ingest(
        self, notes: Sequence[Record], scope: str, supported: bool, key: str | None, skip_known: bool = False
    ) -> ChangeResult:
        """Store notes with the facts they state, all or nothing, and once per idempotency key; returns how many of
        each. With `skip_known`, notes that were ingested so before are left out.
        """

    @abstractmethod
    async def propose(self, notes: Sequence[Record], scope: str, supported: bool, key: str | None) -> ChangeResult:
        """Store notes with what they state as proposals, all or nothing, and once per idempotency key; returns how many
        of each.
        """

    @abstractmethod
    async def load_demo(self, force: bool) -> ChangeResult:
        """Add the demonstration graph."""

    @abstractmethod
    async def verify(self) -> Record:
        """Whether the state equals a replay of the log, as `{ok, events, digest}`."""

    @abstractmethod
    async def cypher(self, query: str, parameters: Record) -> Record:
        """The result of a query as `{columns, rows}`."""

    @abstractmethod
    async def facts(self, subject: str, moment: str) -> list[Record]:
        """All facts about a subject in the order of their start; `holds` says whether one holds at an instant."""

    @abstractmethod
    async def correct(self, correction: Correction) -> ChangeResult:
        """End, replace or retract a fact; returns `{fact, before, reopened}`."""

    @abstractmethod
    async def entity(self, name: str) -> Record | None:
        """The entity with a name or an alias, as `{id, name}`."""

    @abstractmethod
    async def duplicates(self) -> list[Record]:
        """Pairs of entities that may be the same, as `{first, second, reason}`."""

    @abstractmethod
    async def merge(self, keep: str, other: str, preview: bool) -> Record:
        """Make one entity part of another, by ids; returns the one that stays. A preview returns how many facts would
        be moved, folded into others, or conflict, and changes nothing.
        """

    @abstractmethod
    async def unmerge(self, id: str) -> Record:
        """Undo the merge of an entity, by its former id; returns it."""

    @abstractmethod
    async def keep_apart(self, id: str, other: str) -> None:
        """Record that two entities are not the same."""

    @abstractmethod
    async def proposals(self, state: str) -> list[Record]:
        """The proposed facts in a state, oldest first."""

    @abstractmethod
    async def decide(self, id: str, action: str, reason: str | None, changes: Record) -> Record:
        """Approve, reject or edit a proposed fact; returns it as it is then."""

    @abstractmethod
    async def recall(self, question: RecallQuestion) -> Record:
        """What answers a question, as `{items, entities, as_of, tokens, budget_tokens, omitted, truncated}`."""

    @abstractmethod
    async def send(self, id: str, type: str, payload: Record) -> Record:
        """The answer of a node's actor to a message; a refusal has `success: false`."""

    @abstractmethod
    async def validate_program(self, program: Any) -> Record:
        """All issues of a program."""

    @abstractmethod
    async def save_program(self, program: Any, name: str | None) -> Record:
        """Store a program; returns its number."""

    @abstractmethod
    async def run_program(self, program: Any, parameters: Record) -> Record:
        """Run a program, given as JSON or by its number."""

    @abstractmethod
    async def programs(self, search: str | None, limit: int) -> list[Record]:
        """Stored programs, newest first."""

    @abstractmethod
    async def add_key(self, wanted: Record) -> Record:
        """Create an API key, which is returned only here; with `name`, `roles`, and other `KEY_FIELDS` where given."""

    @abstractmethod
    async def keys(self) -> list[Record]:
        """The API keys of the store, oldest first, without their secrets."""

    @abstractmethod
    async def revoke_key(self, id: str) -> Record:
        """Revoke an API key."""

    @abstractmethod
    async def add_webhook(self, wanted: Record) -> Record:
        """Create a webhook, whose secret is returned only here; with `url`, `filter`, `after` and other
        `WEBHOOK_FIELDS` where given."""

    @abstractmethod
    async def webhooks(self) -> list[Record]:
        """The webhooks, oldest first, without their secrets."""

    @abstractmethod
    async def change_webhook(self, action: str, id: str, after: int | None) -> Record:
        """Pause, resume, rewind, redeliver or delete a webhook."""


async def collect_pages(pages: AsyncIterator[list[Record]]) -> list[Record]:
    """All pages as one list."""
    return [record async for page in pages for record in page]
