"""Words: looking only for some of them gives what cutting the whole node gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugs.graph.text.tokenizer import (
    MAX_CONTENT_WORDS,
    MAX_INDEXED_CONTENT_CHARS,
    MAX_WORD_CHARS,
    WORD,
    content_words,
    id_tokens,
    max_word_weight,
    node_words,
    query_word_weights,
    split_words,
    tokens,
)
from ugs.values import to_text

LETTERS = st.text(st.sampled_from("abßıİﬁ éÉ\u0301-_09eE.\n@()"), max_size=12)
LEAVES = LETTERS | st.booleans() | st.none() | st.integers(-20, 20) | st.sampled_from([1e-05, 1e22, 0.1, 12.5])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LETTERS, inner, max_size=3))


@given(
    st.sampled_from(["n1", "auth-service_2", "user:Ann"]),
    st.none() | LETTERS,
    st.dictionaries(LETTERS, VALUES, max_size=3),
    st.none() | VALUES,
    LETTERS,
)
def test_asking_for_some_words_gives_the_weights_they_have_among_all(id, type, properties, data, query):
    given = (id, type, to_text(properties), None if data is None else to_text(data))
    everything = node_words(*given)

    for asked in (set(split_words(query)), set(list(everything)[:3]), {"1e-05", "1e", "05", "true", "2"}):
        wanted = {word: weight for word, weight in everything.items() if word in asked and not word.startswith("@(")}
        assert query_word_weights({word for word in asked if not word.startswith("@(")}, *given) == wanted
        assert all(max_word_weight(word, *given) >= weight for word, weight in wanted.items())


@given(
    st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_-]{0,140}", fullmatch=True)
    | LETTERS
    | st.text(st.sampled_from("aZ_-:9 é"), max_size=12)
)
def test_the_words_of_an_id_are_those_of_any_text_and_the_whole(id):
    assert id_tokens(id) == {id.lower(), *tokens(id)}


def test_words_and_their_parts_are_found_in_every_place_and_add_up():
    words = node_words("auth-service", "svc", '{"name":"Auth Service","see":"@(bob)"}', '{"port":8080,"up":true}')

    assert words["auth"] == 4.0 + 1.0 and words["auth-service"] == 4.0 and words["svc"] == 2.0
    assert words["8080"] == words["true"] == 0.5 and words["@(bob)"] == 0.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Auth-Service, auth @(bob)", ["auth-service", "auth", "service", "bob"]),
        (" " * (MAX_INDEXED_CONTENT_CHARS + 1), []),
        ("a\n" * MAX_INDEXED_CONTENT_CHARS, ["a"]),
        ("x " + "y" * MAX_INDEXED_CONTENT_CHARS, ["x"]),
        ("東京 " + "京都。" * MAX_INDEXED_CONTENT_CHARS, ["東京", "京都"]),
        ("y" * (MAX_INDEXED_CONTENT_CHARS + 1), []),
    ],
)
def test_content_is_cut_into_the_words_that_come_first(text: str, words: list[str]) -> None:
    assert content_words(text) == dict.fromkeys(words, 0.5)


def test_the_words_of_a_content_are_counted() -> None:
    kept = content_words(" ".join(f"w-{number}" for number in range(MAX_CONTENT_WORDS)))
    assert len(kept) == MAX_CONTENT_WORDS and list(kept)[:5] == ["w-0", "w", "0", "w-1", "1"]


@given(st.text(st.characters(max_codepoint=127), max_size=300))
def test_ascii_is_cut_as_any_text_is(text: str) -> None:
    assert split_words(text) == [word for word in WORD.findall(text.casefold()) if len(word) <= MAX_WORD_CHARS]
