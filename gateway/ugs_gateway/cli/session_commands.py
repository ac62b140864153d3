"""Commands that concern the session itself: `help`, `exit`, `quit`. They open no store."""

from __future__ import annotations

from ugs_gateway.cli.input.arguments import ParsedArguments
from ugs_gateway.cli.output.streams import Output, write_out


def help_(arguments: ParsedArguments, output: Output) -> bool:
    """All commands, or what there is to know about one of them or about a topic."""
    write_out(output.help(arguments.words.get("topic", "")))
    return True


def exit_(arguments: ParsedArguments, output: Output) -> bool:
    """End the interactive mode or a script; what stands behind it is not done. Elsewhere there is nothing to leave."""
    return False


def quit_(arguments: ParsedArguments, output: Output) -> bool:
    """The same as `exit`."""
    return False
