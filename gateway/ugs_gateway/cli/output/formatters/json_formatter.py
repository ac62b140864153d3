"""The agent format: one compact JSON value per result."""

from __future__ import annotations

from typing import Any

from ugs.support.light_json import compact
from ugs_gateway.cli.clients import Record
from ugs_gateway.cli.output.formatters import Coded, OutputActor
from ugs_gateway.cli.output.mode import AGENT
from ugs_gateway.cli.output.results import Answer


class JsonFormatter(OutputActor):
    """Formats for programs."""

    mode = AGENT

    def format_success(self, data: Any) -> str:
        return compact(data)

    def format_error(self, error: Coded) -> str:
        more = {"line": getattr(error, "line", None), "hint": getattr(error, "hint", None)}
        told = {"code": error.code, "name": error.name, "message": error.message}
        return compact({"error": {**told, **{key: value for key, value in more.items() if value is not None}}})

    def format_node(self, node: Record) -> str:
        return compact(node)

    def format_edge(self, edge: Record) -> str:
        return compact(edge)

    def format_list(self, items: list[Any]) -> str:
        return compact(items)

    def format_stats(self, stats: Record) -> str:
        return compact(stats)

    def format_help(self, topic: str) -> str:
        from ugs_gateway.cli.help import help_value

        return compact(help_value(topic))

    def format_answer(self, answer: Answer) -> str:
        return compact(answer.value)
