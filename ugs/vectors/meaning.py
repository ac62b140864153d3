"""The embedder with a model: WordLlama's token vectors, trained to bring sentences of like meaning together.

The weights come inside its wheel, so it reaches no network either. Needs the extra `embeddings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ugs.reads.near import BALANCE, Vector, on_sphere

WIDTH = 256


class MeaningEmbedder:
    """Texts by what their words mean."""

    name = "wordllama-256-1"
    dimension = WIDTH + BALANCE
    related = 0.25

    def __init__(self) -> None:
        import wordllama

        # It looks for its own tokenizer in the wrong folder; as a cache its package is found whole.
        inside = Path(wordllama.__file__).parent
        self._model: Any = wordllama.WordLlama.load(dim=WIDTH, cache_dir=inside, disable_download=True)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return [on_sphere(values) for values in self._model.embed(list(texts)).tolist()]
