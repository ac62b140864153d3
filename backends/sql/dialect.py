"""Where the two databases spell things differently. Everything else in this package is written once.

A dialect only makes text: placeholders, membership in a list, functions on text, bulk statements. Values never enter
the text; they are bound, and so are property keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from backends.sql.names import index_name
from ugs.catalog import Field, Kind, Table

if TYPE_CHECKING:
    from backends.sql.words import WordRows


def quoted(name: str) -> str:
    """A name of a table, column or index as SQL writes it, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


class Tied(Struct, frozen=True):
    """The first rows of a table for each of some values, in pieces of SQL that call the table `t`."""

    ties: str
    """A query for the values, in a column `tie`."""
    table: str
    remote: str
    """The column that equals a tie."""
    rest: str
    """What a row must meet beside."""
    walk: str
    limit: int
    index: str = ""
    """The note which index finds the rows of a tie."""


class Index(Struct, frozen=True):
    """An index that takes statements of its own to make, and others to drop."""

    make: list[str]
    drop: list[str]


class Searched(Struct, frozen=True):
    """A column in which parts of texts are looked for."""

    table: Table
    field: Field
    text: str
    """The column, as the statement calls it: `t` is the table, unless told."""
    key: str
    """The key of its row, likewise."""


class Dialect(ABC):
    """How one database writes what both can do."""

    name: ClassVar[str]
    types: ClassVar[dict[Kind, str]]
    """The type of a column, as casts name it."""
    words: ClassVar[WordRows]
    """How the words of rows are kept."""
    limits_index_entries: ClassVar[bool] = False
    """Long texts cannot be indexed whole, so their beginning is."""

    numbers_siblings: ClassVar[bool] = True
    """Numbering the rows of each parent costs less here than sorting them afterwards."""

    orders_joins: ClassVar[bool] = True
    """The planner knows the tables well enough to find the best order of a join."""
    join: ClassVar[str] = "JOIN"
    """Joins tables, in the order written where the planner would only guess at a better one."""
    fence: ClassVar[str] = ""
    """Behind a query inside another: the two are planned apart, so that long joins do not take long to plan."""
    recurses_twice: ClassVar[bool] = False
    """A recursive query may refer to itself in several parts."""
    no_path: ClassVar[str]
    """A path without arcs."""

    @abstractmethod
    def longer(self, path: str, id: str) -> str:
        """A path with one more arc at its end."""

    @abstractmethod
    def absent(self, path: str, id: str) -> str:
        """Whether a path has not come over an arc."""

    @abstractmethod
    def path_ids(self, path: Any) -> list[str]:
        """The arcs of a path as the database answered it."""

    @abstractmethod
    def placeholder(self, number: int) -> str:
        """The mark for the parameter with this number, from 1."""

    @abstractmethod
    def member(self, column: str, kind: Kind, values: Sequence[Any], parameters: Parameters) -> str:
        """Whether a column is one of many values, bound as one parameter where possible."""

    @abstractmethod
    def contains(self, text: str, part: str) -> str:
        """Whether a text has a part somewhere."""

    def substrings(self, table: Table, field: Field) -> Index | None:
        """What finds parts of a searched column; nothing where the database has no such index."""
        return None

    def finds(self, part: str) -> bool:
        """Whether that index is there and can help to find this part."""
        return False

    def narrowed(self, column: Searched, part: str, parameters: Parameters) -> str:
        """A condition by that index which lets through every row that has the part; nothing where it cannot help."""
        return ""

    def candidates(self, column: Searched, part: str, parameters: Parameters) -> str:
        """A query with a row for each that the index lets through, which finds the first of them at once."""
        return f"SELECT 1 FROM {quoted(column.table.name)} t WHERE {self.narrowed(column, part, parameters)}"

    @abstractmethod
    def ends(self, text: str, part: str, parameters: Parameters) -> str:
        """Whether a text ends with a part of at least one character."""

    @abstractmethod
    def head(self, text: str) -> str:
        """The indexed beginning of a long text."""

    @abstractmethod
    def direction(self, descending: bool, nullable: bool) -> str:
        """How a column is sorted so that nothing comes before something."""

    @abstractmethod
    def insert_many(self, table: str, columns: Sequence[tuple[str, Kind]]) -> str:
        """A statement that stores many rows, given as tuples of these columns."""

    @abstractmethod
    def update_many(self, table: str, columns: Sequence[tuple[str, Kind]], key: int) -> str:
        """A statement that changes many rows; in each tuple the last `key` columns say which."""

    @abstractmethod
    def delete_many(self, table: str, key: Sequence[tuple[str, Kind]]) -> str:
        """A statement that removes many rows, given as tuples of their keys."""

    @abstractmethod
    def first_per_tie(self, tied: Tied) -> str:
        """A query for the first rows of each tie, read by an index; `place` numbers them along the walk or is 0."""

    def by_index(self, name: str) -> str:
        """A note behind a table's name that this index is the one to use, where a planner needs to be told."""
        return ""

    def estimating(self, text: str) -> str:
        """A statement that tells about how many rows a query would give: by counting them, unless it can guess."""
        return f"SELECT count(*) FROM ({text}) t"

    def estimate(self, answer: Sequence[Sequence[Any]]) -> int:
        """The number in its answer."""
        return int(answer[0][0])

    def nothing(self, kind: str) -> str:
        """A missing value of a type."""
        return "NULL"

    def score(self, column: str, vector: str) -> str:
        """The whole-numbered inner product of two vectors; nothing where the database cannot tell it."""
        return ""

    def nearest_first(self, column: str, vector: str) -> str:
        """The order in which an index finds the most alike, missing some; nothing where all are looked at."""
        return ""

    @abstractmethod
    def guard_log(self) -> list[str]:
        """Statements that make the log refuse changes and deletions."""

    @abstractmethod
    def empty(self, tables: Sequence[str]) -> list[str]:
        """Statements that remove everything from these tables, from the log too where it is among them."""

    @abstractmethod
    def table_names(self) -> str:
        """A query for the names of the tables that exist."""


@lru_cache(maxsize=512)
def tie_index(dialect: Dialect, table: Table, remote: str) -> str:
    """The note to find rows by the column that ties them to others, where the catalog has an index for it."""
    if table.key[0] == remote:
        return ""
    index = next((index for index in table.indexes if index.fields[0] == remote), None)
    return "" if index is None else dialect.by_index(index_name(table, index.fields))


class Parameters:
    """The values of a statement, in the order in which their marks stand in its text."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.values: list[Any] = []

    def bind(self, value: Any) -> str:
        """The mark that stands for the value."""
        self.values.append(value)
        return self.dialect.placeholder(len(self.values))


class Literals(Parameters):
    """Values written into the text, for definitions of indexes, which cannot have parameters.

    Only conditions of the catalog come here, never anything a client sent.
    """

    def bind(self, value: Any) -> str:
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int | float):
            return repr(value)
        return literal(str(value))
