"""The differences between the two databases; everything else in this package is written once.

A dialect only produces SQL text: placeholders, list membership, text functions, bulk statements. Values and property
keys never enter the text; they are bound as parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from ugs.reads.filters import Op
from ugs.tables import Field, Format, Kind, Reference, Table
from ugs_backends.sql.compiler.comparison_coercion import CoercedComparison, ConstantResult, coerce_comparison
from ugs_backends.sql.table_names import index_name

if TYPE_CHECKING:
    from ugs_backends.sql.write.word_index import WordRows


def quote_identifier(name: str) -> str:
    """Quote an identifier, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """Quote a string literal."""
    return "'" + text.replace("'", "''") + "'"


ColumnType = Kind | Format
"""What decides the SQL type of a column: the format of a field where the database has a type for it, else its kind."""


class TiedQuery(Struct, frozen=True):
    """A query for the first rows per value of a column, in fragments of SQL with the table alias `t`."""

    ties: str
    """A query for the values, as a column `tie`."""
    table: str
    remote: str
    """The column that is compared with `tie`."""
    rest: str
    """Further conditions on the rows."""
    walk: str
    limit: int
    index: str = ""
    """The index hint for the look-up by `remote`."""


class Index(Struct, frozen=True):
    """An index with its own statements for creation and removal."""

    make: list[str]
    drop: list[str]


class SearchedColumn(Struct, frozen=True):
    """A column that is searched for substrings."""

    table: Table
    field: Field
    text: str
    """The qualified column in the statement."""
    key: str
    """The qualified key of its row."""


