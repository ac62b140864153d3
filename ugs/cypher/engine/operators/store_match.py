"""StoreMatch: a whole MATCH as one statement of the store, with the step-by-step operators as fall-back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from ugs.cypher.engine.operators.base import BATCH, Operator, apply_all
from ugs.cypher.engine.operators.project import BindPath, Filter
from ugs.cypher.engine.operators.store_pattern import (
    EdgeStep,
    NeedsMoreStatements,
    NoMatches,
    PatternBuilder,
    PreparedMatch,
)
from ugs.cypher.engine.partial_entities import ValueBuilder, build_node_reader, build_relationship_reader
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.view import as_relationship, has_all_labels
from ugs.cypher.errors import CypherError
from ugs.reads.pattern import Fields, Match, Pattern

MATCH_BYTES = 100
"""Approximate size of a match, without its elements."""
Matches = tuple[PreparedMatch, list[Match]]
"""A pushed-down pattern with all its matches."""


class StoreMatch(Operator):
    """All matches of a pattern in one statement."""

    title = "StoreMatch"

    def __init__(
        self, builder: PatternBuilder, steps: Sequence[Operator], binds: Sequence[BindPath], words: str
    ) -> None:
        self.builder = builder
        self.nodes, self.edges = builder.nodes, builder.edges
        self.slots = [*(place.slot for place in builder.nodes), *(way.slot for way in builder.edges)]
        self.labelled = [(place.slot, place.labels) for place in builder.nodes if place.labels]
        self.steps = steps
        self.binds = binds
        self.checks = [step for step in steps if isinstance(step, Filter)]
        self.words = words

    def describe(self) -> str:
        return self.words

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        try:
            found = await self._fetch_matches(run)
        except NoMatches:
            return
        flowing = batches if found is None else self._stream_rows(run, *found)
        for operator in self.steps if found is None else self._remaining_steps(found[0]):
            flowing = operator.flow(run, flowing)
        async for batch in flowing:
            yield batch

    async def all_rows(self, run: Run) -> list[Row] | AsyncIterator[list[Row]]:
        """All rows, or a stream of batches if there are many."""
        try:
            found = await self._fetch_matches(run)
        except NoMatches:
            return []
        if found is None:
            raise NeedsMoreStatements
        ready, matches = found
        if len(matches) <= BATCH:
            return apply_all(
                run,
                self._remaining_steps(ready),
                self._build_rows(run, ready, matches, self._build_readers(run, ready)),
            )
        flowing = self._stream_rows(run, ready, matches)
        for operator in self._remaining_steps(ready):
            flowing = operator.flow(run, flowing)
        return flowing

    async def _fetch_matches(self, run: Run) -> Matches | None:
        """The matches found by the store; None if the pattern must be matched step by step."""
        ready, texts = await self.builder.prepare(run)
        if run.single_statement and ready.walks:
            raise NeedsMoreStatements
        found = None if ready.too_long else await run.graph.view.match(ready.pattern, texts)
        if found is None and ready.pattern.pattern.unless is not None:
            self.builder.note_further_labels()
        if found is None or ready.is_cut(len(found)):
            return None
        run.graph.fetches += 1
        await run.yield_to_loop()
        run.keep(len(found) * MATCH_BYTES)
        return ready, select_least_paths(found) if self.builder.picks else found

    def _remaining_steps(self, ready: PreparedMatch) -> Sequence[Operator]:
        """The operators that remain to be run: filters, and construction of paths."""
        return self.binds if ready.exact else [*self.binds, *self.checks]

    async def statements(self, run: Run) -> list[str]:
        """The statements that the store would be sent, for display; empty if a parameter is missing."""
        try:
            ready, _ = await self.builder.prepare(run)
        except (NoMatches, CypherError):
            return []
        return run.graph.view.explain_match(ready.pattern.pattern)

    async def _stream_rows(self, run: Run, ready: PreparedMatch, found: list[Match]) -> AsyncIterator[list[Row]]:
        readers = self._build_readers(run, ready)
        before = run.made
        for start in range(0, len(found), BATCH):
            yield self._build_rows(run, ready, found[start : start + BATCH], readers)
            run.made = before
            await run.yield_to_loop()

    def _build_rows(
        self, run: Run, ready: PreparedMatch, found: list[Match], readers: list[tuple[int, ValueBuilder]]
    ) -> list[Row]:
        """Convert matches to rows; elements that were not fetched are represented by True."""
        template, weight = run.template[:], self.builder.use.weight
        for slot in self.slots:
            template[slot] = True
        run.tick(len(found))
        made = [_build_row(template[:], readers, weight, match) for match in found]
        run.spend(len(made) * run.row_bytes)
        run.keep_fetched()
        return made if ready.exact or not self.labelled else [row for row in made if self._has_labels(row)]

    def _has_labels(self, row: Row) -> bool:
        return all(has_all_labels(row[slot], labels) for slot, labels in self.labelled)

    def _build_readers(self, run: Run, ready: PreparedMatch) -> list[tuple[int, ValueBuilder]]:
        """The slots of the fetched elements, and the functions that build their values."""
        asked: Pattern = ready.pattern.pattern
        spots = [(self.nodes[number].slot, asked.spots[number].fields) for number in asked.wanted_spots]
        nodes = [
            (slot, run.graph.get_or_add if fields is None else build_node_reader(fields)) for slot, fields in spots
        ]
        if not asked.wanted_legs:
            return nodes
        known: dict[str, Any] = {}
        return nodes + [
            (self.edges[number].slot, _build_edge_reader(self.edges[number], asked.legs[number].fields, known))
            for number in asked.wanted_legs
        ]


def _build_row(row: Row, readers: list[tuple[int, ValueBuilder]], weight: int, match: Match) -> Row:
    for (slot, make), found in zip(readers, match, strict=False):
        row[slot] = make(found)
    row[weight] = match[-1]
    return row


def select_least_paths(found: list[Match]) -> list[Match]:
    """One shortest path for each pair of ends: the one with the smallest relationship ids."""
    least: dict[tuple[str, str], Match] = {}
    for match in found:
        start, end, walk, _ = match
        known = least.get((start.id, end.id))
        if known is None or [arc.id for arc in walk] < [arc.id for arc in known[2]]:
            least[start.id, end.id] = match
    return list(least.values())


def _build_edge_reader(way: EdgeStep, fields: Fields, known: dict[str, Any]) -> ValueBuilder:
    """A function that builds the relationship of an edge, or the list of them; each is built once."""
    if fields is not None:
        return build_relationship_reader(fields)
    if way.reach is None:
        return lambda found: _relationship(found, known)
    turn = -1 if way.backwards else 1
    return lambda found: [_relationship(one, known) for one in found[::turn]]


def _relationship(row: Any, known: dict[str, Any]) -> Any:
    found = known.get(row.id)
    if found is None:
        found = known[row.id] = as_relationship(row)
    return found
