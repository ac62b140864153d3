"""The seed's `recover()` to the letter (000, section 10.3): any program that follows the seed must read our files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

State = dict[str, dict[str, Any]]


def recover(folder: Path) -> State:
    """Load the snapshot, then apply every event with a later timestamp."""
    state: State = {"nodes": {}, "edges": {}}
    snapshot_file, wal_file = folder / "snapshot.json", folder / "events.wal"
    last_event_time = 0
    if snapshot_file.exists():
        snapshot = json.loads(snapshot_file.read_text())
        for kind in state:
            state[kind] = {element["id"]: element["properties"] for element in snapshot[kind]}
        last_event_time = snapshot["timestamp"]
    for line in wal_file.read_text().splitlines() if wal_file.exists() else ():
        event = json.loads(line)
        if event["timestamp"] > last_event_time:
            apply_event(event, state)
    return state


def apply_event(event: dict[str, Any], state: State) -> None:
    """The seed's six events (section 5.3)."""
    data, kind = event["data"], "nodes" if event["type"].startswith("Node") else "edges"
    match event["type"]:
        case "NodeAdded" | "EdgeAdded":
            # Applying an addition twice would be a doubled event.
            assert data["id"] not in state[kind]
            state[kind][data["id"]] = data["properties"]
        case "NodeUpdated" | "EdgeUpdated":
            merged = {**state[kind][data["id"]], **data.get("properties", {})}
            state[kind][data["id"]] = {key: merged[key] for key in merged if key not in data.get("removed", ())}
        case "NodeDeleted" | "EdgeDeleted":
            state[kind].pop(data["id"], None)
