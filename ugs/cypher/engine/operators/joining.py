"""A whole MATCH as one question to a store that can join; where it will not, the steps are taken one by one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from ugs.cypher.engine.glimpses import Maker, node_maker, relationship_maker
from ugs.cypher.engine.operators.base import BATCH, Operator, apply_all
from ugs.cypher.engine.operators.questioning import NotAtOnce, Nothing, Questions, Ready, Stretch
from ugs.cypher.engine.operators.shaping import BindPath, Filter
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.view import as_relationship, has_labels
from ugs.cypher.errors import CypherError
from ugs.reads.pattern import Fields, Match, Pattern

Found = tuple[Ready, list[Match]]
"""A question, and all matches that the store has found for it."""


class StoreMatch(Operator):
    """All matches at once."""

    title = "StoreMatch"

    def __init__(self, questions: Questions, steps: Sequence[Operator], binds: Sequence[BindPath], words: str) -> None:
        self.questions = questions
        self.places, self.ways = questions.places, questions.ways
        self.slots = [*(place.slot for place in questions.places), *(way.slot for way in questions.ways)]
        self.labelled = [(place.slot, place.labels) for place in questions.places if place.labels]
        self.steps = steps
        self.binds = binds
        self.checks = [step for step in steps if isinstance(step, Filter)]
        self.words = words

    def describe(self) -> str:
        return self.words

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        try:
            found = await self._found(run)
        except Nothing:
            return
        flowing = batches if found is None else self._rows(run, *found)
        for operator in self.steps if found is None else self._after(found[0]):
            flowing = operator.flow(run, flowing)
        async for batch in flowing:
            yield batch

    async def all_rows(self, run: Run) -> list[Row] | AsyncIterator[list[Row]]:
        """All rows, or the way to them where there are many."""
        try:
            found = await self._found(run)
        except Nothing:
            return []
        if found is None:
            raise NotAtOnce
        ready, matches = found
        if len(matches) <= BATCH:
            return apply_all(run, self._after(ready), self._portion(run, ready, matches, self._makers(run, ready)))
        flowing = self._rows(run, ready, matches)
        for operator in self._after(ready):
            flowing = operator.flow(run, flowing)
        return flowing

    async def _found(self, run: Run) -> Found | None:
        """What the store has found; None where the steps must be taken one by one."""
        ready, texts = await self.questions.question(run)
        if run.at_once and ready.walks:
            raise NotAtOnce
        found = None if ready.too_long else await run.graph.view.match(ready.question, texts)
        if found is None and ready.question.pattern.unless is not None:
            self.questions.refused()
        if found is None or ready.is_cut(len(found)):
            return None
        run.graph.fetches += 1
        return ready, picked(found) if self.questions.picks else found

    def _after(self, ready: Ready) -> Sequence[Operator]:
        """The steps that are still to be taken: checks, and paths to be put together."""
        return self.binds if ready.exact else [*self.binds, *self.checks]

    async def statements(self, run: Run) -> list[str]:
        """What the store would be sent, for people; nothing where the parameters at hand are not enough to tell."""
        try:
            ready, _ = await self.questions.question(run)
        except (Nothing, CypherError):
            return []
        return run.graph.view.match_statements(ready.question.pattern)

    async def _rows(self, run: Run, ready: Ready, found: list[Match]) -> AsyncIterator[list[Row]]:
        makers = self._makers(run, ready)
        for start in range(0, len(found), BATCH):
            yield self._portion(run, ready, found[start : start + BATCH], makers)
            await run.breathe()

    def _portion(self, run: Run, ready: Ready, found: list[Match], makers: list[tuple[int, Maker]]) -> list[Row]:
        """The matches as rows; what was not asked for is only known to be there."""
        template, weight = run.template[:], self.questions.use.weight
        for slot in self.slots:
            template[slot] = True
        run.tick(len(found))
        made = [_made(template[:], makers, weight, match) for match in found]
        return made if ready.exact or not self.labelled else [row for row in made if self._has_labels(row)]

    def _has_labels(self, row: Row) -> bool:
        return all(has_labels(row[slot], labels) for slot, labels in self.labelled)

    def _makers(self, run: Run, ready: Ready) -> list[tuple[int, Maker]]:
        """The slots of what was asked for, and how its values are made of what the store found."""
        asked: Pattern = ready.question.pattern
        spots = [(self.places[number].slot, asked.spots[number].fields) for number in asked.wanted_spots]
        nodes = [(slot, run.graph.adopt if fields is None else node_maker(fields)) for slot, fields in spots]
        if not asked.wanted_legs:
            return nodes
        known: dict[str, Any] = {}
        return nodes + [
            (self.ways[number].slot, _way_maker(self.ways[number], asked.legs[number].fields, known))
            for number in asked.wanted_legs
        ]


def _made(row: Row, makers: list[tuple[int, Maker]], weight: int, match: Match) -> Row:
    for (slot, make), found in zip(makers, match, strict=False):
        row[slot] = make(found)
    row[weight] = match[-1]
    return row


def picked(found: list[Match]) -> list[Match]:
    """For each two ends one of the shortest paths between them, that with the least ids."""
    least: dict[tuple[str, str], Match] = {}
    for match in found:
        start, end, walk, _ = match
        known = least.get((start.id, end.id))
        if known is None or [arc.id for arc in walk] < [arc.id for arc in known[2]]:
            least[start.id, end.id] = match
    return list(least.values())


def _way_maker(way: Stretch, fields: Fields, known: dict[str, Any]) -> Maker:
    """Makes the relationship of a leg, or the list of them; each is made once, however often it occurs."""
    if fields is not None:
        return relationship_maker(fields)
    if way.reach is None:
        return lambda found: _relationship(found, known)
    turn = -1 if way.backwards else 1
    return lambda found: [_relationship(one, known) for one in found[::turn]]


def _relationship(row: Any, known: dict[str, Any]) -> Any:
    found = known.get(row.id)
    if found is None:
        found = known[row.id] = as_relationship(row)
    return found
