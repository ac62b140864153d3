"""Corrections of facts on the command line."""

from __future__ import annotations

from datetime import UTC

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.clients import Correction, GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.operations.queries import format_ends, parse_moment
from ugs_gateway.cli.output.results import Answer

ACTIONS = ("end", "replace", "retract")


async def correct(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Correct a fact, by its id, with a --reason.

    `end`: it is true no more. `replace`: another --value, or entity as --object, is true instead. Both count from now,
    or from --when. `retract`: it was never true; what it had ended as the newer value of a single-valued
    predicate holds again, unless --leave-ended.
    """
    action = parse_choice(arguments.words["action"], ACTIONS, "action")
    options = arguments.options
    if "reason" not in options:
        raise InvalidSyntax("a correction needs a --reason")
    if (action == "replace") != ("value" in options or "object" in options):
        raise InvalidSyntax("replace takes --value or --object, and no other action does")
    if "leave-ended" in options and action != "retract":
        raise InvalidSyntax("--leave-ended goes with retract")
    moment = parse_moment(options["when"], "--when").astimezone(UTC) if "when" in options else None
    done = await client.correct(
        Correction(
            fact=arguments.words["fact"],
            action=action,
            reason=options["reason"],
            value=options.get("value"),
            object=options.get("object"),
            when=None if moment is None else moment.isoformat().replace("+00:00", "Z"),
            reopen=not arguments.flag("leave-ended"),
        )
    )
    fact, before = (None if done.value[name] is None else format_ends(done.value[name]) for name in ("fact", "before"))
    told = {"fact": fact, "before": before, "reopened": list(map(format_ends, done.value["reopened"]))}
    return Answer("success", told, warnings=tuple(done.warnings))
