"""Rendering of what Neo4j returns."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.errors import AnswerTooLarge
from ugs.reads.plan import ResultPage
from ugs.reads.rendering import SOME_ROWS
from ugs_backends.neo4j.read.response_renderer import ResponseRenderer


def test_rows_are_counted_while_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    monkeypatch.setattr(
        ResponseRenderer, "_generate_row_writer", lambda *_: lambda item, *_: written.append(item) or "x" * 10
    )
    nothing: Any = None
    write = ResponseRenderer(nothing, max_bytes=100)._build_items(nothing, nothing, nothing)
    with pytest.raises(AnswerTooLarge):
        write(ResultPage([nothing] * 1_000), nothing, [], nothing)
    assert len(written) == SOME_ROWS
    assert write(ResultPage([nothing] * 3), nothing, [], nothing) == ",".join(["x" * 10] * 3)
