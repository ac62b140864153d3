"""Renders responses as JSON text directly from rows in memory.

The writer of a rendering is compiled once and cached, and so are the texts it produced: of each row in a list, and of
what is related to a value. Cached texts are valid for one version of the tables and bounded in size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ugs.reads.plan import Nested, Order, Read, ResultPage
from ugs.reads.rendering import (
    NULL,
    SOME_ROWS,
    UNBOUNDED,
    PageTemplate,
    RelatedPage,
    RelatedRow,
    Rendering,
    RowTemplate,
    check_bytes,
)
from ugs.tables import Row
from ugs_backends.memory.query.executor import QueryExecutor, is_whole
from ugs_backends.memory.query.row_codegen import (
    BareWriter,
    PageWriter,
    Related,
    build_page_writer,
    generate_row_writer,
    generate_rows_writer,
)

CACHE_SIZE, MAX_PAGES = 1_000, 256
MAX_BYTES = 32 << 20
"""After this much new text the cache drops what was not used since the last time; it holds at most twice as much."""
NOTHING = NULL.encode()
Start = Callable[[], None]
"""Binds a writer to the current tables, or clears its cached texts."""


class PreparedRenderer(Struct):
    """The compiled writer of a rendering, for plans with the same nested reads and order."""

    nest: Mapping[str, Nested]
    order: tuple[Order, ...]
    write: PageWriter
    starts: list[Start]
    seen: int = -1
    """The version of the tables that its cached texts belong to."""
    pages: dict[int, tuple[Read, bytes]] | None = None
    """Cached responses of repeated plans of pages; None for single rows, which are rendered as fast as looked up."""


class TextCache:
    """A two-generation cache of rendered texts by key: what is not used between two calls of `age` is dropped."""

    __slots__ = ("aged", "fresh")

    def __init__(self) -> None:
        self.fresh: dict[Any, bytes] = {}
        self.aged: dict[Any, bytes] = {}

    def clear(self) -> None:
        self.fresh, self.aged = {}, {}

    def age(self) -> None:
        self.fresh, self.aged = {}, self.fresh


class Renderer:
    """Renders the responses of plans for one set of tables."""

    def __init__(self, reader: QueryExecutor) -> None:
        self.reader = reader
        self._room, self._most = MAX_BYTES, UNBOUNDED
        self._kept: dict[Rendering, PreparedRenderer] = {}
        self._texts: list[TextCache] = []
        self._writers: dict[tuple[Any, ...], BareWriter] = {}

    def text(self, plan: Read, rendering: Rendering) -> bytes:
        """The response of a plan; equal to applying the rendering to the plan's rows."""
        self._most = rendering.max_bytes
        kept = self._kept.get(rendering)
        if kept is None or kept.order != plan.order or (kept.nest is not plan.nest and (kept.nest or plan.nest)):
            kept = self._prepare(plan, rendering)
        if kept.seen != self.reader.changes:
            self._start(kept)
        if kept.pages is not None:
            return self._render_page(plan, kept, kept.pages)
        text = kept.write(self.reader.page(plan), plan)
        if self._room <= 0:
            self._age()
        return text

    def _render_page(self, plan: Read, kept: PreparedRenderer, pages: dict[int, tuple[Read, bytes]]) -> bytes:
        known = pages.get(id(plan))
        if known is not None and known[1]:
            return known[1]
        text = kept.write(self.reader.page(plan), plan)
        if len(pages) >= MAX_PAGES:
            pages.clear()
        # The plan is kept so that its id() is not reused; the text is cached from the second request on.
        pages[id(plan)] = (plan, b"" if known is None else text)
        self._room -= 0 if known is None else len(text)
        if self._room <= 0:
            self._age()
        return text

    def _start(self, kept: PreparedRenderer) -> None:
        kept.seen = -1  # `start` may raise NotBuilt; the writer is then still unbound
        for start in kept.starts:
            start()
        if kept.pages is not None:
            kept.pages.clear()
        kept.seen = self.reader.changes

    def _forget(self) -> None:
        self._kept.clear()
        self._texts.clear()
        self._room = MAX_BYTES

    def _age(self) -> None:
        for texts in self._texts:
            texts.age()
        for kept in self._kept.values():
            if kept.pages is not None:
                kept.pages.clear()
        self._room = MAX_BYTES

    def _prepare(self, plan: Read, rendering: Rendering) -> PreparedRenderer:
        starts: list[Start] = []
        root = rendering.root
        if isinstance(root, PageTemplate):
            # Pages overlap, so rows are cached one by one; related texts are cached anyway.
            write = build_page_writer(root, plan.order, lambda body: self._build_cached_rows(body, plan, starts))
        else:
            write = self._build_single(root, plan, starts)
        if len(self._kept) >= CACHE_SIZE:
            self._forget()
        pages: dict[int, tuple[Read, bytes]] | None = {} if isinstance(root, PageTemplate) else None
        kept = self._kept[rendering] = PreparedRenderer(plan.nest, plan.order, write, starts, pages=pages)
        return kept

    def _build_single(self, body: RowTemplate, read: Read, starts: list[Start]) -> PageWriter:
        write, related = (
            self._generate_writer(generate_row_writer, body, read),
            self._build_all_related(body, read, starts),
        )
        return lambda rows, plan: write(rows.items[0], related) if rows.items else NOTHING

    def _build_page(self, parts: PageTemplate, read: Read, starts: list[Start]) -> PageWriter:
        return build_page_writer(parts, read.order, lambda body: self._build_rows(body, read, starts))

    def _build_rows(self, body: RowTemplate, read: Read, starts: list[Start]) -> Callable[[Any], bytes]:
        """A writer of rows with their related rows, without a cache of its own."""
        write, related = (
            self._generate_writer(generate_rows_writer, body, read),
            self._build_all_related(body, read, starts),
        )

        def rows_text(rows: Any) -> bytes:
            if len(rows) <= SOME_ROWS:
                return write(rows, related)
            return self._render_in_portions(rows, lambda some: write(some, related))

        return rows_text

    def _render_in_portions(self, rows: Any, write: Callable[[Any], bytes]) -> bytes:
        """Render rows in portions, so that a response over the size limit is abandoned early."""
        texts, size = [], 0
        for start in range(0, len(rows), SOME_ROWS):
            texts.append(write(rows[start : start + SOME_ROWS]))
            size += len(texts[-1])
            check_bytes(size, self._most)
        return b",".join(texts)

    def _build_cached_rows(self, body: RowTemplate, read: Read, starts: list[Start]) -> Callable[[Any], bytes]:
        """Like `_build_rows`, but caches the text of each row."""
        write, related = (
            self._generate_writer(generate_row_writer, body, read),
            self._build_all_related(body, read, starts),
        )
        texts, key_of = self._begin(starts), read.table.key_of

        def fresh(key: Any, row: Row) -> bytes:
            text = texts.fresh[key] = texts.aged.pop(key, b"") or write(row, related)
            self._room -= len(text)
            return text

        def some_text(rows: Any) -> bytes:
            keys, known = map(key_of, rows), texts.fresh.get
            return b",".join([known(key) or fresh(key, row) for key, row in zip(keys, rows, strict=True)])

        return lambda rows: some_text(rows) if len(rows) <= SOME_ROWS else self._render_in_portions(rows, some_text)

    def _begin(self, starts: list[Start]) -> TextCache:
        texts = TextCache()
        self._texts.append(texts)
        starts.append(texts.clear)
        return texts

    def _generate_writer(self, make: Callable[..., BareWriter], body: RowTemplate, read: Read) -> BareWriter:
        """The generated writer of a row template, cached; of a plan's variable parts it depends on the order only."""
        found = self._writers.get((make, body, read.order))
        if found is None:
            if len(self._writers) >= CACHE_SIZE:
                self._writers.clear()
            ties = {name: read.table.relations[nested.relation].local for name, nested in read.nest.items()}
            found = self._writers[make, body, read.order] = make(body, ties, read.order)
        return found

    def _build_all_related(self, body: RowTemplate, read: Read, starts: list[Start]) -> list[Related]:
        return [
            self._build_related(piece, read, starts)
            for piece in body.pieces
            if isinstance(piece, RelatedRow | RelatedPage)
        ]

    def _build_related(self, piece: RelatedRow | RelatedPage, read: Read, starts: list[Start]) -> Related:
        """A writer of related rows, cached by the value of the relation's column."""
        nested = read.nest[piece.name]
        if isinstance(piece, RelatedRow) and self._is_by_key(read, nested):
            return self._build_related_by_key(piece, read, nested, starts)
        inner = nested.read
        write = (
            self._build_page(piece.parts, inner, starts)
            if isinstance(piece, RelatedPage)
            else self._build_single(piece.body, inner, starts)
        )
        find: Callable[[Any], ResultPage]

        def look() -> None:
            nonlocal find
            find = self.reader.build_finder(read.table, nested)

        starts.append(look)
        return self._cache_by_value(lambda tie: write(find(tie), inner), starts)

    def _is_by_key(self, read: Read, nested: Nested) -> bool:
        by_key = nested.read.table.key == (read.table.relations[nested.relation].remote,)
        return by_key and is_whole(nested.read)

    def _build_related_by_key(self, piece: RelatedRow, read: Read, nested: Nested, starts: list[Start]) -> Related:
        """A writer of the one related row, looked up by its key."""
        name = read.table.relations[nested.relation].table
        get: Callable[[Any], Row | None]

        def look() -> None:
            nonlocal get
            get = self.reader.tables[name].rows.get

        starts.append(look)
        write = self._generate_writer(generate_row_writer, piece.body, nested.read)
        inner = self._build_all_related(piece.body, nested.read, starts)
        return self._cache_by_value(lambda tie: NOTHING if (row := get(tie)) is None else write(row, inner), starts)

    def _cache_by_value(self, write: Related, starts: list[Start]) -> Related:
        """Wrap `write` with a cache by value."""
        texts = self._begin(starts)

        def related(tie: Any) -> bytes:
            text = texts.fresh.get(tie)
            if text is None:
                text = texts.fresh[tie] = texts.aged.pop(tie, b"") or write(tie)
                self._room -= len(text)
            return text

        return related
