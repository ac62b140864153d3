"""API keys of the store on the command line: make them, list them, take them back."""

from __future__ import annotations

from gateway.cli.answers import Answer
from gateway.cli.operations.asking import read_moment
from gateway.cli.ports import Port, Record
from gateway.cli.usage import Asked, one_of
from ugs.errors import InvalidSyntax
from ugs.identity import ROLES

ACTIONS = ("add", "list", "revoke")
HOLDER = ("user", "tenant", "project", "agent")


async def key(asked: Asked, port: Port) -> Answer:
    """Make, list or revoke API keys, which let callers in where the gateway runs with `store_keys`.

    `add` shows the key once; only its hash is kept. `revoke` takes the id that `list` shows, which is also the part of
    the key behind `ugsk_`.
    """
    action = one_of(asked.words["action"], ACTIONS, "action")
    if action == "list":
        return Answer("rows", await port.keys())
    if "name" not in asked.words:
        raise InvalidSyntax(f"key {action} needs {'a name' if action == 'add' else 'the id of a key'}")
    if action == "revoke":
        return Answer("success", await port.revoke_key(asked.words["name"]))
    return Answer("success", await port.add_key(wanted_in(asked)))


def wanted_in(asked: Asked) -> Record:
    """The key that the words describe."""
    role = one_of(asked.options.get("role", ROLES[0]), ROLES, "--role")
    told: Record = {name: asked.options[name] for name in HOLDER if name in asked.options}
    if "expires" in asked.options:
        told["expires_at"] = read_moment(asked.options["expires"], "--expires").isoformat()
    return {"name": asked.words["name"], "roles": [role], **told}
