"""Embedders: what turns a text into a vector, so that texts of like meaning have vectors that point alike.

One is found by its name among the entry points of the group `ugs.embedders`; anybody may add another. The default
needs nothing but Python, gives the same vector on every machine, and reaches no network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol, cast, runtime_checkable

from ugs.errors import InvalidSyntax
from ugs.installed import declared, load
from ugs.reads.near import Vector

GROUP = "ugs.embedders"
SETTING = "UGS_EMBEDDER"
"""The variable of the environment that names the embedder."""
DEFAULT = "hashing"


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """Another name for every embedder whose vectors differ: stored vectors of another name are made anew."""

    @property
    def dimension(self) -> int:
        """How many components its vectors have."""

    @property
    def related(self) -> float:
        """The similarity from which on two texts usually have to do with each other."""

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """The vector of each text (`ugs.reads.near.on_sphere`); None for one that says nothing. Called in a thread."""


def embedder_names() -> list[str]:
    """The embedders that can be named."""
    return sorted(declared(GROUP))


@cache
def embedder_for(name: str) -> Embedder:
    """The embedder of this name, made when first asked for."""
    value = declared(GROUP).get(name)
    if value is not None:
        return _made(name, value)
    raise InvalidSyntax(f"there is no embedder {name!r}: known are {', '.join(embedder_names())}", embedder=name)


def _made(name: str, value: str) -> Embedder:
    try:
        made = cast(Callable[[], Embedder], load(value))()
    except ImportError as error:
        raise InvalidSyntax(
            f"the embedder {name!r} needs the package {error.name!r}: install it, or the extra that brings it",
            embedder=name,
        ) from error
    return made
