"""The comparisons from the command line: `python -m bench`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from bench.page import html
from bench.questions import KINDS
from bench.results import Results, parse_size
from bench.runner import PARTS, Plan, run
from bench.sampler import Effort
from bench.stores import STORES, Store
from bench.table import lines

BUILD = Path(__file__).resolve().parent.parent / "build" / "bench"
EFFORTS = {"quick": Effort(repetitions=3, seconds=0.3), "full": Effort(repetitions=5, seconds=1.0, most=5.0)}


def main(arguments: list[str] | None = None) -> int:
    asked = parser().parse_args(arguments)
    results = asyncio.run(run(plan_from(asked), progress()))
    print("\n".join(lines(results)))
    keep(results, asked.output)
    return 1 if any(one.differing for one in results.sizes) else 0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="our stores beside raw drivers and libraries")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="10k and 100k nodes, short samples (default)")
    how.add_argument("--full", action="store_true", help="also 1M nodes on memory and SQL, longer samples")
    parser.add_argument("--sizes", type=_sizes, help="numbers of nodes, for instance 10k,100k,1M")
    parser.add_argument("--stores", type=_names(STORES), default=tuple(STORES), help=f"of {','.join(STORES)}")
    parser.add_argument("--only", type=_names((*PARTS, *KINDS)), help=f"of {','.join((*PARTS, *KINDS))}")
    parser.add_argument("--repetitions", type=int, help="how often everything is sampled")
    parser.add_argument("--seconds", type=float, help="how long a sample lasts at least")
    parser.add_argument("--questions", type=int, help="how many questions of a kind are asked at most")
    parser.add_argument("--retakes", type=int, help="how often a sample is taken again on a busy machine")
    parser.add_argument("--output", type=Path, default=BUILD, help="folder for data, results.json and results.html")
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted(parse_size(part) for part in text.split(",")))


def _names(known: Iterable[str]) -> Callable[[str], tuple[str, ...]]:
    allowed = tuple(known)

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        unknown = [name for name in names if name not in allowed]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {', '.join(allowed)}")
        return names

    return parse


def plan_from(asked: argparse.Namespace) -> Plan:
    """The plan that the options describe."""
    effort = EFFORTS["full" if asked.full else "quick"]
    for name in ("repetitions", "seconds", "questions", "retakes"):
        if getattr(asked, name) is not None:
            effort = msgspec.structs.replace(effort, **{name: getattr(asked, name)})
    sizes = asked.sizes or ((10_000, 100_000, 1_000_000) if asked.full else (10_000, 100_000))
    only = asked.only or PARTS
    kinds = tuple(kind for kind in KINDS if kind in only)
    parts = tuple(part for part in PARTS if part in only or (part == "reads" and kinds))
    return Plan(asked.output / "data", sizes, asked.stores, kinds or KINDS, parts, effort, largest_for(asked))


def largest_for(asked: argparse.Namespace) -> Callable[[Store], int]:
    """Whoever names sizes gets them; else a store takes part as far as its loading allows in the time."""
    if asked.sizes:
        return lambda store: max(asked.sizes)
    return lambda store: store.largest if asked.full else store.largest_quick


def progress() -> Callable[[str], None]:
    """Shows what is going on: one line that changes, or on a pipe one line now and then."""
    if not sys.stderr.isatty():
        return _plain()

    def tell(text: str) -> None:
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    return tell


def _plain() -> Callable[[str], None]:
    last = ""

    def tell(text: str) -> None:
        nonlocal last
        title = text.partition(":")[0]
        if title != last:
            print(text, file=sys.stderr, flush=True)
        last = title

    return tell


def keep(results: Results, folder: Path) -> None:
    """Write the results beside each other as data and as a page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_bytes(msgspec.json.format(msgspec.json.encode(results)))
    (folder / "results.html").write_text(html(results))
    print(f"\n{folder / 'results.json'}\n{folder / 'results.html'}\n{results.seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
