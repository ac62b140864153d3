"""Authentication of bearer tokens, and authorisation by role.

A bearer token is an API key, from the store or from the key file, or a JSON Web Token. If none of these is configured
the gateway is open, which `server.check_open` allows only on a loopback address or with `allow_open`. A reader reads, a
writer also changes the graph, an admin may also run system-wide operations.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import msgspec
from graphql import OperationDefinitionNode, OperationType
from msgspec import Struct

from ugs.connect import storage_for
from ugs.errors import Forbidden, InvalidSyntax, StorageIOError, Unauthenticated
from ugs.identity import LOCAL, ROLES, TENANT_ADMIN, Principal, login_name
from ugs.keys.api import HOME, Keyring
from ugs.keys.model import PREFIX as STORED_PREFIX
from ugs.support.bounded_cache import BoundedCache
from ugs.values import FORBIDDEN_TEXT
from ugs_gateway.auth.api_key_file import PREFIX, read_known_tokens, read_tokens, token_hash
from ugs_gateway.auth.jwks import FileKeys, IssuerKeys
from ugs_gateway.observability.structured_logs import Log
from ugs_gateway.settings import Mode, Settings, Tenancy
from ugs_schema.compiler.executor import Prepared

TENANT_FIELDS = frozenset(
    {
        *("apiKeys", "createApiKey", "revokeApiKey"),
        *("webhooks", "createWebhook", "pauseWebhook", "resumeWebhook", "deleteWebhook", "rewindWebhook"),
        "redeliverWebhook",
    }
)
"""Fields that the admin of a tenant may ask for, also where tenants share a graph."""
ADMIN_FIELDS = TENANT_FIELDS | {
    "snapshot",
    "verify",
    "verifyRun",
    "clearScope",
    "importGraph",
    "exportGraph",
    "gateway",
}
LEEWAY_SECONDS = 10
"""Accepted clock skew between the issuer of a token and this machine."""
FILE_CHECK_SECONDS = 5.0
UNREADABLE_SECONDS = 30.0
"""How long the keys of an existing but unreadable key file stay valid."""
FILE_GONE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
CACHE_SIZE, CACHE_BYTES, LOGIN_BYTES = 1_000, 4 << 20, 1_024
"""Bounds of the cache of logins, and the estimated memory of a login besides its header."""
TIME_CLAIMS = ("exp", "nbf", "iat")
CONTEXT_CLAIMS = ("tenant", "project", "agent")
MAX_CLAIM_CHARS = 200

log = Log("ugs_gateway.auth")


class Login(Struct, frozen=True):
    """The principal of a credential, and when the credential expires (Unix seconds)."""

    principal: Principal
    ends: float | None = None


class Authenticator:
    """Maps an Authorization header to a principal."""

    def __init__(self, settings: Settings, keyring: Keyring | None = None) -> None:
        self.keyring = keyring
        self.open = not settings.has_login
        self.shares_graph = settings.tenants is Tenancy.SHARED
        self.token_file = Path(settings.token_file) if settings.token_file else None
        self.tokens = read_tokens(self.token_file) if self.token_file else {}
        self._version = version_of(self.token_file) if self.token_file else None
        self._read_at = self._looked_at = time.monotonic()
        self._recent: BoundedCache[str, Login] = BoundedCache(CACHE_SIZE, CACHE_BYTES)
        """Cache of logins by Authorization header, for keys of the file and JSON Web Tokens; cleared every few
        seconds, when the file is checked for changes. Keys of the store are not cached here, so their revocation is
        not delayed."""
        self.algorithm = settings.jwt_algorithm
        self.audience = settings.jwt_audience or None
        self.issuer = settings.jwt_issuer or None
        self.key = signing_key(settings)

    def principal(self, authorization: str | None) -> Principal:
        """The principal of an Authorization header, or `Unauthenticated`."""
        if self.open:
            return LOCAL.principal
        if time.monotonic() - self._looked_at >= FILE_CHECK_SECONDS:
            self._refresh()
        login = self._recent.get(authorization or "")
        if login is None or (login.ends is not None and time.time() >= login.ends):
            login = self._authenticate(authorization)
        return login.principal

    def _authenticate(self, authorization: str | None) -> Login:
        token = token_in(authorization)
        if not token:
            raise Unauthenticated("Say who you are: send the header Authorization: Bearer <token>")
        login = self._login_for(token)
        if authorization and not token.startswith(STORED_PREFIX):
            self._recent.put(authorization, login, LOGIN_BYTES + len(authorization))
        return login

    def is_accepted(self, authorization: str | None) -> bool:
        """Whether a credential is still accepted: tokens expire and keys are revoked."""
        try:
            self.principal(authorization)
        except Unauthenticated:
            return False
        return True

    def _refresh(self) -> None:
        """Reload the key file if it has changed; called every few seconds at most.

        The file is authoritative: if it is deleted its keys stop working, and a malformed line grants nothing. Only a
        file that exists and cannot be read keeps its last known keys, for `UNREADABLE_SECONDS`.
        """
        self._looked_at = time.monotonic()
        self._recent.clear()
        if self.token_file is None:
            return
        try:
            version = version_of(self.token_file)
            if version != self._version:
                self.tokens, broken = read_known_tokens(self.token_file)
                self._version = version
                for reason in broken:
                    log.warning("a line of the token file is no key and lets nobody in", reason=reason)
            self._read_at = self._looked_at
        except FILE_GONE:
            self._forget_tokens("the token file is gone; its keys no longer work")
        except OSError as error:
            if self._looked_at - self._read_at > UNREADABLE_SECONDS:
                self._forget_tokens("the token file cannot be read; its keys no longer work")
            else:
                log.warning("the token file cannot be read; keys stay as they were for now", reason=str(error))

    def _forget_tokens(self, reason: str) -> None:
        if self._version is not None:
            log.warning(reason, file=str(self.token_file))
        self.tokens, self._version = {}, None

    def _login_for(self, token: str) -> Login:
        if token.startswith((PREFIX, STORED_PREFIX)):
            found = self._holder(token)
            if found is None:
                raise Unauthenticated("This API key is not known here")
            return Login(self._restrict_to_tenant(found))
        if self.key is None:
            raise Unauthenticated("This token is not known here")
        claims = self._claims(token)
        return Login(self._restrict_to_tenant(principal_of(claims)), claims["exp"] + LEEWAY_SECONDS)

    def _restrict_to_tenant(self, principal: Principal) -> Principal:
        """The principal with its rights restricted to its tenant.

        A shared graph belongs to the tenant `default`, so admins of other tenants lose the operations that concern the
        whole graph and become tenant admins.
        """
        if not self.shares_graph:
            return principal
        roles = principal.roles
        if principal.tenant != HOME and "admin" in roles:
            roles = (roles - {"admin"}) | {"reader", "writer", TENANT_ADMIN}
        return msgspec.structs.replace(principal, roles=roles, shares_graph=True)

    def _holder(self, token: str) -> Principal | None:
        """The principal of an API key, from the store or the file."""
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
            if not all(is_time(found[name]) for name in TIME_CLAIMS if name in found):
                raise ValueError("a time is a number")
            found = {**found, "exp": float(found["exp"])}
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            # PyJWT does not catch the errors of `int` for malformed times such as Infinity.
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
    """The verification key: the issuer's JWKS, or the content of the key file (a JWKS, a secret or PEM); None if
    neither is set."""
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


def token_in(authorization: str | None) -> str:
    """The bearer token in an Authorization header; empty if there is none."""
    kind, _, token = (authorization or "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def version_of(path: Path) -> tuple[int, ...]:
    """A version of the file: modification time, size and inode."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def principal_of(claims: Mapping[str, Any]) -> Principal:
    """The principal that a token's claims describe; unknown roles are ignored.

    A claim that is present must be text: treating any other type as absent would put its holder into the tenant
    `default`, which owns the store.
    """
    given = claims.get("roles", ())
    roles = frozenset(role for role in given if role in ROLES) if isinstance(given, list) else frozenset()
    for name in ("sub", *CONTEXT_CLAIMS):
        if name in claims:
            check_claim(claims[name], name)
    places = {name: claims[name] for name in CONTEXT_CLAIMS if name in claims}
    return Principal(user=login_name(claims["sub"]), roles=roles, **places)


