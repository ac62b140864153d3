"""API keys of the store on the command line: make them, list them, take them back."""

from __future__ import annotations

from ugs.errors import InvalidSyntax
from ugs.identity import ROLES
from ugs_gateway.cli.clients import GraphClient, Record
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.operations.queries import parse_moment
from ugs_gateway.cli.output.results import Answer

ACTIONS = ("add", "list", "revoke")
HOLDER_FIELDS = ("user", "tenant", "project", "agent")


async def key(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Make, list or revoke API keys, which let callers in where the gateway runs with `store_keys`.

    `add` shows the key once; only its hash is kept. `revoke` takes the id that `list` shows, which is also the part of
    the key behind `ugsk_`.
    """
    action = parse_choice(arguments.words["action"], ACTIONS, "action")
    if action == "list":
        return Answer("rows", await client.keys())
    if "name" not in arguments.words:
        raise InvalidSyntax(f"key {action} needs {'a name' if action == 'add' else 'the id of a key'}")
    if action == "revoke":
        return Answer("success", await client.revoke_key(arguments.words["name"]))
    return Answer("success", await client.add_key(key_fields_in(arguments)))


def key_fields_in(arguments: ParsedArguments) -> Record:
    """The key that the arguments describe."""
    role = parse_choice(arguments.options.get("role", ROLES[0]), ROLES, "--role")
    told: Record = {name: arguments.options[name] for name in HOLDER_FIELDS if name in arguments.options}
    if "expires" in arguments.options:
        told["expires_at"] = parse_moment(arguments.options["expires"], "--expires").isoformat()
    return {"name": arguments.words["name"], "roles": [role], **told}
