"""Patterns: right where Python's own are right, and quick where those are not."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.work import TIMED
from ugs.errors import InvalidSyntax
from ugs.regex.json_schema_pattern import MAX_TEXT_CHARS, Pattern, pattern

SAME = [
    "", "a", "^a$", "abc", "a|b", "^(a|b)$", "a*", "^a*$", "a+b?", "^[a-c]+$", "[^a]", "^\\d{3}-\\d{2}$", "^\\w+@\\w+\\.com$",
    "^(ab|cd){2,3}$", "x{2}", "x{2,}", "^x{0,2}$", "(a*)*", "^((a|b)*c)+$", ".", "^.$", "\\.", "[a\\]b]", "[-a]", "[a-]",
    "^(?:ab)+$", "\\s", "\\S\\D\\W", "^\\t$", "[\\d.]+", "^$", "(|a)b",
]  # fmt: skip
TEXTS = [
    "", "a", "b", "ab", "abc", "aaa", "ba", "xx", "xxx", "abab", "ababcd", "cdcdcd", "123-45", "me@here.com", "acbc",
    "a]b", "-", ".", "\n", "\t", "1.2.3", " ", "é", "a\nb", "_", "A1",
]  # fmt: skip


@pytest.mark.parametrize("text", SAME)
def test_patterns_mean_what_they_mean_elsewhere(text: str) -> None:
    ours, theirs = Pattern(text), re.compile(text.replace("$", "\\Z"), re.ASCII)
    assert {one: ours.matches(one) for one in TEXTS} == {one: theirs.search(one) is not None for one in TEXTS}


ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "\\w", "(a|bb)", "(?:ab)"])
PIECES = st.tuples(ATOMS, st.sampled_from(["", "*", "+", "?", "{2}", "{1,2}", "{0,}"])).map("".join)
RANDOM = st.lists(st.lists(PIECES, max_size=4).map("".join), min_size=1, max_size=3).map("|".join)


@settings(max_examples=150, deadline=None)
@given(RANDOM, st.text("abc", max_size=8), st.booleans())
def test_random_patterns_mean_the_same(text: str, word: str, bound: bool) -> None:
    whole = f"^({text})$" if bound else text
    assert Pattern(whole).matches(word) is (re.search(whole.replace("$", "\\Z"), word) is not None)


@pytest.mark.parametrize(
    "text",
    ["(", ")", "a)", "[", "[a", "*", "+a", "a**", "a{", "a{x}", "a{2,1}", "a{9999}", "\\1", "(?=a)", "(?<a>b)", "\\p{L}",
     "[z-a]", "a\\", "a$b", "a^b", "^a|b$", "x" * 501, "(" * 30 + ")" * 30, "((a{50}){50}){50}", "a{1,2"],
)  # fmt: skip
def test_what_is_no_pattern_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidSyntax):
        pattern(text)


@TIMED
@pytest.mark.parametrize("text", ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_no_pattern_explodes(text: str) -> None:
    started = time.process_time()
    assert not pattern(text).matches("a" * (MAX_TEXT_CHARS - 1) + "!")
    assert time.process_time() - started < 2
