"""A next step for whoever meets an error."""

from __future__ import annotations

from gateway.cli.voices import Coded

HINTS = {
    "E001": "`get <id>` shows what is there; `update <id> key=value` changes it.",
    "E002": "`search <word>` and `list <type>` find ids.",
    "E003": "`get <id>` shows what is there; `update <id> key=value` changes it.",
    "E004": "`history` shows when an edge was deleted.",
    "E005": "`help <command>` shows the syntax.",
    "E006": 'Text needs no JSON: key=text. JSON follows `:=` and its texts have double quotes: tags:=\'["a","b"]\'.',
    "E007": "Is a gateway serving this store? Then talk to it: --url http://127.0.0.1:8000/",
    "E008": "`ugs doctor --repair` rebuilds the snapshot from the log.",
    "E009": "`ugs doctor` says where the log is damaged and what can be done.",
    "UNAVAILABLE": "`ugs health` asks whether a gateway is there; `ugs info` says which store is meant.",
    "UNAUTHENTICATED": "Give a key: --token KEY or UGS_TOKEN. `ugs token create` makes one.",
    "FORBIDDEN": "The key's role does not allow this: reader < writer < admin.",
    "UNKNOWN_STORE": "`ugs plugins` lists the backends that are installed.",
    "POSITION_NOT_FOUND": "`history 1` shows how far the log goes.",
    "VERSION_CONFLICT": "`get <id> --all` shows the version it has now.",
}


def hint_for(error: Coded) -> str | None:
    """What to try next."""
    return HINTS.get(error.code)
