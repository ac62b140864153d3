"""Tables, trees and lines for a terminal. Control characters in text from the graph are escaped, never sent."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from io import StringIO
from typing import Any

from rich.box import ROUNDED
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ugs.clock import utc
from ugs_gateway.cli.clients import Record

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
MAX_CELL_CHARS = 60
MIN_WIDE_COLUMNS = 100


def clean(text: str) -> str:
    """The text with all characters escaped that a terminal would interpret."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def inline(value: Any) -> str:
    """A value on one line: text as it is, anything else as JSON."""
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def render(thing: RenderableType) -> str:
    """Render with rich for this terminal, without colours where they are not wanted."""
    on_terminal = sys.stdout.isatty()
    width = (
        shutil.get_terminal_size().columns
        if on_terminal
        else max(MIN_WIDE_COLUMNS, int(os.environ.get("COLUMNS", "0") or 0))
    )
    console = Console(file=StringIO(), force_terminal=on_terminal, width=width, highlight=False, soft_wrap=False)
    with console.capture() as captured:
        console.print(thing)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def pairs(data: Record) -> str:
    """Keys and values, one pair per line."""
    width = max((len(key) for key in data), default=0)
    return "\n".join(f"  {clean(key):<{width}}  {inline(value)}" for key, value in data.items())


def format_time(millis: int) -> str:
    """A time in the usual notation."""
    return utc(millis / 1000).strftime("%Y-%m-%d %H:%M:%S UTC")


def node(node: Record) -> str:
    """A node with all its fields."""
    more = {"data": node["data"]} if node["data"] is not None else {}
    times = f"  created {format_time(node['created'])}, modified {format_time(node['modified'])}"
    kind = f" ({clean(node['type'])})" if node["type"] is not None else ""
    body = pairs({**node["properties"], **more})
    return "\n".join(part for part in (f"🔵 {node['id']}{kind}", body, times) if part)


def edge(edge: Record) -> str:
    """An edge with all its fields."""
    head = f"🔗 {edge['id']}: {edge['from']} {arrow(edge)} {edge['to']}"
    body = pairs(edge["properties"])
    return "\n".join(part for part in (head, body, f"  created {format_time(edge['created'])}") if part)


def arrow(edge: Record) -> str:
    """One line from source to target."""
    weight = "" if edge["weight"] == 1 else f" {edge['weight']}"
    return f"──{clean(edge['type'] or '')}{weight}──▶"


