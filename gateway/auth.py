"""Who asks, and what they may do.

A bearer token is an API key, from the store or from the token file, or a JSON Web Token. Without any such setting the
gateway is open, which it allows only where nobody else can reach it. Roles: a reader reads, a writer also changes, an
admin also does what concerns the whole system.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
from graphql import OperationDefinitionNode, OperationType

from gateway.jwks import FileKeys, IssuerKeys
from gateway.logs import Log
from gateway.settings import Mode, Settings
from gateway.tokens import PREFIX, read_tokens, token_hash
from schema.operations import Prepared
from ugs.connect import storage_for
from ugs.errors import Forbidden, InvalidSyntax, StorageIOError, UgsError, Unauthenticated
from ugs.identity import LOCAL, ROLES, Principal
from ugs.keyring import Keyring
from ugs.keys.model import PREFIX as STORED_PREFIX

ADMIN_FIELDS = frozenset(
    {"snapshot", "verify", "clearScope", "importGraph", "exportGraph", "apiKeys", "createApiKey", "revokeApiKey"}
)
LEEWAY_SECONDS = 30
LOOK_SECONDS = 5.0
KEPT = 1_000

log = Log("gateway.auth")


class Gatekeeper:
    """Knows the keys, and turns a token into a principal."""

    def __init__(self, settings: Settings, keyring: Keyring | None = None) -> None:
        self.keyring = keyring
        self.open = not settings.has_login
        self.token_file = Path(settings.token_file) if settings.token_file else None
        self.tokens = read_tokens(self.token_file) if self.token_file else {}
        self._changed = self.token_file.stat().st_mtime_ns if self.token_file else 0
        self._looked_at = time.monotonic()
        self._recent: dict[str, Principal] = {}
        """Who is behind headers that have come lately, with a key from the file; forgotten when that is looked at."""
        self.algorithm = settings.jwt_algorithm
        self.audience = settings.jwt_audience or None
        self.issuer = settings.jwt_issuer or None
        self.key = signing_key(settings)

    def principal(self, authorization: str | None) -> Principal:
        """Who is behind an `Authorization` header."""
        if self.open:
            return LOCAL.principal
        if time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._refresh()
        return self._recent.get(authorization or "") or self._announced(authorization)

    def _announced(self, authorization: str | None) -> Principal:
        kind, _, token = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise Unauthenticated("Say who you are: send the header Authorization: Bearer <token>")
        found = self._known(token.strip())
        if authorization and token.startswith(PREFIX) and len(self._recent) < KEPT:
            self._recent[authorization] = found
        return found

    def still_knows(self, authorization: str | None) -> bool:
        """Whether who was let in would be let in again: tokens expire and keys are withdrawn."""
        try:
            self.principal(authorization)
        except Unauthenticated:
            return False
        return True

    def _refresh(self) -> None:
        """Read the keys again when their file has changed; done every few seconds at most."""
        self._looked_at = time.monotonic()
        self._recent.clear()
        if self.token_file is None:
            return
        try:
            changed = self.token_file.stat().st_mtime_ns
            if changed != self._changed:
                self.tokens, self._changed = read_tokens(self.token_file), changed
        except (OSError, UgsError) as error:
            log.warning("the token file cannot be read; keys stay as they were", reason=str(error))

    def _known(self, token: str) -> Principal:
        if token.startswith((PREFIX, STORED_PREFIX)):
            found = self._holder(token)
            if found is None:
                raise Unauthenticated("This API key is not known here")
            return found
        if self.key is None:
            raise Unauthenticated("This token is not known here")
        return principal_of(self._claims(token))

    def _holder(self, token: str) -> Principal | None:
        """Who holds an API key."""
        if token.startswith(STORED_PREFIX):
            return None if self.keyring is None else self.keyring.principal(token)
        return self.tokens.get(token_hash(token))

    def _claims(self, token: str) -> Mapping[str, Any]:
        key = self._key_for(token)
        try:
            found: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[self.algorithm],
                audience=self.audience,
                issuer=self.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "sub"], "verify_aud": self.audience is not None},
            )
        except jwt.PyJWTError as error:
            raise Unauthenticated(f"The token is not valid: {type(error).__name__}") from error
        return found

    def _key_for(self, token: str) -> Any:
        if not isinstance(self.key, FileKeys | IssuerKeys):
            return self.key
        try:
            found = self.key.key(jwt.get_unverified_header(token).get("kid"))
        except jwt.PyJWTError as error:
            raise Unauthenticated("The token is not valid: its header cannot be read") from error
        if found is None:
            raise Unauthenticated("The token is signed with a key that is not known here")
        return found


def signing_key(settings: Settings) -> Any:
    """The issuer's keys, or the key in the file: a JWKS, or a secret or PEM as it is; None without either."""
    if settings.jwt_keys_url:
        return IssuerKeys(settings.jwt_keys_url)
    if not settings.jwt_key_file:
        return None
    try:
        text = Path(settings.jwt_key_file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StorageIOError(f"The key file {settings.jwt_key_file} cannot be read") from error
    if text.startswith("{"):
        try:
            return FileKeys(text)
        except jwt.PyJWTError as error:
            raise InvalidSyntax(f"The key file {settings.jwt_key_file} is not a JWKS: {error}") from error
    if settings.jwt_algorithm.startswith("HS") and len(text) < 32:
        raise InvalidSyntax(f"The secret in {settings.jwt_key_file} is shorter than 32 characters")
    return text


def principal_of(claims: Mapping[str, Any]) -> Principal:
    """The principal that a token's claims describe; unknown roles count for nothing."""
    given = claims.get("roles", ())
    roles = frozenset(role for role in given if role in ROLES) if isinstance(given, list) else frozenset()
    places = {name: text for name in ("tenant", "project", "agent") if isinstance(text := claims.get(name), str)}
    return Principal(user=str(claims["sub"]), roles=roles, **places)


def check_rights(principal: Principal, prepared: Prepared, operation: OperationDefinitionNode | None) -> None:
    """Refuse an operation that the principal's roles do not cover."""
    if operation is None or "admin" in principal.roles:
        return
    if ADMIN_FIELDS & prepared.root_fields(operation):
        raise Forbidden("This needs the role admin")
    if operation.operation is OperationType.MUTATION and "writer" not in principal.roles:
        raise Forbidden("Changing the graph needs the role writer")
    if not principal.roles:
        raise Forbidden("Reading the graph needs the role reader")


def check_safe(settings: Settings) -> None:
    """In production, refuse to start with settings that only a developer's own machine may have."""
    if settings.mode is not Mode.PRODUCTION:
        return
    problems = []
    if not settings.has_login:
        problems.append("nobody has to log in: set store_keys, token_file, jwt_key_file or jwt_keys_url")
    if settings.trusted_only and not settings.trusted_documents:
        problems.append("trusted_only is on and there are no trusted_documents")
    if "*" in settings.allowed_origins:
        problems.append("allowed_origins lets every web page in: name the pages")
    if not storage_for(settings.store).capabilities.durable:
        problems.append("the store keeps nothing: choose one that does")
    if problems:
        raise InvalidSyntax("Not safe for production: " + "; ".join(problems))
