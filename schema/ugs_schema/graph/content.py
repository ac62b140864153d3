"""The GraphQL type of content; the body is read only if it is selected."""

from __future__ import annotations

from enum import Enum

import strawberry

from ugs.ontology.model import Content as Known
from ugs.reads.plan import ResultPage, ResultRow


@strawberry.enum(description="How content is written")
class Encoding(Enum):
    UTF8 = strawberry.enum_value("utf-8", description="As text")
    BASE64 = strawberry.enum_value("base64", description="As base64 of any bytes")


@strawberry.type(description="What a node or an edge says")
class Content:
    result_row: strawberry.Private[ResultRow]

    @property
    def content(self) -> Known:
        content: Known = self.result_row.row
        return content

    @strawberry.field(description="What kind of content it is, such as markdown")
    def format(self) -> str:
        return self.content.format

    @strawberry.field(description="How the body is written")
    def encoding(self) -> Encoding:
        return Encoding(self.content.encoding)

    @strawberry.field(description="How many bytes it has")
    def size(self) -> int:
        return self.content.size

    @strawberry.field(description="Where the file projection keeps it")
    def path(self) -> str:
        return self.content.path

    @strawberry.field(description="The content itself")
    def body(self) -> str:
        return next((result_row.row.body for result_row in self.result_row.nest["body"]), "")


def to_graphql_content(rows: ResultPage) -> Content | None:
    """The content that was read with a row."""
    return Content(result_row=rows.items[0]) if rows.items else None
