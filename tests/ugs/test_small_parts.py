"""Identifiers, the clock, errors, words and event lines: small parts that need no store."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugs.catalog import Catalog
from ugs.changes import NewElements
from ugs.clock import FixedClock, WallClock, now_at_least
from ugs.errors import InvalidSyntax, UgsError, Unavailable, VersionConflict, all_errors
from ugs.events import (
    GENESIS_CRC,
    Event,
    Idem,
    SealedEvents,
    Tx,
    encode_without_crc,
    event_id,
    from_line,
    line_crc,
    seal,
    to_line,
)
from ugs.graph.api import Graph
from ugs.graph.model import NODES
from ugs.graph.text.tokenizer import node_words, rarity, relevance, split_words, tokens, word_parts
from ugs.identity import Scope, are_identifiers, check_identifier, is_identifier, scope_of
from ugs.log.replay import state_digest
from ugs.storage import Session, Storage
from ugs.system import System
from ugs.values import MAX_KEY, JsonText, check_type, to_text
from ugs_backends.memory.storage import MemoryStorage


@pytest.mark.parametrize("id", ["a", "_", "user:a", "scratch:_-9", "a" * 256, "user"])
def test_identifiers(id: str) -> None:
    assert check_identifier(id) == id


@pytest.mark.parametrize("id", ["", "9", "user:", "other:a", "a:b", "a\n", "a b", "é", "a" * 257, None, 7])
def test_what_is_no_identifier_is_refused_with_what_to_do(id: object) -> None:
    with pytest.raises(InvalidSyntax, match="use letters, digits"):
        check_identifier(id)


@given(
    st.lists(
        st.sampled_from(["a", "user:a", "_-9", "a\nb", "a\n", "", "9", "a:b", "é", "a" * 256, "a" * 257]), max_size=4
    )
)
def test_identifiers_are_told_together_as_one_by_one(ids: list[str]) -> None:
    assert are_identifiers(ids) == all(map(is_identifier, ids))


def test_scopes_by_prefix() -> None:
    assert [scope_of(id) for id in ("a", "user:a", "project:a", "scratch:a")] == [
        Scope.DEFAULT,
        Scope.USER,
        Scope.PROJECT,
        Scope.SCRATCH,
    ]


def test_the_clock_never_falls_behind_its_floor() -> None:
    clock = FixedClock(100)
    assert (now_at_least(clock, 50), now_at_least(clock, 150)) == (100, 150)
    assert WallClock().now() > 1_700_000_000_000


def test_every_error_has_a_code_and_a_sentence_of_its_own() -> None:
    errors = list(all_errors())

    assert all(error.code and error.summary != UgsError.summary for error in errors)
    assert {error.code for error in errors} >= {f"E00{n}" for n in range(1, 10)}


def test_words_are_folded_and_parted() -> None:
    assert split_words("Hello, WORLD foo_bar x-1 ﬁn ÉTÉ") == ["hello", "world", "foo_bar", "x-1", "fin", "été"]
    assert word_parts("foo_bar-baz") == ["foo", "bar", "baz"]
    assert word_parts("plain") == []
    assert sorted(tokens("a_b c")) == ["a", "a_b", "b", "c"]
    assert split_words("x" * 129) == []


def test_a_nodes_words_are_weighed_by_place() -> None:
    words = node_words("fox", "fox", '{"x":"fox box","y":["@(fox)"]}', '{"z":[1.5,true,"box"]}')

    assert words["fox"] == 4 + 2 + 1
    assert words["box"] == 1 + 0.5
    assert (words["1"], words["5"], words["true"]) == (0.5, 0.5, 0.5)
    assert words["@(fox)"] == 0


def test_relevance_grows_with_rarity_and_place() -> None:
    assert rarity(10, 0) == 0
    assert rarity(10, 1) > rarity(10, 9) > 0
    assert relevance({"a": 4.0, "b": 1.0}, {"a": 0.5, "b": 2.0}) == 4.0


def element_of(type: str, data: object) -> str | None:
    return data.get("id") if isinstance(data, dict) else None


texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8)
events = st.builds(
    Event,
    position=st.integers(1, 2**40),
    id=texts,
    timestamp=st.integers(0, 2**45),
    type=st.sampled_from(["NodeAdded", "EdgeDeleted"]),
    data=st.dictionaries(texts.filter(lambda key: key != "id"), texts, max_size=2).map(to_text),
    version=st.one_of(st.none(), st.integers(1, 9)),
    by=st.one_of(st.none(), texts),
    tx=st.one_of(st.none(), st.builds(Tx, texts, st.integers(0, 9), st.integers(1, 9))),
    idem=st.one_of(st.none(), st.builds(Idem, texts, texts, st.integers(1, 4), st.just(({"b": "1", "a": "2"},)))),
)


@given(events, st.integers(0, 2**32 - 1))
def test_a_sealed_line_reads_back_as_the_event(event: Event, previous: int) -> None:
    sealed = seal(event, f"{previous:08x}")
    line = to_line(sealed)

    assert from_line(line, 0, element_of) == sealed
    assert line.endswith(f',"crc":"{sealed.crc}"}}'.encode())
    assert sealed.crc == line_crc(encode_without_crc(event), f"{previous:08x}")


@given(st.lists(events, min_size=1, max_size=3), st.none() | texts | st.sampled_from(["ann", "é", "_x1"]))
def test_events_sealed_together_have_the_lines_of_single_ones(batch: list[Event], by: str | None) -> None:
    ours = [
        msgspec.structs.replace(event, id=event_id(event.timestamp, event.position), by=None, tx=None, idem=None)
        for event in batch
    ]
    sealed = SealedEvents()
    sealed.seal(ours, GENESIS_CRC, by, None)

    assert sealed.lines == [to_line(event) for event in sealed]
    assert [event.by for event in sealed] == [by] * len(batch)


@given(
    st.lists(st.tuples(st.lists(texts.map(to_text), min_size=1, max_size=3), st.none() | texts), max_size=4),
    st.integers(0, 2**32 - 1),
)
def test_events_of_new_elements_are_sealed_like_any_others(
    commands: list[tuple[list[JsonText], str | None]], previous: int
) -> None:
    data = [text for some, _ in commands for text in some]
    keys = [f"n{number}" for number in range(len(data))]
    new = NewElements("NodeAdded", data, keys, [len(some) for some, _ in commands], NODES, keys)
    authors, sealed, usual = [by for _, by in commands], SealedEvents(), SealedEvents()
    found = sealed.seal_new(new, authors, 5, 7, f"{previous:08x}")
    crc = f"{previous:08x}"
    for events, by in zip(found, authors, strict=True):
        alone = [msgspec.structs.replace(event, by=None, tx=None, crc=None) for event in events]
        usual.seal(alone, crc, by, None)
        crc = alone[-1].crc or ""

    assert sealed == usual == [event for events in found for event in events]
    assert sealed.lines == usual.lines
    assert [event.position for event in sealed] == list(range(7, 7 + len(data)))
    assert [(event.element, event.data) for event in sealed] == list(zip(keys, data, strict=True))


def test_a_line_begins_with_the_seeds_four_keys() -> None:
    event = Event(position=7, id=event_id(5, 7), timestamp=5, type="NodeDeleted", data=JsonText('{"id":"a"}'))

    assert to_line(seal(event, GENESIS_CRC)).startswith(
        b'{"id":"evt_5_7","timestamp":5,"type":"NodeDeleted","data":{"id":"a"},"seq":7,"crc":"'
    )


def test_a_line_is_the_same_whatever_order_its_maps_were_in() -> None:
    one, other = ({"code": "W", "message": "m"}, {"message": "m", "code": "W"})
    event = Event(position=1, id="e", timestamp=1, type="t", data=JsonText("{}"), idem=Idem("k", "h", 1, (one,)))

    assert to_line(event) == to_line(msgspec.structs.replace(event, idem=Idem("k", "h", 1, (other,))))


def test_a_foreign_line_keeps_its_unknown_keys_and_takes_its_place() -> None:
    line = b'{"id":"x","timestamp":3,"type":"NodeAdded","data":{"id":"a","b":1},"zone":[1]}'

    event = from_line(line, 9, element_of)

    assert (event.position, event.element, event.crc, event.extra) == (9, "a", None, '{"zone":[1]}')
    assert event.data == '{"b":1,"id":"a"}'


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"id":1}', b'{"id":"x","timestamp":1,"type":"t","data":[]}'])
def test_a_broken_line_is_refused(line: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, msgspec.ValidationError)):
        from_line(line, 1, element_of)


def test_is_identifier_agrees_with_the_check() -> None:
    assert is_identifier("user:a") and not is_identifier("user:")


async def test_copies_and_rebuilds_take_stock_and_do_not_fail_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = list[Storage]()

    async def refuse(storage: Storage) -> None:
        counted.append(storage)
        raise Unavailable("not now")

    monkeypatch.setattr(MemoryStorage, "analyze", refuse)
    async with System.at_url("memory:") as source, System.at_url("memory:") as target:
        await Graph(source).load_demo()
        assert await source.copy_to(target.storage) == await source.digest()
        await target.rebuild()
        assert counted == [target.storage, target.storage]


@pytest.mark.parametrize("type", [None, "T", "a b", "x" * MAX_KEY])
def test_a_type_is_text_or_nothing(type: object) -> None:
    assert check_type(type) == type


@pytest.mark.parametrize("type", ["", "x" * (MAX_KEY + 1), 7, ["T"], {}])
def test_what_is_no_type_is_refused(type: object) -> None:
    with pytest.raises(InvalidSyntax, match="type must be text of 1 to"):
        check_type(type)


@pytest.mark.parametrize(("current", "words"), [(None, "it does not exist"), (3, "it is at version 3")])
def test_a_version_conflict_says_what_was_found(current: int | None, words: str) -> None:
    assert (
        VersionConflict("a", 2, current).message
        == f"a was expected at version 2, but {words}. Read it again and retry."
    )


@pytest.mark.parametrize("moves", [False, True])
async def test_position_and_digest_are_of_one_state(moves: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that moves while its digest is computed is read again, and one that stands still is read once."""
    digests: list[str] = []
    async with System.at_url("memory:") as system:

        async def compute(session: Session, catalog: Catalog) -> str:
            digests.append(await state_digest(session, catalog))
            if moves and len(digests) == 1:
                await Graph(system).add_node("late")
            return digests[-1]

        monkeypatch.setattr("ugs.system.state_digest", compute)
        position, digest = await system._position_and_digest()
        assert (position, len(digests)) == ((1, 2) if moves else (0, 1))
        async with system.session() as session:
            assert digest == await state_digest(session, system.catalog)
