"""The openCypher TCK as data: loading scenarios, building their graphs, comparing answers.

The data lies beside the project, never inside it; `UGS_TCK_DATA` names the folder.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path as File
from typing import Any

from msgspec import Struct

from ugs import cypher
from ugs.cypher.errors import CypherError
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.values.codec import LABELS, encode
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.errors import UgsError
from ugs.feature import Command
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.storage import Session
from ugs.system import System
from ugs_conformance.support.harness import Harness

FOLDER = File(os.environ.get("UGS_TCK_DATA") or File(__file__).parents[4] / "shared" / "tck")
DATA = FOLDER / "tck_read.jsonl"
Record = dict[str, Any]


class Verdict(Struct, frozen=True):
    """How one scenario went. Errors are judged in three steps: raised, type and phase, detail."""

    id: str
    passed: bool
    reason: str = ""
    raised: bool | None = None
    typed: bool | None = None


def records() -> list[Record]:
    """Every scenario; a file without any would pass without proving anything, and is refused."""
    with DATA.open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    assert found, f"{DATA} holds no scenario"
    return found


def graph_key(record: Record) -> str:
    """Scenarios with the same key start from the same graph."""
    return json.dumps(record["graph"], sort_keys=True)


async def build(system: System, graph: dict[str, Any]) -> None:
    """The start graph, through our own commands."""
    async with system.session() as session:
        commands: list[Any] = [await node_command(session, node) for node in graph["nodes"]]
        commands += [await edge_command(session, rel) for rel in graph["rels"]]
    for start in range(0, len(commands), 500):
        await system.execute(Batch(operations=tuple(commands[start : start + 500])))


async def node_command(session: Session, node: dict[str, Any]) -> Command:
    properties = await stored(session, node["props"])
    labels = node["labels"]
    if len(labels) > 1:
        properties[LABELS] = labels[1:]
    return AddNode(id=f"n{node['id']}", type=labels[0] if labels else None, properties=properties)


async def edge_command(session: Session, rel: dict[str, Any]) -> Command:
    properties = await stored(session, rel["props"])
    return AddEdge(
        id=f"r{rel['id']}", source=f"n{rel['start']}", target=f"n{rel['end']}", type=rel["type"], properties=properties
    )


async def stored(session: Session, properties: dict[str, Any]) -> dict[str, Any]:
    return {key: encode(await given(session, value)) for key, value in properties.items()}


async def given(session: Session, value: Any) -> Any:
    """A typed value of the data as the engine's own."""
    if isinstance(value, list):
        return [await given(session, item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "$expr":
        return (await cypher.run(session, f"RETURN {inner} AS value")).rows[0][0]
    if kind == "$map":
        return {key: await given(session, item) for key, item in inner.items()}
    return float(inner)


async def judge(session: Session, record: Record) -> Verdict:
    """Run a scenario and compare."""
    expect = record["expect"]
    params = {key: await given(session, value) for key, value in record["params"].items()}
    try:
        result = await cypher.run(session, record["query"], params)
    except UgsError as error:
        return judged_error(record["id"], expect, error)
    if expect["kind"] == "error":
        return Verdict(record["id"], False, f"expected {expect['detail']}, got {result.rows[:3]}", False, False)
    return judged_rows(record["id"], expect, result)


def judged_error(id: str, expect: dict[str, Any], error: UgsError) -> Verdict:
    if expect["kind"] != "error":
        return Verdict(id, False, f"raised {type(error).__name__}: {error}")
    if not isinstance(error, CypherError):
        return Verdict(id, False, f"raised {type(error).__name__}", True, False)
    phases = ("any time", error.phase)
    typed = error.type == expect["errorType"] and expect["phase"] in phases
    passed = typed and expect["detail"] in ("*", error.detail)
    shown = f"expected {expect['errorType']} {expect['detail']} at {expect['phase']}, "
    return Verdict(
        id, passed, "" if passed else f"{shown}got {error.type} {error.detail} at {error.phase}", True, typed
    )


def judged_rows(id: str, expect: dict[str, Any], result: cypher.Result) -> Verdict:
    if list(result.columns) != expect["columns"]:
        return Verdict(id, False, f"columns {result.columns}, expected {expect['columns']}")
    loose = expect["ignore_list_order"]
    mine = [tuple(seen(value, loose) for value in row) for row in result.rows]
    theirs = [tuple(wanted(value, loose) for value in row) for row in expect["typed"]]
    ordered = expect["kind"] == "result-ordered"
    same = mine == theirs if ordered else Counter(mine) == Counter(theirs)
    return Verdict(id, same, "" if same else f"got {mine[:4]}, expected {theirs[:4]}")


def _number(value: float) -> Hashable:
    return "nan" if math.isnan(value) else ("float", value + 0.0)


def _items(values: list[Hashable], loose: bool) -> tuple[str, tuple[Hashable, ...]]:
    return "list", tuple(sorted(values, key=repr)) if loose else tuple(values)


def seen(value: Any, loose: bool = False) -> Hashable:
    """One of our values in a form that can be compared."""
    if isinstance(value, Temporal | Duration):
        return "str", str(value)
    if isinstance(value, list):
        return _items([seen(item, loose) for item in value], loose)
    if isinstance(value, dict):
        return "map", frozenset((key, seen(item, loose)) for key, item in value.items())
    if isinstance(value, Node):
        return "node", frozenset(value.labels), seen(value.properties, loose)
    if isinstance(value, Relationship):
        return "relationship", value.type, seen(value.properties, loose)
    if isinstance(value, Path):
        return "path", seen(value.nodes[0]), tuple(_seen_steps(value))
    return _number(value) if isinstance(value, float) else (type(value).__name__, value)


def _seen_steps(path: Path) -> list[Hashable]:
    steps: list[Hashable] = []
    for before, one, after in zip(path.nodes, path.relationships, path.nodes[1:], strict=False):
        steps.append((seen(one), "out" if one.start == before.id else "in", seen(after)))
    return steps


def wanted(value: Any, loose: bool = False) -> Hashable:
    """An expected value in the same form."""
    if isinstance(value, list):
        return _items([wanted(item, loose) for item in value], loose)
    if not isinstance(value, dict):
        return type(value).__name__, value
    ((kind, inner),) = value.items()
    if kind == "$float":
        return _number(float(inner))
    if kind == "$map":
        return "map", frozenset((key, wanted(item, loose)) for key, item in inner.items())
    if kind == "$node":
        return "node", frozenset(inner["labels"]), wanted({"$map": inner["props"]}, loose)
    if kind == "$rel":
        return "relationship", inner["type"], wanted({"$map": inner["props"]}, loose)
    steps = [(_wanted(step["rel"], "$rel"), step["dir"], _wanted(step["node"], "$node")) for step in inner["steps"]]
    return "path", _wanted(inner["start"], "$node"), tuple(steps)


def _wanted(value: dict[str, Any], kind: str) -> Hashable:
    return wanted(value if kind in value else {kind: value})


async def judge_all(url: str, chosen: list[Record]) -> list[Verdict]:
    """All scenarios on one store, which is emptied for each start graph."""
    groups: dict[str, list[Record]] = {}
    for record in chosen:
        groups.setdefault(graph_key(record), []).append(record)
    harness, verdicts = Harness(url), []
    try:
        for group in groups.values():
            await harness.fresh()
            async with await harness.system() as system:
                verdicts += await judge_group(system, group)
    finally:
        await harness.close()
    return verdicts


async def judge_group(system: System, group: list[Record]) -> list[Verdict]:
    """Scenarios that start from the same graph; none of them may change it."""
    await build(system, group[0]["graph"])
    before = await system.digest()
    async with system.session() as session:
        verdicts = [await judge(session, record) for record in group]
    assert await system.digest() == before, "reading changed the graph"
    return verdicts


def summary(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Passed and failed, and how errors fared in the three steps of the data's README."""
    errors = [verdict for verdict in verdicts if verdict.raised is not None]
    return {
        "passed": sum(verdict.passed for verdict in verdicts),
        "failed": sum(not verdict.passed for verdict in verdicts),
        "skipped": 0,
        "total": len(verdicts),
        "errors": {
            "total": len(errors),
            "raised": sum(bool(verdict.raised) for verdict in errors),
            "typed": sum(bool(verdict.typed) for verdict in errors),
            "exact": sum(verdict.passed for verdict in errors),
        },
    }