class Dialect(ABC):
    """Generates the SQL of one database."""

    name: ClassVar[str]
    types: ClassVar[dict[ColumnType, str]]
    """The SQL type of each kind of column, and of the formats that have a type of their own."""
    words: ClassVar[WordRows]
    """The storage of the full-text index."""
    value_index: ClassVar[str] = "by_value"
    """How the name of an index of encoded properties ends."""

    numbers_siblings: ClassVar[bool] = True
    """Numbering the rows per parent in SQL is cheaper than sorting them in Python."""

    orders_joins: ClassVar[bool] = True
    """The query planner has the statistics to choose a good join order."""
    join: ClassVar[str] = "JOIN"
    """The join operator; keeps the written order where the planner would only guess at a better one."""
    fence: ClassVar[str] = ""
    """Appended to a subquery so that it is planned separately, which bounds the planning time of long joins."""
    recurses_twice: ClassVar[bool] = False
    """A recursive query may have several recursive parts."""
    no_path: ClassVar[str]
    """The empty path."""

    def column_type(self, field: Field) -> ColumnType:
        """The type of a field's column."""
        return field.format if field.format in self.types else field.kind

    def coerce(self, field: Field, op: Op, value: Any) -> CoercedComparison | ConstantResult:
        """Coerce a comparison of a field that is not null with a value."""
        return coerce_comparison(field.kind, op, value)

    def comparable(self, field: Field, column: str, test: CoercedComparison) -> str:
        """The expression that a coerced comparison applies to."""
        return column

    def compares(self, field: Field, op: Op, value: Any) -> bool:
        """Whether the column as it is can be compared with the value as it is."""
        test = CoercedComparison(op, value)
        return self.coerce(field, op, value) == test and self.comparable(field, "", test) == ""

    def selected(self, field: Field, column: str) -> str:
        """The column in a SELECT list, in the form that is cheapest to read."""
        return column

    def readable(self, field: Field, column: str) -> str:
        """The column as the text or integer that rows hold."""
        return column

    def encode(self, format: Format, values: Sequence[Any]) -> Sequence[Any]:
        """The values of a column of this format as the database takes them in bulk statements."""
        return values

    @abstractmethod
    def longer(self, path: str, id: str) -> str:
        """The path extended by an arc."""

    @abstractmethod
    def absent(self, path: str, id: str) -> str:
        """Whether a path does not contain an arc."""

    @abstractmethod
    def path_ids(self, path: Any) -> list[str]:
        """The ids of the arcs of a path value from a result."""

    @abstractmethod
    def placeholder(self, number: int) -> str:
        """The placeholder of the parameter with this number, from 1."""

    @abstractmethod
    def member(self, column: str, kind: ColumnType, values: Sequence[Any], parameters: Parameters) -> str:
        """Whether a column is one of many values, bound as one parameter where possible."""

    @abstractmethod
    def contains(self, text: str, part: str) -> str:
        """Whether a text contains a substring."""

    def substrings(self, table: Table, field: Field) -> Index | None:
        """The substring index of a searched column; None where the database has no such index."""
        return None

    def can_find(self, part: str) -> bool:
        """Whether the substring index exists and supports this substring."""
        return False

    def narrow(self, column: SearchedColumn, part: str, parameters: Parameters) -> str:
        """A necessary condition that uses the substring index; empty where the index does not help."""
        return ""

    def candidates(self, column: SearchedColumn, part: str, parameters: Parameters) -> str:
        """A query with one row per candidate from the substring index, fast for the first ones."""
        return f"SELECT 1 FROM {quote_identifier(column.table.name)} t WHERE {self.narrow(column, part, parameters)}"

    @abstractmethod
    def ends(self, text: str, part: str, parameters: Parameters) -> str:
        """Whether a text ends with a non-empty suffix."""

    @abstractmethod
    def head(self, text: str) -> str:
        """The indexed beginning of an encoded value: what a sort key is cut to, and what index entries may hold."""

    @abstractmethod
    def direction(self, descending: bool, nullable: bool) -> str:
        """The sort direction of a column, with nulls before values when ascending."""

    @abstractmethod
    def insert_many(self, table: str, columns: Sequence[tuple[str, ColumnType]]) -> str:
        """A statement that inserts many rows with these columns."""

    @abstractmethod
    def update_many(self, table: str, columns: Sequence[tuple[str, ColumnType]], key: int) -> str:
        """A statement that updates many rows; the last `key` columns identify the row."""

    @abstractmethod
    def delete_many(self, table: str, key: Sequence[tuple[str, ColumnType]]) -> str:
        """A statement that deletes many rows by key."""

    @abstractmethod
    def first_per_tie(self, tied: TiedQuery) -> str:
        """A query for the first rows of each tie, read by an index; column `place` numbers them in order or is 0."""

    def by_index(self, name: str) -> str:
        """An index hint behind a table's name, for planners that need one."""
        return ""

    def length_in_bytes(self, column: str) -> str:
        """The length of a text, in bytes where the database need not read the text for it."""
        return f"length({column})"

    def build_estimate(self, text: str) -> str:
        """A statement that estimates the number of rows of a query; the default counts them."""
        return f"SELECT count(*) FROM ({text}) t"

    def read_estimate(self, answer: Sequence[Sequence[Any]]) -> int:
        """The estimate in the result of `build_estimate`."""
        return int(answer[0][0])

    @abstractmethod
    def sum_column(self, column: str) -> str:
        """The exact sum of a column of numbers, as text."""

    @abstractmethod
    def sum_property(self, encoded: str, json: str, key: str, is_number: str) -> str:
        """The exact sum of a property's numbers, as text, from its encoded value, or from its key in the JSON text."""

    def build_null(self, kind: str) -> str:
        """NULL of a type."""
        return "NULL"

    def score(self, column: str, vector: str) -> str:
        """The integer inner product of two vectors; empty where the database cannot compute it."""
        return ""

    def nearest_first(self, column: str, vector: str) -> str:
        """The ORDER BY expression of an approximate vector index; empty for an exact search."""
        return ""

    @abstractmethod
    def guard_log(self) -> list[str]:
        """Statements that make the log table append-only."""

    def add_check(self, table: str, name: str, text: str) -> list[str]:
        """Statements that add a check to an existing table for the rows to come; none where that is not possible."""
        return []

    def add_reference(self, table: Table, reference: Reference, target: Table) -> list[str]:
        """Statements that let the database guard a reference in new tables; none where it does not."""
        return []

    def adopt_reference(self, table: Table, reference: Reference, target: Table) -> list[str]:
        """As `add_reference`, for tables that may hold rows which break it."""
        return []

    @abstractmethod
    def empty(self, tables: Sequence[str]) -> list[str]:
        """Statements that empty these tables, including the append-only log."""

    @abstractmethod
    def table_names(self) -> str:
        """A query for the names of the tables that exist."""


@lru_cache(maxsize=512)
def find_tie_index(dialect: Dialect, table: Table, remote: str) -> str:
    """The index hint for look-ups by a relation's column, where the catalog has an index for it."""
    if table.key[0] == remote:
        return ""
    index = next((index for index in table.indexes if index.fields[0] == remote), None)
    return "" if index is None else dialect.by_index(index_name(table, index.fields))


class Parameters:
    """The parameters of a statement, in the order of their placeholders."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.values: list[Any] = []

    def bind(self, value: Any) -> str:
        """Add a value and return its placeholder."""
        self.values.append(value)
        return self.dialect.placeholder(len(self.values))


class Literals(Parameters):
    """Values inlined into the text, for index definitions, which cannot have parameters.

    Used only for conditions from the catalog, never for input of clients.
    """

    def bind(self, value: Any) -> str:
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int | float):
            return repr(value)
        return quote_literal(str(value))
