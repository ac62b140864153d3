"""Hints for error messages: what to try next."""

from __future__ import annotations

from typing import Any

from ugs_gateway.cli.output.formatters import Coded

HINTS = {
    "E001": "`get <id>` shows what is there; `update <id> key=value` changes it.",
    "E002": "`search <word>` and `list <type>` find ids.",
    "E003": "`get <id>` shows what is there; `update <id> key=value` changes it.",
    "E004": "`history` shows when an edge was deleted.",
    "E008": "`ugs doctor --repair` rebuilds the snapshot from the log, if there is one; else take both from a backup.",
    "E009": "`ugs doctor` says where the log is damaged and what can be done.",
    "STORE_LOCKED": "Is a gateway serving this store? Then talk to it: --url http://127.0.0.1:8000/",
    "UNAVAILABLE": "`ugs health` asks whether a gateway is there; `ugs info` says which store is meant.",
    "UNAUTHENTICATED": "Give a key: --token KEY or UGS_TOKEN. `ugs token create` makes one.",
    "FORBIDDEN": "The key's role does not allow this: reader < writer < admin.",
    "UNKNOWN_STORE": "`ugs plugins` lists the backends that are installed.",
    "POSITION_NOT_FOUND": "`history 1` shows how far the log goes.",
    "VERSION_CONFLICT": "`get <id> --all` shows the version it has now.",
    "HISTORY_GONE": "`ugs export` and `ugs import` carry the state as it is now.",
}
ID_TAKEN_HINT = "--on-conflict skip leaves alone what is there, --on-conflict replace overwrites it."
BY_COMMAND = {
    ("load-demo", "E001"): "The demonstration graph is here already? `load-demo --force` adds what is missing.",
    ("load-demo", "E003"): "The demonstration graph is here already? `load-demo --force` adds what is missing.",
    ("import", "E001"): ID_TAKEN_HINT,
    ("import", "E003"): ID_TAKEN_HINT,
}
"""More specific hints for an error of one command."""
DATABASE_FILES = (".db", ".sqlite", ".sqlite3")


def hint_for(error: Coded, command: str | None = None) -> str | None:
    """The hint for an error, or None."""
    own: str | None = getattr(error, "hint", None)
    details: dict[str, Any] = getattr(error, "details", None) or {}
    if own is not None:
        return own
    if error.code == "UNKNOWN_STORE" and isinstance(details.get("url"), str):
        meant = suggest_store_url(details["url"])
        if meant is not None:
            return f"Did you mean {meant}?"
    if error.code == "E005" and command is not None:
        return f"`ugs help {command}` shows the syntax."
    return BY_COMMAND.get((command or "", error.code)) or HINTS.get(error.code)


def suggest_store_url(url: str) -> str | None:
    """The URL that was probably intended, if no backend has the scheme."""
    if url.startswith(("http://", "https://")):
        return f"--url {url}"
    if url.endswith(DATABASE_FILES) and "://" not in url:
        return f"--store sqlite:///{url}"
    return f"--store file:{url}" if ":" not in url and url else None
