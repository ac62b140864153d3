"""Recall at 5 and 10 of recall, beside plain full-text search and plain vectors: `python -m bench.recall`.

The synthetic memory is that of `bench.recall_data`. With `UGS_LONGMEMEVAL` or `UGS_LOCOMO` naming a folder with the
published data (`longmemeval_s.json`, `locomo10.json`), these are measured too. No model is called. An answer counts if
the note that states it, or the fact it states, is among the first.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench.recall_data import Statement, build_questions, build_statements
from ugs.facts.api import Facts
from ugs.facts.commands.ingestion import NoteToIngest, Object, Stated
from ugs.facts.search_terms import question_terms, stemmed_words
from ugs.recall.api import Recall
from ugs.recall.model import RecallItem
from ugs.system import System
from ugs.vectors.index_maintenance import embed_texts
from ugs.vectors.model import NOTE_VECTORS

DAY = 86_400_000_000
START = 1_735_689_600_000_000
NOTES_AT_ONCE = 100
BUDGET_TOKENS = 100_000
CUTS = (5, 10)


class Case(NamedTuple):
    """A question with the notes that answer it."""

    question: str
    answers: frozenset[str]


class Memory(NamedTuple):
    """A set of notes, by the data's own ids, and the questions about them."""

    name: str
    notes: dict[str, str]
    cases: list[Case]
    statements: Sequence[Statement] = ()


# ── the data ─────────────────────────────────────────────────────────────────


def synthetic(people: int, facts: int, questions: int) -> Memory:
    statements = build_statements(people, facts)
    asked = build_questions(statements, questions)
    cases = [Case(question.text, frozenset({str(question.answer)})) for question in asked]
    return Memory("synthetic", {str(n): one.text for n, one in enumerate(statements)}, cases, statements)


def longmemeval(folder: Path) -> Iterator[Memory]:
    """One memory per question; a note is a session."""
    for entry in msgspec.json.decode((folder / "longmemeval_s.json").read_bytes()):
        sessions = zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True)
        notes = {id: "\n".join(turn["content"] for turn in turns) for id, turns in sessions}
        yield Memory("LongMemEval-S", notes, [Case(entry["question"], frozenset(entry["answer_session_ids"]))])


def locomo(folder: Path) -> Iterator[Memory]:
    """One memory per conversation; a note is a turn."""
    for entry in msgspec.json.decode((folder / "locomo10.json").read_bytes()):
        talk = entry["conversation"]
        turns = [turn for key, value in talk.items() if isinstance(value, list) for turn in value if "dia_id" in turn]
        notes = {turn["dia_id"]: f"{turn['speaker']}: {turn['text']}" for turn in turns}
        cases = [Case(one["question"], frozenset(one["evidence"])) for one in entry["qa"] if one.get("evidence")]
        yield Memory("LoCoMo", notes, [case for case in cases if case.answers & notes.keys()])


# ── the contenders ───────────────────────────────────────────────────────────


class FullText:
    """Plain full-text search: BM25 over the notes, any word may match."""

    def __init__(self, notes: Mapping[str, str]) -> None:
        self.words = {id: Counter(stemmed_words(text).values()) for id, text in notes.items()}
        self.holders: dict[str, list[str]] = {}
        for id, words in self.words.items():
            for word in words:
                self.holders.setdefault(word, []).append(id)
        self.mean = sum(map(len, self.words.values())) / max(1, len(self.words))

    def search(self, question: str, limit: int) -> list[str]:
        scores: dict[str, float] = {}
        for term in question_terms(question, 50):
            holders = self.holders.get(term.stem, ())
            worth = math.log(1 + (len(self.words) - len(holders) + 0.5) / (len(holders) + 0.5))
            for id in holders:
                size = len(self.words[id]) / self.mean
                scores[id] = scores.get(id, 0.0) + worth * 2.2 / (1 + 1.2 * (0.25 + 0.75 * size))
        return sorted(scores, key=lambda id: (-scores[id], id))[:limit]


