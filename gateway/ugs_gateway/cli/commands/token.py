"""ugs token: make an API key for a user; the key is shown once and kept only as a hash.

examples:
  ugs token create --user alice --role writer --file tokens.jsonl
  UGS_TOKEN_FILE=tokens.jsonl ugs serve --host 0.0.0.0
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ugs.identity import ROLES
from ugs_gateway.auth.api_key_file import StoredToken, create_token


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=["create"], help="what to do")
    parser.add_argument("--user", required=True, help="who will use the key")
    parser.add_argument("--role", action="append", choices=ROLES, help="what the user may do (default: reader)")
    parser.add_argument("--tenant", default="default", help="the tenant whose facts the user sees")
    parser.add_argument("--project", default="default", help="the project within the tenant")
    parser.add_argument("--agent", default="default", help="the agent that acts")
    parser.add_argument("--file", type=Path, default=Path("tokens.jsonl"), help="where keys are kept")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    stored = StoredToken(
        hash="",
        user=options.user,
        roles=tuple(options.role or ["reader"]),
        tenant=options.tenant,
        project=options.project,
        agent=options.agent,
    )
    options.speech.put({"token": create_token(options.file, stored), "user": stored.user, "roles": list(stored.roles)})
    return 0
