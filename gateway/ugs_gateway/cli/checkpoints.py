"""Progress of an interrupted import or export, in a file beside the data file, so that it can be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from ugs.support.atomic_file import replace


class Checkpoint:
    """The progress of one transfer; another file, target or format is another transfer."""

    def __init__(self, file: str, purpose: str, **work: Any) -> None:
        self.path = Path(f"{file}.ugs-{purpose}")
        self.work = work
        self.id = uuid4().hex
        self.done: dict[str, Any] = {}
        self._load()

    def _load(self) -> None:
        try:
            kept = json.loads(self.path.read_text("utf-8"))
            if kept["work"] == self.work:
                self.id, self.done = kept["id"], kept["done"]
        except (OSError, ValueError, KeyError, TypeError):
            return

    def save(self, **done: Any) -> None:
        """Save the progress. The file is written under another name and then renamed, so it is never incomplete."""
        self.done = done
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_text(json.dumps({"id": self.id, "work": self.work, "done": done}), "utf-8")
        replace(beside, self.path)

    def delete(self) -> None:
        """Delete the file: the transfer is complete."""
        self.path.unlink(missing_ok=True)
