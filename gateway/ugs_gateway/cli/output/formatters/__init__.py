"""The two output formats of the command line, agent (JSON) and human (seed §11.4: OutputActor), and their choice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol

from ugs_gateway.cli.clients import Record
from ugs_gateway.cli.output.mode import HUMAN
from ugs_gateway.cli.output.results import Answer


class Coded(Protocol):
    """An error with a code: the kernel's own, or one from a gateway."""

    @property
    def code(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def message(self) -> str: ...


class Failure(NamedTuple):
    """An error to be printed, with the line of a script and a hint."""

    code: str
    name: str
    message: str
    line: int | None = None
    hint: str | None = None


class OutputActor(ABC):
    """Formats the results of commands, each as one text."""

    mode: str

    @abstractmethod
    def format_success(self, data: Any) -> str:
        """Any successful result."""

    @abstractmethod
    def format_error(self, error: Coded) -> str:
        """An error and its hint; a `Failure` also has the line of the script."""

    @abstractmethod
    def format_node(self, node: Record) -> str:
        """One node."""

    @abstractmethod
    def format_edge(self, edge: Record) -> str:
        """One edge."""

    @abstractmethod
    def format_list(self, items: list[Any]) -> str:
        """A list in order."""

    @abstractmethod
    def format_stats(self, stats: Record) -> str:
        """The counts of the graph."""

    @abstractmethod
    def format_help(self, topic: str) -> str:
        """The help on a topic; on everything if it is empty."""

    @abstractmethod
    def format_answer(self, answer: Answer) -> str:
        """The result of an operation, in the form it names."""


def formatter_for(mode: str) -> OutputActor:
    """The formatter of a mode; only that one is imported."""
    if mode == HUMAN:
        from ugs_gateway.cli.output.formatters.human_formatter import HumanFormatter

        return HumanFormatter()
    from ugs_gateway.cli.output.formatters.json_formatter import JsonFormatter

    return JsonFormatter()
