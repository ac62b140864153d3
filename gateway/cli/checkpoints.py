"""How far a long work with a file has come, kept beside the file, so that it can go on after an interruption."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from ugs.replacing import replace


class Checkpoint:
    """The state of one work; another file, target or format makes it another work."""

    def __init__(self, file: str, purpose: str, **work: Any) -> None:
        self.path = Path(f"{file}.ugs-{purpose}")
        self.work = work
        self.id = uuid4().hex
        self.done: dict[str, Any] = {}
        self._recall()

    def _recall(self) -> None:
        try:
            kept = json.loads(self.path.read_text("utf-8"))
            if kept["work"] == self.work:
                self.id, self.done = kept["id"], kept["done"]
        except (OSError, ValueError, KeyError, TypeError):
            return

    def keep(self, **done: Any) -> None:
        """Remember how far it has come; written beside and then moved, so that it is always whole."""
        self.done = done
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_text(json.dumps({"id": self.id, "work": self.work, "done": done}), "utf-8")
        replace(beside, self.path)

    def forget(self) -> None:
        """The work is complete."""
        self.path.unlink(missing_ok=True)
