"""The agent's voice: one compact JSON value for everything, nothing else."""

from __future__ import annotations

from typing import Any

from gateway.cli.answers import Answer
from gateway.cli.ports import Record
from gateway.cli.speaking import AGENT
from gateway.cli.voices import Coded, OutputActor
from ugs.plain_json import compact


class AgentVoice(OutputActor):
    """Speaks to programs."""

    mode = AGENT

    def format_success(self, data: Any) -> str:
        return compact(data)

    def format_error(self, error: Coded) -> str:
        return compact({"error": {"code": error.code, "name": error.name, "message": error.message}})

    def format_node(self, node: Record) -> str:
        return compact(node)

    def format_edge(self, edge: Record) -> str:
        return compact(edge)

    def format_list(self, items: list[Any]) -> str:
        return compact(items)

    def format_stats(self, stats: Record) -> str:
        return compact(stats)

    def format_help(self, topic: str) -> str:
        from gateway.cli.helping import help_value

        return compact(help_value(topic))

    def format_answer(self, answer: Answer) -> str:
        return compact(answer.value)
