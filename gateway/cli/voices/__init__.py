"""The two voices of the command line, agent and human (seed §11.4: OutputActor), and how one of them is chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from gateway.cli.answers import Answer
from gateway.cli.ports import Record
from gateway.cli.speaking import HUMAN


class Coded(Protocol):
    """An error with a code: the kernel's own, or one that a gateway has sent."""

    @property
    def code(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def message(self) -> str: ...


class OutputActor(ABC):
    """Says what commands answer, each thing as one text."""

    mode: str

    @abstractmethod
    def format_success(self, data: Any) -> str:
        """Anything that went well."""

    @abstractmethod
    def format_error(self, error: Coded) -> str:
        """What went wrong, and what may help."""

    @abstractmethod
    def format_node(self, node: Record) -> str:
        """One node."""

    @abstractmethod
    def format_edge(self, edge: Record) -> str:
        """One edge."""

    @abstractmethod
    def format_list(self, items: list[Any]) -> str:
        """Things in order."""

    @abstractmethod
    def format_stats(self, stats: Record) -> str:
        """How large the graph is."""

    @abstractmethod
    def format_help(self, topic: str) -> str:
        """What there is to know about a topic; about everything when it is empty."""

    @abstractmethod
    def format_answer(self, answer: Answer) -> str:
        """What an operation answered, in the form it asks for."""


def voice_of(mode: str) -> OutputActor:
    """The voice of a mode; only the one that speaks is loaded."""
    if mode == HUMAN:
        from gateway.cli.voices.human import HumanVoice

        return HumanVoice()
    from gateway.cli.voices.agent import AgentVoice

    return AgentVoice()
