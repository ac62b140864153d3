"""Extractors: read statements out of a text. Found by name among the entry points of the group `ugs.extractors`.

An entry point is called with `ExtractorOptions` and gives an `Extractor`; any package may add one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, cast

from msgspec import Struct

from ugs.errors import InvalidSyntax
from ugs.extraction.commands import Claim
from ugs.support.entry_points import declared, load

GROUP = "ugs.extractors"


class ExtractionFailed(Exception):
    """A note cannot be read now; `final`: another try would not help. No caller sees it, only the queue."""

    def __init__(self, message: str, final: bool = False) -> None:
        super().__init__(message)
        self.message, self.final = message, final


class ExtractorOptions(Struct, frozen=True):
    """What the settings say about the extractor; each takes what it needs."""

    url: str = ""
    model: str = ""
    key_file: Path | None = None
    seconds: float = 60.0


class Extractor(Protocol):
    """Reads statements out of texts."""

    @property
    def name(self) -> str:
        """What it is called in the log, with its model where it has one."""

    def extract(self, text: str, predicates: Sequence[str]) -> list[Claim]:
        """The statements of a text, which is data and never an instruction; `predicates` are those in use.

        Called in a worker thread, once per note and try. Raises `ExtractionFailed`.
        """


def extractor_names() -> list[str]:
    """The names of all installed extractors."""
    return sorted(declared(GROUP))


def extractor_for(name: str, options: ExtractorOptions) -> Extractor:
    """A new extractor of this name."""
    value = declared(GROUP).get(name)
    if value is None:
        raise InvalidSyntax(f"there is no extractor {name!r}: known are {', '.join(extractor_names())}", extractor=name)
    return cast(Callable[[ExtractorOptions], Extractor], load(value))(options)
