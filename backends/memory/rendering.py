"""Answers written straight from the rows in memory: related rows become text where they are found.

What writes a rendering is made once and kept, and so are the texts it has written: of each row in a list, and of
what a row leads to. They stay right until the tables change, and are forgotten then, or when they become too many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from backends.memory.reading import Reader, is_whole
from backends.memory.writing import BareWriter, PageWriter, Related, page_writer, row_writer, rows_writer
from ugs.catalog import Row
from ugs.reads.plan import Nested, Order, Read, Rows
from ugs.reads.rendering import NULL, Body, Many, One, Parts, Rendering

KEPT, MOST_PAGES = 1_000, 256
MOST_BYTES = 32 << 20
"""So much text may be written before what nobody has asked for meanwhile goes; at most twice as much is kept."""
NOTHING = NULL.encode()
Start = Callable[[], None]
"""Looks at the tables anew, and forgets what was found."""


class Prepared(Struct):
    """What writes plans of one rendering that nest the same reads in the same order."""

    nest: Mapping[str, Nested]
    order: tuple[Order, ...]
    write: PageWriter
    starts: list[Start]
    seen: int = -1
    """The state of the tables that its texts belong to."""
    pages: dict[int, tuple[Read, bytes]] | None = None
    """Whole answers to plans that came again, where these are pages of rows; one row is written as quickly as found."""


class Texts:
    """What has been written, by what it is tied to; what is not asked for from one ageing to the next goes."""

    __slots__ = ("aged", "fresh")

    def __init__(self) -> None:
        self.fresh: dict[Any, bytes] = {}
        self.aged: dict[Any, bytes] = {}

    def clear(self) -> None:
        self.fresh, self.aged = {}, {}

    def age(self) -> None:
        self.fresh, self.aged = {}, self.fresh


class Renderer:
    """Writes answers to plans."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._room = MOST_BYTES
        self._kept: dict[Rendering, Prepared] = {}
        self._texts: list[Texts] = []
        self._writers: dict[tuple[Any, ...], BareWriter] = {}

    def text(self, plan: Read, rendering: Rendering) -> bytes:
        """The answer to a plan, equal to what the rendering makes of its rows."""
        kept = self._kept.get(rendering)
        if kept is None or kept.order != plan.order or (kept.nest is not plan.nest and (kept.nest or plan.nest)):
            kept = self._prepared(plan, rendering)
        if kept.seen != self.reader.changes:
            self._start(kept)
        if kept.pages is not None:
            return self._page_text(plan, kept, kept.pages)
        text = kept.write(self.reader.page(plan), plan)
        if self._room <= 0:
            self._age()
        return text

    def _page_text(self, plan: Read, kept: Prepared, pages: dict[int, tuple[Read, bytes]]) -> bytes:
        known = pages.get(id(plan))
        if known is not None and known[1]:
            return known[1]
        text = kept.write(self.reader.page(plan), plan)
        if len(pages) >= MOST_PAGES:
            pages.clear()
        # With the plan itself, or another one might get its number; with the text from the second time on.
        pages[id(plan)] = (plan, b"" if known is None else text)
        self._room -= 0 if known is None else len(text)
        if self._room <= 0:
            self._age()
        return text

    def _start(self, kept: Prepared) -> None:
        kept.seen = -1  # an index may be missing, and then nothing has begun
        for start in kept.starts:
            start()
        if kept.pages is not None:
            kept.pages.clear()
        kept.seen = self.reader.changes

    def _forget(self) -> None:
        self._kept.clear()
        self._texts.clear()
        self._room = MOST_BYTES

    def _age(self) -> None:
        for texts in self._texts:
            texts.age()
        for kept in self._kept.values():
            if kept.pages is not None:
                kept.pages.clear()
        self._room = MOST_BYTES

    def _prepared(self, plan: Read, rendering: Rendering) -> Prepared:
        starts: list[Start] = []
        root = rendering.root
        if isinstance(root, Parts):
            # Other pages show the same rows; what is related is written once for all of them anyway.
            write = page_writer(root, plan.order, lambda body: self._known_rows(body, plan, starts))
        else:
            write = self._one(root, plan, starts)
        if len(self._kept) >= KEPT:
            self._forget()
        pages: dict[int, tuple[Read, bytes]] | None = {} if isinstance(root, Parts) else None
        kept = self._kept[rendering] = Prepared(plan.nest, plan.order, write, starts, pages=pages)
        return kept

    def _one(self, body: Body, read: Read, starts: list[Start]) -> PageWriter:
        write, related = self._writer(row_writer, body, read), self._all_related(body, read, starts)
        return lambda rows, plan: write(rows.items[0], related) if rows.items else NOTHING

    def _page(self, parts: Parts, read: Read, starts: list[Start]) -> PageWriter:
        return page_writer(parts, read.order, lambda body: self._rows(body, read, starts))

    def _rows(self, body: Body, read: Read, starts: list[Start]) -> Callable[[Any], bytes]:
        """What writes rows, with the rows related to them."""
        write, related = self._writer(rows_writer, body, read), self._all_related(body, read, starts)
        return lambda rows: write(rows, related)

    def _known_rows(self, body: Body, read: Read, starts: list[Start]) -> Callable[[Any], bytes]:
        """As `_rows`, each row by itself and only once."""
        write, related = self._writer(row_writer, body, read), self._all_related(body, read, starts)
        texts, key_of = self._begun(starts), read.table.key_of

        def fresh(key: Any, row: Row) -> bytes:
            text = texts.fresh[key] = texts.aged.pop(key, b"") or write(row, related)
            self._room -= len(text)
            return text

        def rows_text(rows: Any) -> bytes:
            keys, known = map(key_of, rows), texts.fresh.get
            return b",".join([known(key) or fresh(key, row) for key, row in zip(keys, rows, strict=True)])

        return rows_text

    def _begun(self, starts: list[Start]) -> Texts:
        texts = Texts()
        self._texts.append(texts)
        starts.append(texts.clear)
        return texts

    def _writer(self, make: Callable[..., BareWriter], body: Body, read: Read) -> BareWriter:
        """What writes rows of a body; it depends on nothing that variables can change but their order."""
        found = self._writers.get((make, body, read.order))
        if found is None:
            if len(self._writers) >= KEPT:
                self._writers.clear()
            ties = {name: read.table.relations[nested.relation].local for name, nested in read.nest.items()}
            found = self._writers[make, body, read.order] = make(body, ties, read.order)
        return found

    def _all_related(self, body: Body, read: Read, starts: list[Start]) -> list[Related]:
        return [self._related(piece, read, starts) for piece in body.pieces if isinstance(piece, One | Many)]

    def _related(self, piece: One | Many, read: Read, starts: list[Start]) -> Related:
        """Writes what is related, once for each value that ties it."""
        nested = read.nest[piece.name]
        if isinstance(piece, One) and self._is_by_key(read, nested):
            return self._by_key(piece, read, nested, starts)
        inner = nested.read
        write = (
            self._page(piece.parts, inner, starts) if isinstance(piece, Many) else self._one(piece.body, inner, starts)
        )
        find: Callable[[Any], Rows]

        def look() -> None:
            nonlocal find
            find = self.reader.finder(read.table, nested)

        starts.append(look)
        return self._once(lambda tie: write(find(tie), inner), starts)

    def _is_by_key(self, read: Read, nested: Nested) -> bool:
        by_key = nested.read.table.key == (read.table.relations[nested.relation].remote,)
        return by_key and is_whole(nested.read)

    def _by_key(self, piece: One, read: Read, nested: Nested, starts: list[Start]) -> Related:
        """The one row whose key ties it, looked up as it is."""
        name = read.table.relations[nested.relation].table
        get: Callable[[Any], Row | None]

        def look() -> None:
            nonlocal get
            get = self.reader.tables[name].rows.get

        starts.append(look)
        write = self._writer(row_writer, piece.body, nested.read)
        inner = self._all_related(piece.body, nested.read, starts)
        return self._once(lambda tie: NOTHING if (row := get(tie)) is None else write(row, inner), starts)

    def _once(self, write: Related, starts: list[Start]) -> Related:
        """As `write`, keeping what it has written for each value."""
        texts = self._begun(starts)

        def related(tie: Any) -> bytes:
            text = texts.fresh.get(tie)
            if text is None:
                text = texts.fresh[tie] = texts.aged.pop(tie, b"") or write(tie)
                self._room -= len(text)
            return text

        return related
