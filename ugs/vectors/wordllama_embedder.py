"""The word embedder: WordLlama's token vectors, trained for sentence similarity.

The weights are part of its wheel, so no network is used. Needs the extra `embeddings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ugs.reads.vector_search import BALANCE, Vector, on_sphere

DIMENSION = 256


class WordLlamaEmbedder:
    """Mean of token vectors."""

    name = "wordllama-256-1"
    dimension = DIMENSION + BALANCE
    related = 0.25

    def __init__(self) -> None:
        import wordllama

        # It looks for its own tokenizer in the wrong folder; as a cache its package is found whole.
        inside = Path(wordllama.__file__).parent
        self._model: Any = wordllama.WordLlama.load(dim=DIMENSION, cache_dir=inside, disable_download=True)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return [on_sphere(values) for values in self._model.embed(list(texts)).tolist()]
