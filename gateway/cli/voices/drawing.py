"""Tables, trees and lines on a terminal. Text from the graph is shown, never obeyed: control codes are written out."""

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

from gateway.cli.ports import Record
from ugs.clock import utc

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LONGEST_CELL = 60
WIDE_ENOUGH = 100


def clean(text: str) -> str:
    """Text without any character that a terminal would obey."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def inline(value: Any) -> str:
    """A value on one line: text as it is, anything else as JSON."""
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def drawn(thing: RenderableType) -> str:
    """What rich makes of a thing, for this terminal; without colours when they are not wanted."""
    on_terminal = sys.stdout.isatty()
    width = (
        shutil.get_terminal_size().columns
        if on_terminal
        else max(WIDE_ENOUGH, int(os.environ.get("COLUMNS", "0") or 0))
    )
    console = Console(file=StringIO(), force_terminal=on_terminal, width=width, highlight=False, soft_wrap=False)
    with console.capture() as captured:
        console.print(thing)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def pairs(data: Record) -> str:
    """Keys and values below each other."""
    width = max((len(key) for key in data), default=0)
    return "\n".join(f"  {clean(key):<{width}}  {inline(value)}" for key, value in data.items())


def when(millis: int) -> str:
    """A time as people write it."""
    return utc(millis / 1000).strftime("%Y-%m-%d %H:%M:%S UTC")


def node(node: Record) -> str:
    """A node with everything it has."""
    more = {"data": node["data"]} if node["data"] is not None else {}
    times = f"  created {when(node['created'])}, modified {when(node['modified'])}"
    kind = f" ({clean(node['type'])})" if node["type"] is not None else ""
    body = pairs({**node["properties"], **more})
    return "\n".join(part for part in (f"🔵 {node['id']}{kind}", body, times) if part)


def edge(edge: Record) -> str:
    """An edge with everything it has."""
    head = f"🔗 {edge['id']}: {edge['from']} {arrow(edge)} {edge['to']}"
    body = pairs(edge["properties"])
    return "\n".join(part for part in (head, body, f"  created {when(edge['created'])}") if part)


def arrow(edge: Record) -> str:
    """The line from the one end to the other."""
    weight = "" if edge["weight"] == 1 else f" {edge['weight']}"
    return f"──{clean(edge['type'] or '')}{weight}──▶"


def cell(value: Any) -> Text:
    """A value in a table, shortened where it is long."""
    text = "" if value is None else inline(value)
    return Text(text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…")


def table(columns: list[str], rows: list[list[Any]]) -> str:
    """Rows under headings."""
    made = Table(box=ROUNDED, header_style="bold cyan", border_style="dim")
    for index, name in enumerate(columns):
        made.add_column(Text(clean(name)), style="bold" if index == 0 else "", overflow="fold")
    for row in rows:
        made.add_row(*(cell(value) for value in row))
    return drawn(made)


def counted(drawing: str, number: int, what: str) -> str:
    """A drawing with a line that says how much it shows."""
    return f"{drawing}\n{number} {what}{'s' * (number != 1)}"


def nodes_table(nodes: list[Record]) -> str:
    """Nodes, one a row, with their properties in words."""
    rows = [[node["id"], node["type"], summary(node)] for node in nodes]
    return counted(table(["id", "type", "properties"], rows), len(nodes), "node")


def summary(element: Record) -> str:
    """Properties in one line."""
    return ", ".join(f"{clean(key)}={inline(value)}" for key, value in element["properties"].items())


def rows_table(rows: list[Record]) -> str:
    """Records with the same keys."""
    columns = list(rows[0])
    return counted(table(columns, [[row.get(name) for name in columns] for row in rows]), len(rows), "row")


def answer_table(answer: Record) -> str:
    """The answer to a query, or its plan."""
    if answer.get("plan"):
        return str(answer["plan"])
    rows = [[_value(value) for value in row] for row in answer["rows"]]
    return counted(table(answer["columns"], rows), len(rows), "row")


def _value(value: Any) -> Any:
    """A node or a relationship in a cell is known by its id."""
    if isinstance(value, dict) and "id" in value and "properties" in value:
        return f"({value['id']})" if "labels" in value else f"[{value['id']}]"
    return value


def events_table(events: list[Record]) -> str:
    """Events, one a row."""
    rows = [[event["seq"], when(event["timestamp"]), event["type"], _about(event)] for event in events]
    return counted(table(["seq", "when", "event", "what"], rows), len(events), "event")


def event_line(event: Record) -> str:
    """An event on one line."""
    return f"{event['seq']:>6}  {when(event['timestamp'])}  {event['type']:<14} {_about(event)}"


def _about(event: Record) -> str:
    data = {key: value for key, value in event["data"].items() if key not in ("created", "modified", "id")}
    told = ", ".join(f"{clean(key)}={inline(value)}" for key, value in data.items() if value not in (None, {}, []))
    return f"{event['data'].get('id', '')} {told}".strip()


def versions_table(states: list[Record]) -> str:
    """The life of an element, one state a row."""
    rows = [
        [state["version"], when(state["timestamp"]), state["event"], summary(state["value"]) if state["value"] else "—"]
        for state in states
    ]
    return counted(table(["version", "when", "event", "properties"], rows), len(states), "state")


def tree(steps: list[Record]) -> str:
    """What a traversal visited, below the node it came from."""
    branches: dict[str, Tree] = {}
    for step in steps:
        id, via = step["node"]["id"], step["via"]
        label = Text.assemble(_way(via, id), (id, "bold"), (f" ({clean(step['node']['type'] or '—')})", "dim"))
        parent = None if via is None else branches.get(via["from"] if via["to"] == id else via["to"])
        branches[id] = Tree(label, guide_style="dim") if parent is None else parent.add(label)
    root = branches[steps[0]["node"]["id"]] if steps else Tree("∅ Nothing")
    return counted(drawn(root), len(steps), "node")


def _way(via: Record | None, id: str) -> Text:
    if via is None:
        return Text("🔵 ")
    name = clean(via["type"] or "")
    return Text(f"─{name}▶ " if via["to"] == id else f"◀{name}─ ", "cyan")


def path(way: Record | None) -> str:
    """Nodes with the edges between them."""
    if way is None:
        return "∅ There is no path"
    parts = [way["nodes"][0]["id"]]
    for edge, node in zip(way["edges"], way["nodes"][1:], strict=True):
        parts += [arrow(edge), node["id"]]
    steps = len(way["edges"])
    return f"🧭 {' '.join(parts)}\n  {steps} step{'s' * (steps != 1)}, weight {way['weight']}"


def program_result(result: Record) -> str:
    """What a program left, and where it stopped if it did."""
    found, stopped = result["result"], result.get("aborted")
    rows = [[node["concept_id"], node["label"]] for node in found["nodes"]]
    told = counted(table(["id", "label"], rows), len(rows), "node") + f", {len(found['links'])} links"
    return told if stopped is None else f"❌ {clean(stopped['reason'])}\n{told}"


def checks(found: list[Record]) -> str:
    """One line a check."""
    return "\n".join(f"{'✅' if one['ok'] else '❌'} {one['check']}: {clean(one['found'])}" for one in found)