def cell(value: Any) -> Text:
    """A table cell, truncated if it is long."""
    text = "" if value is None else inline(value)
    return Text(text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…")


def table(columns: list[str], rows: list[list[Any]]) -> str:
    """A table with headings."""
    made = Table(box=ROUNDED, header_style="bold cyan", border_style="dim")
    for index, name in enumerate(columns):
        made.add_column(Text(clean(name)), style="bold" if index == 0 else "", overflow="fold")
    for row in rows:
        made.add_row(*(cell(value) for value in row))
    return render(made)


def with_count(drawing: str, number: int, what: str) -> str:
    """A drawing followed by the number of its rows."""
    return f"{drawing}\n{number} {what}{'s' * (number != 1)}"


def nodes_table(nodes: list[Record]) -> str:
    """Nodes, one per row, with a summary of their properties."""
    rows = [[node["id"], node["type"], summary(node)] for node in nodes]
    return with_count(table(["id", "type", "properties"], rows), len(nodes), "node")


def summary(element: Record) -> str:
    """Properties on one line."""
    return ", ".join(f"{clean(key)}={inline(value)}" for key, value in element["properties"].items())


def rows_table(rows: list[Record]) -> str:
    """Records with the same keys."""
    columns = list(rows[0])
    return with_count(table(columns, [[row.get(name) for name in columns] for row in rows]), len(rows), "row")


def answer_table(answer: Record) -> str:
    """The result of a query, or its plan."""
    if answer.get("plan"):
        return str(answer["plan"])
    rows = [[_value(value) for value in row] for row in answer["rows"]]
    return with_count(table(answer["columns"], rows), len(rows), "row")


def _value(value: Any) -> Any:
    """A node or relationship in a cell is shown by its id."""
    if isinstance(value, dict) and "id" in value and "properties" in value:
        return f"({value['id']})" if "labels" in value else f"[{value['id']}]"
    return value


def events_table(events: list[Record]) -> str:
    """Events, one per row."""
    rows = [[event["seq"], _when(event), event["type"], _about(event)] for event in events]
    return with_count(table(["seq", "when", "event", "what"], rows), len(events), "event")


def event_line(event: Record) -> str:
    """An event on one line."""
    return f"{event['seq']:>6}  {_when(event)}  {event['type']:<14} {_about(event)}"


def _when(event: Record) -> str:
    """The time of an event; empty for a hidden one."""
    return format_time(event["timestamp"]) if event["timestamp"] else "—"


def _about(event: Record) -> str:
    data = {key: value for key, value in event["data"].items() if key not in ("created", "modified", "id")}
    told = ", ".join(f"{clean(key)}={inline(value)}" for key, value in data.items() if value not in (None, {}, []))
    return f"{event['data'].get('id', '')} {told}".strip()


def versions_table(states: list[Record]) -> str:
    """The history of an element, one state per row."""
    rows = [
        [
            state["version"],
            format_time(state["timestamp"]),
            state["event"],
            summary(state["value"]) if state["value"] else "—",
        ]
        for state in states
    ]
    return with_count(table(["version", "when", "event", "properties"], rows), len(states), "state")


def tree(steps: list[Record]) -> str:
    """A traversal, each node below the one it was reached from."""
    branches: dict[str, Tree] = {}
    for step in steps:
        id, via = step["node"]["id"], step["via"]
        label = Text.assemble(_way(via, id), (id, "bold"), (f" ({clean(step['node']['type'] or '—')})", "dim"))
        parent = None if via is None else branches.get(via["from"] if via["to"] == id else via["to"])
        branches[id] = Tree(label, guide_style="dim") if parent is None else parent.add(label)
    root = branches[steps[0]["node"]["id"]] if steps else Tree("∅ Nothing")
    return with_count(render(root), len(steps), "node")


def _way(via: Record | None, id: str) -> Text:
    if via is None:
        return Text("🔵 ")
    name = clean(via["type"] or "")
    return Text(f"─{name}▶ " if via["to"] == id else f"◀{name}─ ", "cyan")


def path(way: Record | None) -> str:
    """A path: nodes with the edges between them."""
    if way is None:
        return "∅ There is no path"
    parts = [way["nodes"][0]["id"]]
    for edge, node in zip(way["edges"], way["nodes"][1:], strict=True):
        parts += [arrow(edge), node["id"]]
    steps = len(way["edges"])
    return f"🧭 {' '.join(parts)}\n  {steps} step{'s' * (steps != 1)}, weight {way['weight']}"


def program_result(result: Record) -> str:
    """The result of a program, and where it was aborted."""
    found, stopped = result["result"], result.get("aborted")
    rows = [[node["concept_id"], node["label"]] for node in found["nodes"]]
    told = with_count(table(["id", "label"], rows), len(rows), "node") + f", {len(found['links'])} links"
    return told if stopped is None else f"❌ {clean(stopped['reason'])}\n{told}"


def validation(found: Record) -> str:
    """The issues of a program, one per line."""
    issues = [("❌", issue) for issue in found["errors"]] + [("⚠️ ", issue) for issue in found["warnings"]]
    counts = [f"{len(found[kind])} {kind if len(found[kind]) != 1 else kind[:-1]}" for kind in ("errors", "warnings")]
    head = "✅ The program is valid" if found["valid"] else "❌ The program is not valid"
    told = f"{head}: {', '.join(counts)}" if issues else head
    return "\n".join([told, *(f"  {sign} {_issue(issue)}" for sign, issue in issues)])


def _issue(issue: Record) -> str:
    place = [] if issue.get("statement") is None else [f"statement {issue['statement'] + 1}"]
    place += [clean(str(issue["field"]))] if issue.get("field") else []
    where = f" ({', '.join(place)})" if place else ""
    return f"[{issue['rule_id']}] {clean(issue['message'])}{where}"


def checks(found: list[Record]) -> str:
    """One line per check."""
    return "\n".join(f"{'✅' if one['ok'] else '❌'} {one['check']}: {clean(one['found'])}" for one in found)
