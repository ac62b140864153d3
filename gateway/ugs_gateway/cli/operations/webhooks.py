"""Webhooks on the command line: make, list, pause, move and delete them, and try their dead letters again."""

from __future__ import annotations

import json

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.clients import GraphClient, Record
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.output.results import Answer

ACTIONS = ("add", "list", "pause", "resume", "rewind", "redeliver", "delete")
TEXTS = ("name", "user", "project", "agent")


async def webhook(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Send events to an address, list the webhooks, or pause, resume, rewind, redeliver and delete one by its id.

    `add` takes the address and shows the secret of the signatures once. `--filter` has one of `types`, `element`,
    `nodes` and `edges`, as the subscriptions have them. `--after` is a place in the log: `add` and `rewind` deliver
    what comes behind it. `redeliver` tries the dead letters again and needs a gateway (`--url`).
    """
    action = parse_choice(arguments.words["action"], ACTIONS, "action")
    if action == "list":
        return Answer("rows", await client.webhooks())
    if "target" not in arguments.words:
        raise InvalidSyntax(f"webhook {action} needs {'an address' if action == 'add' else 'the id of a webhook'}")
    target, after = arguments.words["target"], arguments.number("after")
    if action == "add":
        return Answer("success", await client.add_webhook(webhook_in(arguments)))
    if action == "rewind" and after is None:
        raise InvalidSyntax("webhook rewind needs --after, a place in the log")
    return Answer("success", await client.change_webhook(action, target, after))


def webhook_in(arguments: ParsedArguments) -> Record:
    """The webhook that the arguments describe."""
    told: Record = {name: arguments.options[name] for name in TEXTS if name in arguments.options}
    try:
        filter = json.loads(arguments.options.get("filter", "{}"))
    except ValueError as error:
        raise InvalidSyntax(f"--filter is not JSON: {error}") from error
    if not isinstance(filter, dict):
        raise InvalidSyntax("--filter is a JSON object")
    after = arguments.number("after")
    return {"url": arguments.words["target"], "filter": filter, **told} | ({} if after is None else {"after": after})
