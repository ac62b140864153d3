"""Help on all commands, one command, or a topic, as text and as JSON."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

from ugs_gateway.cli.command_table import COMMANDS, NAMES, Entry, find_command
from ugs_gateway.cli.input.target import PLACE_HELP
from ugs_gateway.cli.output.exit_codes import EXIT_CODES
from ugs_gateway.cli.output.streams import UsageError

ABOUT = "An event-sourced graph over any store. Without a command: the interactive mode."

EXAMPLES = """examples:
  ugs load-demo                                 fill ./data with the demonstration graph
  ugs --human stats                             how large it is, for people
  ugs                                           the interactive mode
  ugs get alice --url http://127.0.0.1:8000/    the same from a running gateway
  ugs serve                                     serve ./data on http://127.0.0.1:8000/
  ugs traverse --help                           all about one command
"""

MODES_HELP = """Answers come in one of two voices. `agent` prints one compact JSON value per command; `human`
prints words and tables. The first of these that says `agent` or `human` decides:
  1. the flag --agent or --human
  2. the property `actor` of the node _user_prefs      (add-node _user_prefs prefs actor=human)
  3. the property `default_actor` of _system_config
  4. the environment variable UGS_ACTOR
  5. agent
Data goes to standard output, messages to standard error. NO_COLOR turns colours off.
"""

PROPERTIES_HELP = """Properties follow the words of add-node, add-edge and update:
  key=text          a text, also when it looks like a number
  key:=json         a number, a list, an object, true, false, null
  key=@(id)         an address: a reference to a node or an edge
  +key=text         append to a list (+key:=json appends JSON)
  -key              remove
`--` ends the options: what follows may begin with --.
"""

IDS_HELP = """An id is letters, digits, _ and -, beginning with a letter or _. Before it may stand a scope: user:,
project: or scratch:. `list 'user:*'` lists a scope, `clear-scope scratch` empties it. `@(id)` refers to a
node or an edge and `@(id:3)` to its third version; `resolve` follows it.
"""

TOPICS = {
    "modes": ("the agent's and the human's voice", MODES_HELP),
    "syntax": ("how properties are written", PROPERTIES_HELP),
    "ids": ("ids, scopes and addresses", IDS_HELP),
    "places": ("stores and gateways", PLACE_HELP),
    "exit-codes": ("how a command can end", EXIT_CODES),
}


def help_text(topic: str = "") -> str:
    """The page on a topic."""
    if not topic:
        return _overview()
    if topic in TOPICS:
        return TOPICS[topic][1]
    entry = find_command(topic)
    if entry is None:
        raise unknown_topic(topic)
    return command_help(entry)


def help_value(topic: str = "") -> dict[str, Any]:
    """The same as JSON."""
    if topic:
        return {"topic": topic, "text": help_text(topic)}
    commands = {entry.name: {"usage": usage_of(entry), "summary": entry.summary} for entry in COMMANDS}
    return {"commands": commands, "topics": {name: title for name, (title, _) in TOPICS.items()}}


def unknown_topic(topic: str) -> UsageError:
    """The error for an unknown topic, with the most similar one."""
    close = get_close_matches(topic, [*NAMES, *TOPICS], n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return UsageError(f"there is no help on {topic!r}.{hint} `help` lists all topics.")


def usage_of(entry: Entry) -> str:
    """The usage line of a command."""
    return entry.usage or f"{entry.name} [options]"


def _overview() -> str:
    width = max(map(len, NAMES)) + 2
    parts = [
        "usage: ugs [--human | --agent] [--store URL | --url URL] <command> …\n",
        "An event-sourced graph over any store.\n",
    ]
    for group in dict.fromkeys(entry.group for entry in COMMANDS):
        lines = [f"  {entry.name:<{width}}{entry.summary}" for entry in COMMANDS if entry.group == group]
        parts.append(f"{group}:\n" + "\n".join(lines) + "\n")
    topics = "\n".join(f"  {'help ' + name:<{width}}{title}" for name, (title, _) in TOPICS.items())
    parts += [f"more help:\n{topics}\n", EXAMPLES, EXIT_CODES]
    parts.append("The store is --store URL, else the environment variable UGS_STORE, else file:./data")
    return "\n".join(parts)


def command_help(entry: Entry) -> str:
    """The page of one operation; argparse commands print their own."""
    if not entry.usage:
        from ugs_gateway.cli.argparse_commands import argparse_help

        return argparse_help(entry)
    function = getattr(import_module(entry.module), entry.function)
    about = "\n".join(line.strip() for line in (function.__doc__ or entry.summary).strip().splitlines())
    examples = "\n".join(f"  ugs {example}" for example in entry.examples)
    return f"usage: ugs {entry.usage}\n\n{about}\n\nexamples:\n{examples}\n\n{PLACE_HELP}\n{EXIT_CODES}"
