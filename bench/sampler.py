"""Taking samples: every side answers the same questions, in random order, several times over.

Before anything is timed each side answers all questions once, and all answers must be the same bytes. Then each
repetition visits every pair of question and side in random order; a sample in which somebody else kept the machine
busy is taken again, twice at most, and marked when that did not help.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from random import Random
from statistics import median
from typing import Any

from msgspec import Struct

from bench.contenders import Job, Side
from bench.noise import MAX_RETAKES, Stopwatch

Arguments = Sequence[tuple[Any, ...]]
Tell = Callable[[str], None]


class Sample(Struct, frozen=True):
    """One side's answer to one kind of question, timed."""

    store: str
    kind: str
    side: str
    repetition: int
    seconds: float
    """Per question, on the wall clock."""
    cpu: float
    server_cpu: float
    count: int
    foreign: float
    quiet: bool

    @property
    def all_cpu(self) -> float:
        return self.cpu + self.server_cpu


class Contest(Struct):
    """One kind of question on one store, with everybody who answers it; the first side is ours."""

    store: str
    kind: str
    sides: list[Side]
    arguments: Arguments
    servers: tuple[int, ...] = ()
    differing: list[str] = []


class Effort(Struct, frozen=True):
    """How long to measure."""

    repetitions: int = 3
    seconds: float = 0.3
    """How long a sample lasts at least."""
    most: float = 1.5
    """How long one round of questions may last."""
    retakes: int = MAX_RETAKES
    questions: int = 1_000
    """How many questions of a kind are asked at most."""


async def answer_all(job: Job, arguments: Arguments) -> list[bytes]:
    """One round of questions."""
    call: Any = job
    if inspect.iscoroutinefunction(job):
        return [await call(*given) for given in arguments]
    return [call(*given) for given in arguments]


async def check(contest: Contest, effort: Effort) -> None:
    """Let every side answer once, compare the answers, and keep as many questions as the slowest has time for."""
    contest.arguments = contest.arguments[: effort.questions]
    slowest, expected = 0.0, None
    for side in contest.sides:
        start = time.perf_counter()
        answers = await answer_all(side.jobs[contest.kind], contest.arguments)
        slowest = max(slowest, (time.perf_counter() - start) / len(answers))
        if expected is None:
            expected = answers
        elif answers != expected:
            count = sum(ours != theirs for ours, theirs in zip(expected, answers, strict=True))
            contest.differing.append(f"{side.name}: {count} of {len(answers)} answers differ")
    contest.arguments = contest.arguments[: max(1, int(effort.most / slowest))]


async def take(contest: Contest, side: Side, repetition: int, effort: Effort) -> Sample:
    """One sample, taken again when the machine was busy with something else."""
    for _ in range(effort.retakes + 1):
        sample = await _take_once(contest, side, repetition, effort)
        if sample.quiet:
            break
    return sample


async def _take_once(contest: Contest, side: Side, repetition: int, effort: Effort) -> Sample:
    job, count = side.jobs[contest.kind], 0
    watch = Stopwatch(contest.servers)
    end = time.perf_counter() + effort.seconds
    while not count or time.perf_counter() < end:
        await answer_all(job, contest.arguments)
        count += len(contest.arguments)
    spent = watch.read()
    return Sample(
        contest.store,
        contest.kind,
        side.name,
        repetition,
        spent.wall / count,
        spent.own / count,
        spent.server / count,
        count,
        round(spent.foreign, 3),
        spent.is_quiet,
    )


async def sample_all(contests: list[Contest], effort: Effort, tell: Tell) -> list[Sample]:
    """All samples of all contests, interleaved."""
    random, samples = Random(1), []
    pairs = [(contest, side) for contest in contests for side in contest.sides]
    for repetition in range(effort.repetitions):
        random.shuffle(pairs)
        for number, (contest, side) in enumerate(pairs, start=1):
            tell(f"repetition {repetition + 1}/{effort.repetitions}: {number}/{len(pairs)}")
            samples.append(await take(contest, side, repetition, effort))
    return samples


class Figure(Struct, frozen=True):
    """What one side needs for a kind of question, and how ours compares with it."""

    store: str
    kind: str
    side: str
    micros: float
    cpu_micros: float
    ratio: float | None
    """Our time divided by theirs, in the same repetition; None for ourselves."""
    lowest: float | None
    highest: float | None
    cpu_ratio: float | None
    """The same for CPU time, the server's included; neighbours hardly move it."""
    quiet: int
    samples: int

    @property
    def is_quiet(self) -> bool:
        """Whether the wall clock can be trusted."""
        return self.quiet > 0


def figures(contest: Contest, samples: Sequence[Sample]) -> list[Figure]:
    """Medians, and ratios of samples from the same repetition."""
    by_side = {
        side.name: {
            s.repetition: s for s in samples if (s.store, s.kind, s.side) == (contest.store, contest.kind, side.name)
        }
        for side in contest.sides
    }
    ours = by_side[contest.sides[0].name]
    return [_figure(contest, name, theirs, ours) for name, theirs in by_side.items()]


def _figure(contest: Contest, side: str, theirs: dict[int, Sample], ours: dict[int, Sample]) -> Figure:
    taken = _quiet_samples(list(theirs.values()))
    pairs = [r for r in theirs if r in ours]
    quiet = [r for r in pairs if theirs[r].quiet and ours[r].quiet]
    counted = [] if theirs is ours else quiet or pairs
    ratios = [ours[r].seconds / theirs[r].seconds for r in counted]
    cpu_ratios = [ours[r].all_cpu / max(theirs[r].all_cpu, 1e-9) for r in counted]
    return Figure(
        contest.store,
        contest.kind,
        side,
        median(s.seconds for s in taken) * 1e6,
        median(s.all_cpu for s in taken) * 1e6,
        median(ratios) if ratios else None,
        min(ratios, default=None),
        max(ratios, default=None),
        median(cpu_ratios) if cpu_ratios else None,
        len(quiet),
        len(theirs),
    )


def _quiet_samples(samples: list[Sample]) -> list[Sample]:
    """The quiet samples, or all when none was."""
    return [sample for sample in samples if sample.quiet] or samples
