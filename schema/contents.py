"""Content of nodes and edges as GraphQL shows it; the text itself comes along only when it is chosen."""

from __future__ import annotations

from enum import Enum

import strawberry

from ugs.ontology.model import Content as Known
from ugs.reads.plan import Found, Rows


@strawberry.enum(description="How content is written")
class Encoding(Enum):
    UTF8 = strawberry.enum_value("utf-8", description="As text")
    BASE64 = strawberry.enum_value("base64", description="As base64 of any bytes")


@strawberry.type(description="What a node or an edge says")
class Content:
    found: strawberry.Private[Found]

    @property
    def known(self) -> Known:
        known: Known = self.found.row
        return known

    @strawberry.field(description="What kind of content it is, such as markdown")
    def format(self) -> str:
        return self.known.format

    @strawberry.field(description="How the body is written")
    def encoding(self) -> Encoding:
        return Encoding(self.known.encoding)

    @strawberry.field(description="How many bytes it has")
    def size(self) -> int:
        return self.known.size

    @strawberry.field(description="Where the file projection keeps it")
    def path(self) -> str:
        return self.known.path

    @strawberry.field(description="The content itself")
    def body(self) -> str:
        return next((found.row.body for found in self.found.nest["body"]), "")


def shown_content(rows: Rows) -> Content | None:
    """The content that came along with a row."""
    return Content(found=rows.items[0]) if rows.items else None
