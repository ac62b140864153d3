"""Reading the pages: their blocks, links and headings.

A block whose first line says `sh run` or `python run` is executed by the tests; a following `out` block is what it must
print, where `…` stands for anything. A `sh serve` block is a server that runs until the end of the page.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
PAGES = sorted([*(PROJECT / "docs").glob("*.md"), PROJECT / "README.md"])
FENCE = re.compile(r"^```(\w+)(?: (run|out|serve))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced piece of a page."""

    language: str
    role: str
    text: str


def page(name: str) -> str:
    return (PROJECT / "docs" / name).read_text("utf-8")


def blocks(text: str) -> list[Block]:
    return [Block(*found.groups(default="")) for found in FENCE.finditer(text)]


def links(text: str) -> Iterator[str]:
    """The targets of links and pictures outside of code."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    yield from re.findall(r"\]\(([^)\s]+)\)", prose)


def anchors(text: str) -> set[str]:
    """The fragments that a page's headings can be reached by."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
