"""Embedders: turn texts into vectors, so that texts with similar meaning have a high cosine similarity.

An embedder is found by name among the entry points of the group `ugs.embedders`; any package may add one. The default
needs only Python, gives the same vector on every machine, and uses no network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol, cast, runtime_checkable

from ugs.errors import InvalidSyntax
from ugs.reads.vector_search import Vector
from ugs.support.entry_points import declared, load

GROUP = "ugs.embedders"
SETTING = "UGS_EMBEDDER"
"""The environment variable that names the embedder."""
DEFAULT = "hashing"


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """Unique per vector space: stored vectors of another name are recomputed."""

    @property
    def dimension(self) -> int:
        """The number of components of its vectors."""

    @property
    def related(self) -> float:
        """The cosine similarity above which two texts are usually related."""

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """The vector of each text (`ugs.reads.vector_search.on_sphere`); None for a text without content words. Called
        in a worker thread.
        """


def embedder_names() -> list[str]:
    """The names of all installed embedders."""
    return sorted(declared(GROUP))


@cache
def embedder_for(name: str) -> Embedder:
    """The embedder with this name, created on first use."""
    value = declared(GROUP).get(name)
    if value is not None:
        return _create(name, value)
    raise InvalidSyntax(f"there is no embedder {name!r}: known are {', '.join(embedder_names())}", embedder=name)


def _create(name: str, value: str) -> Embedder:
    try:
        made = cast(Callable[[], Embedder], load(value))()
    except ImportError as error:
        raise InvalidSyntax(
            f"the embedder {name!r} needs the package {error.name!r}: install it, or the extra that brings it",
            embedder=name,
        ) from error
    return made
