"""Values and addresses, without any store."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugs.errors import InvalidJSON, InvalidSyntax, LimitExceeded
from ugs.identity import ID_LENGTH
from ugs.values import (
    MAX_DATA_BYTES,
    MAX_DEPTH,
    MAX_KEY,
    MAX_PROPERTIES,
    VERSION_DIGITS,
    Address,
    check_value,
    check_weight,
    data_text,
    encode_plain_values,
    find_addresses,
    from_text,
    is_plain,
    is_plain_text,
    parse_address,
    parse_json,
    plain_properties,
    properties_text,
    same_value,
    to_text,
    whole,
)

ids = st.from_regex(r"(?:(?:user|project|scratch):)?[a-zA-Z_][a-zA-Z0-9_-]{0,20}", fullmatch=True)
json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
    )
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc.é", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(ids, st.one_of(st.none(), st.integers(1, 10**12)))
def test_every_address_prints_and_parses_to_itself(id: str, version: int | None) -> None:
    address = Address(id, version)

    assert parse_address(str(address)) == address


@given(st.text())
def test_any_text_parses_to_nothing_or_back_to_itself(text: str) -> None:
    address = parse_address(text)

    assert address is None or str(address) == text


@pytest.mark.parametrize("text", ["@(a:01)", "@(a:)", "@(a)\n", "@(user:)", "@(a:1:2)", "@@(a)", f"@({'a' * 257})"])
def test_near_misses_are_no_addresses(text: str) -> None:
    assert parse_address(text) is None


@pytest.mark.parametrize("value", [None, 7, ["@(a)"], b"@(a)"])
def test_only_texts_are_addresses(value: object) -> None:
    assert parse_address(value) is None


@given(json_values)
def test_canonical_text_keeps_a_value_exactly(value: Any) -> None:
    check_value(value)

    text = to_text(value)

    assert repr(from_text(text)) == repr(from_text(to_text(from_text(text))))
    assert same_value(from_text(text), value)
    assert to_text(from_text(text)) == text


def test_canonical_text_sorts_keys_and_has_no_spaces() -> None:
    assert to_text({"b": [1, 2.0, "é"], "a": {"d": None, "c": True}}) == '{"a":{"c":true,"d":null},"b":[1,2.0,"é"]}'


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [(1, 1.0, True), (1, True, False), (0, False, False), ("1", 1, False), (None, False, False), ([1], [1.0], True)],
)
def test_equality_is_by_kind_and_numbers_by_value(left: Any, right: Any, same: bool) -> None:
    assert same_value(left, right) is same


def test_only_a_map_is_plain_properties() -> None:
    assert plain_properties({"a": 1}) == '{"a":1}' and plain_properties({}) == "{}"
    assert plain_properties({f"k{number}": 1 for number in range(MAX_PROPERTIES)}) is not None
    assert plain_properties({f"k{number}": 1 for number in range(MAX_PROPERTIES + 1)}) is None
    for other in ([], [1], "text", 1, None, True):
        assert plain_properties(other) is None


def test_data_may_be_as_long_as_the_limit() -> None:
    longest = "x" * (MAX_DATA_BYTES - 2)
    assert data_text(longest) == f'"{longest}"'
    with pytest.raises(LimitExceeded):
        data_text(longest + "x")


def test_an_address_may_be_as_long_as_an_id_and_a_version() -> None:
    id, version = "x" * ID_LENGTH, "9" * VERSION_DIGITS
    assert parse_address(f"@({id})") == Address(id) and parse_address(f"@({id}x)") is None
    assert parse_address(f"@(a:{version})") == Address("a", int(version)) and parse_address(f"@(a:{version}9)") is None


def test_addresses_are_found_with_their_paths() -> None:
    value = {"a": "@(x)", "b": ["no", {"c": "@(user:y:2)"}]}

    assert [(path, str(address)) for path, address in find_addresses(value, "properties")] == [
        ("properties.a", "@(x)"),
        ("properties.b[1].c", "@(user:y:2)"),
    ]


@pytest.mark.parametrize("text", ["", "{", "[1,]", "tru", "\x00", b"\xff\xfe", "[" * 100_000, '"\\ud800"', "1e999"])
def test_what_is_not_json_is_told_so(text: str | bytes) -> None:
    with pytest.raises(InvalidJSON):
        parse_json(text)


def test_thirty_two_levels_are_the_most() -> None:
    value: Any = 1
    for _ in range(32):
        value = [value]
    check_value(value)

    with pytest.raises(InvalidJSON, match="deeper than 32"):
        check_value([value])


def test_a_message_names_the_place_and_never_prints_a_huge_number() -> None:
    with pytest.raises(InvalidJSON, match=r"properties\.a\[1\]: an integer of 3322 bits") as refused:
        properties_text({"a": [0, 10**1000]})
    assert refused.value.details["path"] == "properties.a[1]"


def test_sizes_are_bounded() -> None:
    with pytest.raises(LimitExceeded):
        properties_text({f"k{n}": n for n in range(1001)})
    with pytest.raises(LimitExceeded):
        properties_text({"k": "x" * (1 << 20)})
    assert data_text(None) is None


@pytest.mark.parametrize(
    ("given", "kept"), [(1.0, 1), (1, 1), (0.5, 0.5), (2**53, 2.0**53), (-3.0, -3), (1e300, 1e300), (-0.0, 0)]
)
def test_weights_look_the_same_whatever_number_they_were(given: Any, kept: Any) -> None:
    assert (check_weight(given), type(check_weight(given))) == (kept, type(kept))
    assert whole(float(given)) == kept


@pytest.mark.parametrize("weight", [True, "1", None, float("nan"), float("-inf"), 2**53 + 1, 10**400])
def test_weights_that_a_float_cannot_keep_are_refused(weight: Any) -> None:
    with pytest.raises(InvalidSyntax):
        check_weight(weight)


odd_values: Any = st.recursive(
    json_values
    | st.sampled_from([2**63, -(2**63) - 1, float("nan"), float("inf"), "\x00", "\ud800", (1,), {1: 2}, {"": 1}]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=2),
    max_leaves=4,
)


@given(st.lists(json_values | odd_values, min_size=1, max_size=5), st.sampled_from([1, 8]))
def test_many_values_are_plain_when_each_of_them_is(values: list[Any], times: int) -> None:
    many = values * times
    expected = [to_text(value) for value in many] if all(is_plain(value, MAX_DEPTH) for value in values) else None
    assert encode_plain_values(many, 10_000) == expected


def test_many_values_have_their_bounds() -> None:
    deep: Any = "end"
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert encode_plain_values([deep] * 30, 1_000) == [to_text(deep)] * 30
    assert encode_plain_values([[deep]] * 30, 1_000) is None
    assert encode_plain_values(["x" * 9] * 30, 10) is None


@pytest.mark.parametrize("raw", [b'{"a": 1, "b": [true, null, -2.5, "text"]}', b"{}", b'{"a": {"b": 123456789012345}}'])
def test_plain_json_is_judged_by_its_text(raw: bytes) -> None:
    assert is_plain_text(raw, 5)


@pytest.mark.parametrize(
    "raw",
    [
        *(
            b'{"": 1}',
            b'{"a": ""}',
            rb'{"a": "\u0000"}',
            '{"a": "é"}'.encode(),
            b'{"a": 1e400}',
            b'{"a": 12345678901234567890}',
        ),
        *(b'{"a": [[[[[1]]]]]}', b'{"a": "' + b"x" * MAX_KEY + b'"}'),
    ],
)
def test_json_that_may_not_be_plain_is_not_judged_by_its_text(raw: bytes) -> None:
    assert not is_plain_text(raw, 5)
