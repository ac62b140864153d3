"""Answers that cannot have changed: a question asked again of a folder whose log has not grown.

A log only ever grows, so its size names one state of the graph, and the same words must get the same answer. Agents ask
the same things often, and starting Python with the whole kernel takes far longer than the answer. Only reading commands
on `file:` stores are remembered, in the agent's voice, in the user's cache folder. This module imports next to nothing.
"""

from __future__ import annotations

import marshal
import os
from binascii import crc32

TYPE_CHECKING = False  # as in typing, whose import would cost as much as all of this
if TYPE_CHECKING:
    from collections.abc import Mapping

READING = frozenset(
    (
        *("stats", "get", "list", "search", "find-by-property", "neighbors", "traverse", "path", "hubs", "roots"),
        *("properties", "history", "scopes", "versions", "resolve"),
    )
)
"""Commands whose answer is decided by the log and the words alone."""
VARIABLES = ("UGS_STORE", "UGS_ACTOR", "UGS_CONFIG", "UGS_URL")
CHANGING = ("--url", "--config", "--human")
"""Options that make it another place, or another voice."""
SLOTS = 64
LONGEST = 1 << 16
HERE = os.path.dirname(__file__)
CODE = tuple(
    os.path.join(HERE, *parts) for parts in ((), ("operations",), ("..", "..", "ugs"), ("..", "..", "ugs", "graph"))
)


class Memory:
    """What is known of one question."""

    def __init__(self, words: list[str], folder: str, environ: Mapping[str, str]) -> None:
        self.log = os.path.join(folder, "events.wal")
        surroundings = [environ.get(name, "") for name in VARIABLES]
        self.key = repr([words, os.path.abspath(folder), surroundings, [_changed(path) for path in CODE]])
        cache = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME", ""), ".cache")
        self.file = os.path.join(cache, "ugs", f"answer-{crc32(self.key.encode('utf-8', 'replace')) % SLOTS:02}")

    def recall(self) -> bytes | None:
        """The answer, when it was given before and the log has not grown since."""
        try:
            with open(self.file, "rb") as kept:
                key, state, answer = marshal.load(kept)
        except (OSError, ValueError, EOFError, TypeError):
            return None
        return answer if (key, state) == (self.key, self._state()) and isinstance(answer, bytes) else None

    def keep(self, answer: str) -> None:
        """Remember an answer; whoever calls this holds the store, so that nothing has been added meanwhile."""
        state, said = self._state(), answer.encode("utf-8", "backslashreplace") + b"\n"
        if state is None or len(said) > LONGEST:
            return
        beside = f"{self.file}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(self.file), mode=0o700, exist_ok=True)
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as kept:
                marshal.dump((self.key, state, said), kept)
            os.replace(beside, self.file)
        except OSError:
            # A cache that cannot be written costs time, nothing else.
            return

    def _state(self) -> tuple[int, int, int] | None:
        """Which log it is, and how far it has come."""
        try:
            found = os.stat(self.log)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def memory_for(words: list[str], environ: Mapping[str, str]) -> Memory | None:
    """What is known of a question; None when it is not one that can be remembered."""
    if _command(words) not in READING or "--" in words or any(word.startswith(CHANGING) for word in words):
        return None
    if environ.get("UGS_URL") or environ.get("UGS_CONFIG") or os.path.exists("ugs.toml"):
        return None
    folder = _folder(words, environ)
    return None if folder is None else Memory(words, folder, environ)


def _command(words: list[str]) -> str:
    """The command behind the options that may stand before it."""
    place = 0
    while place < len(words) and words[place].startswith("--"):
        place += 1 if words[place] == "--agent" or "=" in words[place] else 2
    return words[place] if place < len(words) else ""


def _folder(words: list[str], environ: Mapping[str, str]) -> str | None:
    """The folder of a plain `file:` store, as the command will find it."""
    url = environ.get("UGS_STORE") or "file:./data"
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in ("--store", "--backend", "--data-dir"):
            value = value if equals else "".join(words[place + 1 : place + 2])
            url = f"file:{value}" if name == "--data-dir" else value
    scheme, _, folder = url.partition(":")
    return folder if scheme == "file" and folder and not set("?#%") & set(folder) and "//" not in folder else None
