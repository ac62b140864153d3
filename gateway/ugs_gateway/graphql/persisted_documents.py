"""Persisted documents by SHA-256: trusted ones from a file or folder, and automatic persisted queries sent by clients.

A client names a document by `documentId` or `extensions.persistedQuery`. With `trusted_only` every document outside the
trusted list is rejected, whether or not its hash is known.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from ugs.errors import Forbidden, InvalidSyntax, StorageIOError, UgsError
from ugs.identity import Principal
from ugs.support.bounded_cache import BoundedCache
from ugs.support.shape_errors import describe_shape_error
from ugs_gateway.graphql.request import GraphQLRequest, RequestRejected
from ugs_gateway.settings import Settings

MAX_ENTRIES, MAX_BYTES = 1_000, 16 << 20
SCHEME = "sha256:"


class PersistedQueryNotFound(UgsError):
    """No document with this hash is cached or trusted."""

    code = "PERSISTED_QUERY_NOT_FOUND"
    summary = "No document with this hash is known"


class DocumentNotAllowed(UgsError):
    """Only trusted documents may run here."""

    code = "DOCUMENT_NOT_ALLOWED"
    summary = "Only documents on the list may run here"


def document_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Documents:
    """Looks up the document text of a request."""

    def __init__(self, settings: Settings) -> None:
        self.trusted = read_documents(Path(settings.trusted_documents)) if settings.trusted_documents else {}
        self.only_trusted = settings.trusted_only
        self._sent: BoundedCache[str, str] = BoundedCache(MAX_ENTRIES, MAX_BYTES)

    def text_of(self, graphql_request: GraphQLRequest) -> str:
        """The document text of a request; rejects unknown hashes, hashes that do not match and untrusted documents."""
        hash = hash_in(graphql_request)
        if graphql_request.query is None:
            if hash is None:
                reason = 'A GraphQL request looks like {"query": "{ stats { nodes } }"}: there is no query'
                raise RequestRejected(400, InvalidSyntax(reason))
            return self._find(hash)
        if hash is not None and document_hash(graphql_request.query) != hash:
            raise RequestRejected(400, InvalidSyntax("The hash is not the SHA-256 of the query"))
        if self.only_trusted and document_hash(graphql_request.query) not in self.trusted:
            raise RequestRejected(403, DocumentNotAllowed("Only documents on the list of this gateway may run here"))
        return graphql_request.query

    def _find(self, hash: str) -> str:
        found = self.trusted.get(hash) or self._sent.get(hash)
        if found is None:
            # The message is fixed by the automatic persisted queries protocol: clients match it and then send the full
            # query.
            raise RequestRejected(200, PersistedQueryNotFound("PersistedQueryNotFound"))
        return found

    def keep(self, graphql_request: GraphQLRequest) -> None:
        """Cache a valid document that was sent together with its hash."""
        hash = hash_in(graphql_request)
        if hash is None or graphql_request.query is None or self.only_trusted:
            return
        self._sent.put(hash, graphql_request.query, 512 + 4 * len(graphql_request.query))


def check_own_text(principal: Principal) -> None:
    """With `trusted_only`: reject a query or program text sent with a request, except from admins.

    Applies to the interfaces without GraphQL documents: programs over REST, openCypher and programs over MCP.
    """
    if "admin" not in principal.roles:
        raise Forbidden("Only what is stored may run here (trusted_only): name a program by program_id")


def hash_in(graphql_request: GraphQLRequest) -> str | None:
    """The hash in `documentId` or in `extensions.persistedQuery`, if any."""
    if graphql_request.document_id is not None:
        return graphql_request.document_id.removeprefix(SCHEME).lower()
    persisted: Any = (graphql_request.extensions or {}).get("persistedQuery")
    if persisted is None:
        return None
    if not isinstance(persisted, dict) or persisted.get("version") != 1 or not _is_text(persisted.get("sha256Hash")):
        raise RequestRejected(400, InvalidSyntax('persistedQuery looks like {"version": 1, "sha256Hash": "…"}'))
    return str(persisted["sha256Hash"]).lower()


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def read_documents(path: Path) -> dict[str, str]:
    """Documents by hash: a JSON object of hash and text, or a folder of `.graphql` files."""
    try:
        if path.is_dir():
            texts = [file.read_text("utf-8") for file in sorted(path.rglob("*.graphql"))]
            return {document_hash(text): text for text in texts}
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except OSError as error:
        raise StorageIOError(f"The trusted documents {path} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = describe_shape_error(error)
        raise InvalidSyntax(f"{path} is not a JSON object of hashes and documents: {why}") from error
    return {check_hash(hash, text, path): text for hash, text in found.items()}


def check_hash(hash: str, text: str, path: Path) -> str:
    """The hash without its prefix, if it is the hash of the document."""
    bare = hash.removeprefix(SCHEME).lower()
    if bare != document_hash(text):
        raise InvalidSyntax(f"{path}: {hash[:80]} is not the SHA-256 of its document")
    return bare
