"""Proposed facts on the command line: look at them, and decide about them."""

from __future__ import annotations

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.output.results import Answer

ACTIONS = ("list", "approve", "reject", "edit")
STATES = ("pending", "approved", "rejected")
FIELDS = ("subject", "predicate", "value", "object")
SHOWN = ("id", "subject", "predicate", "value", "object", "proposer")


async def proposals(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """List proposed facts, or decide about one: no read shows them until they are approved.

    `list` shows the pending ones, or those in a --state (pending, approved, rejected). `approve` makes a fact, `reject`
    takes a --reason, `edit` changes --subject, --predicate, --value or --object. Nobody decides about their own.
    """
    action = parse_choice(arguments.words["action"], ACTIONS, "action")
    options = arguments.options
    if action == "list":
        found = await client.proposals(parse_choice(options.get("state", STATES[0]), STATES, "--state"))
        return Answer("rows", found, [{name: row.get(name) for name in SHOWN} for row in found])
    if "id" not in arguments.words:
        raise InvalidSyntax(f"proposals {action} needs the id of a proposal")
    changes = {name: options[name] for name in FIELDS if name in options}
    if (action == "edit") != bool(changes):
        raise InvalidSyntax("edit takes --subject, --predicate, --value or --object, and no other action does")
    return Answer("success", await client.decide(arguments.words["id"], action, options.get("reason"), changes))
