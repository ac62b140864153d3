"""Server-sent events of GraphQL, one line at a time."""

from __future__ import annotations

import json
from typing import Any

NEXT, COMPLETE = "next", "complete"


class EventParser:
    """Takes lines and gives the results between them; comments (heartbeats) are skipped."""

    def __init__(self) -> None:
        self._event = NEXT
        self._data: list[bytes] = []
        self.is_complete = False
        """Whether the server said that no more results follow."""

    def feed(self, line: bytes) -> Any | None:
        """The result that this line completes, or None."""
        line = line.rstrip(b"\r\n")
        if line:
            name, _, value = line.partition(b":")
            if name == b"event":
                self._event = value.strip().decode()
            elif name == b"data":
                self._data.append(value.removeprefix(b" "))
            return None
        event, data = self._event, b"\n".join(self._data)
        self._event, self._data = NEXT, []
        if event == COMPLETE:
            self.is_complete = True
            return None
        return json.loads(data) if data else None