def is_time(value: object) -> bool:
    """Whether a claim is a number; PyJWT also takes truth values and digits in a text."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_claim(value: object, name: str) -> None:
    """Reject a claim that is not text, is empty or too long, or has forbidden characters."""
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_CLAIM_CHARS or FORBIDDEN_TEXT.search(value):
        raise Unauthenticated(
            f"The token is not valid: its claim {name} must be text of 1 to {MAX_CLAIM_CHARS} characters"
        )


def check_rights(principal: Principal, prepared: Prepared, operation: OperationDefinitionNode | None) -> None:
    """Raise `Forbidden` if the principal's roles do not cover the operation."""
    if operation is None or "admin" in principal.roles:
        return
    needed = ADMIN_FIELDS & prepared.root_fields(operation)
    if TENANT_ADMIN in principal.roles:
        if needed - TENANT_FIELDS:
            raise Forbidden("Tenants share this graph: this needs an admin of the tenant default, which owns it")
    elif needed:
        raise Forbidden("This needs the role admin")
    if operation.operation is OperationType.MUTATION and "writer" not in principal.roles:
        raise Forbidden("Changing the graph needs the role writer")
    if not principal.roles:
        raise Forbidden("Reading the graph needs the role reader")


def check_safe(settings: Settings) -> None:
    """In production mode, refuse to start with settings that are only acceptable for development."""
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
