"""The human format: sentences, tables and trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs_gateway.cli.clients import Record
from ugs_gateway.cli.output.formatters import Coded, OutputActor
from ugs_gateway.cli.output.formatters import terminal as draw
from ugs_gateway.cli.output.mode import HUMAN, format_counts
from ugs_gateway.cli.output.results import Answer, is_edge


class HumanFormatter(OutputActor):
    """Formats for people."""

    mode = HUMAN

    def format_success(self, data: Any) -> str:
        if data is None:
            return "∅ Nothing"
        if isinstance(data, dict):
            return "✅ Done\n" + draw.pairs(data)
        return draw.inline(data)

    def format_error(self, error: Coded) -> str:
        from ugs_gateway.cli.output.hints import hint_for

        hint, line = getattr(error, "hint", None) or hint_for(error), getattr(error, "line", None)
        where = "" if line is None else f"line {line}: "
        first = f"❌ {where}{error.name} ({error.code}): {draw.clean(error.message)}"
        return first + (f"\n💡 {hint}" if hint else "")

    def format_node(self, node: Record) -> str:
        return draw.node(node)

    def format_edge(self, edge: Record) -> str:
        return draw.edge(edge)

    def format_list(self, items: list[Any]) -> str:
        if not items:
            return "∅ Nothing found"
        if isinstance(items[0], dict) and "properties" in items[0]:
            return draw.nodes_table(items)
        if isinstance(items[0], dict):
            return draw.rows_table(items)
        return "\n".join(f"  • {draw.inline(item)}" for item in items)

    def format_stats(self, stats: Record) -> str:
        return format_counts(stats)

    def format_help(self, topic: str) -> str:
        from ugs_gateway.cli.help import help_text

        return help_text(topic)

    def format_answer(self, answer: Answer) -> str:
        shown = answer.value if answer.shown is None else answer.shown
        if answer.kind == "success" and answer.code:
            return _refused(shown)
        return self._forms()[answer.kind](shown)

    def _forms(self) -> dict[str, Callable[[Any], str]]:
        return {
            "success": self.format_success,
            "element": self._element,
            "list": self.format_list,
            "names": self.format_list,
            "rows": self.format_list,
            "hubs": self._hubs,
            "hits": self._hits,
            "stats": self.format_stats,
            "deleted": _deleted,
            "tree": draw.tree,
            "path": draw.path,
            "events": lambda events: draw.events_table(events) if events else self.format_list([]),
            "event": draw.event_line,
            "versions": lambda states: draw.versions_table(states) if states else self.format_list([]),
            "table": draw.answer_table,
            "program": draw.program_result,
            "validation": draw.validation,
            "checks": draw.checks,
            "settings": lambda found: self.format_list(found) if isinstance(found, list) else draw.pairs(found),
        }

    def _element(self, element: Record | None) -> str:
        if element is None:
            return "∅ There is no such node or edge"
        return self.format_edge(element) if is_edge(element) else self.format_node(element)

    def _hubs(self, hubs: list[Record]) -> str:
        return self.format_list(
            [{key: hub[key] for key in ("id", "type", "degree", "incoming", "outgoing")} for hub in hubs]
        )

    def _hits(self, hits: list[Record]) -> str:
        return self.format_list([hit["node"] for hit in hits])


def _refused(data: Record) -> str:
    """A command that ran and whose result is negative."""
    rest = {key: value for key, value in data.items() if key != "error"}
    return f"❌ {draw.clean(data.get('error') or 'No')}\n{draw.pairs(rest)}"


def _deleted(done: Record) -> str:
    edges = done["edges"]
    tail = f", and {len(edges)} edge{'s' * (len(edges) != 1)}: {', '.join(edges)}" if edges else ""
    return f"🗑️  Deleted {done['deleted']}{tail}"