async def search_vectors(system: System, question: str, limit: int, names: Mapping[str, str]) -> list[str]:
    """Plain vectors: the most similar passages of notes."""
    async with system.session() as session:
        similar = system.vectors.likeness(session)
        (vector,) = await embed_texts(similar.embedder, [question])
        if vector is None:
            return []
        found = await similar.search(NOTE_VECTORS, vector, limit * 3)
    return list(dict.fromkeys(names[one.row.id] for one in found))[:limit]


def note_ids(items: Iterable[RecallItem], names: Mapping[str, str]) -> list[str]:
    """The notes behind recalled items, in their order."""
    ids = [id for item in items for id in (*(quote.note_id for quote in item.evidence), item.note_id) if id]
    return list(dict.fromkeys(names[id] for id in ids))


# ── measuring ────────────────────────────────────────────────────────────────


async def load(system: System, memory: Memory) -> dict[str, str]:
    """Store the notes, with their facts if there are statements; returns the data's id of each note."""
    facts, names = Facts(system), dict[str, str]()
    for topic in dict.fromkeys(one.topic for one in memory.statements):
        await facts.register_predicate(topic.predicate, status="active", cardinality="single")
    pairs = list(memory.notes.items())
    for first in range(0, len(pairs), NOTES_AT_ONCE):
        part = pairs[first : first + NOTES_AT_ONCE]
        given = [NoteToIngest(text=text[:100_000], relations=relations_of(memory, id)) for id, text in part]
        done = await facts.ingest(*given, supported=False)
        names |= dict(zip((note.note_id for note in done.notes), (id for id, _ in part), strict=True))
    await system.vectors.ready()
    return names


def relations_of(memory: Memory, id: str) -> tuple[Stated, ...]:
    if not memory.statements:
        return ()
    one = memory.statements[int(id)]
    return (Stated(one.subject, one.topic.predicate, Object(value=one.object), valid_from=START + one.day * DAY),)


async def measure(memories: Iterable[Memory], url: str) -> None:
    """Print R@5 and R@10 of each contender over all questions of some memories."""
    hits: Counter[tuple[str, int]] = Counter()
    count, name, used = 0, "", 0.0
    for memory in memories:
        async with System.at_url(url) as system:
            names = await load(system, memory)
            plain, recall = FullText(memory.notes), Recall(system)
            for case in memory.cases:
                begun = time.process_time()
                found = await recall.recall(case.question, BUDGET_TOKENS, first=30)
                used += time.process_time() - begun
                ranked = {
                    "recall": note_ids(found.items, names),
                    "full text": plain.search(case.question, max(CUTS)),
                    "vectors": await search_vectors(system, case.question, max(CUTS), names),
                }
                count_hits(hits, ranked, case)
            name, count = memory.name, count + len(memory.cases)
    print(f"{name}: {count} questions, {used / max(1, count) * 1_000:.1f} ms of CPU per recall")
    for contender in ("recall", "full text", "vectors"):
        figures = "  ".join(f"R@{cut} {hits[contender, cut] / max(1, count):6.1%}" for cut in CUTS)
        print(f"  {contender:10} {figures}")


def count_hits(hits: Counter[tuple[str, int]], ranked: Mapping[str, Sequence[str]], case: Case) -> None:
    for contender, ids in ranked.items():
        for cut in CUTS:
            hits[contender, cut] += bool(case.answers & set(ids[:cut]))


def main(arguments: Sequence[str] | None = None) -> None:
    parser: Any = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--store", default="memory:", help="an empty store for each memory")
    parser.add_argument("--people", type=int, default=500)
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=2_000)
    options = parser.parse_args(arguments)
    asyncio.run(measure([synthetic(options.people, options.facts, options.questions)], options.store))
    for setting, read in (("UGS_LONGMEMEVAL", longmemeval), ("UGS_LOCOMO", locomo)):
        if folder := os.environ.get(setting):
            asyncio.run(measure(read(Path(folder)), options.store))


if __name__ == "__main__":
    main()
