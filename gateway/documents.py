"""Documents known by their hash: trusted ones from a file or folder, and those that clients have sent before.

A client may name a document as `documentId` (persisted documents) or in `extensions.persistedQuery` (automatic
persisted queries). Where only trusted documents are allowed, every other text is refused, known hash or not.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from gateway.asked import Asked, Refused
from gateway.settings import Settings
from ugs.errors import InvalidSyntax, StorageIOError, UgsError

KEPT = 1_000
SCHEME = "sha256:"


class PersistedQueryNotFound(UgsError):
    """Nobody has sent a document with this hash yet."""

    code = "PERSISTED_QUERY_NOT_FOUND"
    summary = "No document with this hash is known"


class DocumentNotAllowed(UgsError):
    """Only trusted documents may run here."""

    code = "DOCUMENT_NOT_ALLOWED"
    summary = "Only documents on the list may run here"


def document_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Documents:
    """Finds the text behind a request."""

    def __init__(self, settings: Settings) -> None:
        self.trusted = read_documents(Path(settings.trusted_documents)) if settings.trusted_documents else {}
        self.only_trusted = settings.trusted_only
        self._sent: OrderedDict[str, str] = OrderedDict()

    def text_of(self, asked: Asked) -> str:
        """The document a request means, or why there is none."""
        hash = hash_in(asked)
        if asked.query is None:
            if hash is None:
                reason = 'A GraphQL request looks like {"query": "{ stats { nodes } }"}: there is no query'
                raise Refused(400, InvalidSyntax(reason))
            return self._known(hash)
        if hash is not None and document_hash(asked.query) != hash:
            raise Refused(400, InvalidSyntax("The hash is not the SHA-256 of the query"))
        if self.only_trusted and document_hash(asked.query) not in self.trusted:
            raise Refused(403, DocumentNotAllowed("Only documents on the list of this gateway may run here"))
        return asked.query

    def _known(self, hash: str) -> str:
        found = self.trusted.get(hash) or self._sent.get(hash)
        if found is None:
            # The words are those of the protocol: clients look for them, then send the whole query.
            raise Refused(200, PersistedQueryNotFound("PersistedQueryNotFound"))
        return found

    def keep(self, asked: Asked) -> None:
        """Remember a document that turned out to be valid, for clients that sent its hash along."""
        hash = hash_in(asked)
        if hash is None or asked.query is None or self.only_trusted:
            return
        self._sent[hash] = asked.query
        self._sent.move_to_end(hash)
        if len(self._sent) > KEPT:
            self._sent.popitem(last=False)


def hash_in(asked: Asked) -> str | None:
    """The hash a request names, in either of the two ways."""
    if asked.document_id is not None:
        return asked.document_id.removeprefix(SCHEME).lower()
    persisted: Any = (asked.extensions or {}).get("persistedQuery")
    if persisted is None:
        return None
    if not isinstance(persisted, dict) or persisted.get("version") != 1 or not _is_text(persisted.get("sha256Hash")):
        raise Refused(400, InvalidSyntax('persistedQuery looks like {"version": 1, "sha256Hash": "…"}'))
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
        raise InvalidSyntax(f"{path} is not a JSON object of hashes and documents: {error}") from error
    return {check_hash(hash, text, path): text for hash, text in found.items()}


def check_hash(hash: str, text: str, path: Path) -> str:
    """The bare hash, when it is the document's."""
    bare = hash.removeprefix(SCHEME).lower()
    if bare != document_hash(text):
        raise InvalidSyntax(f"{path}: {hash[:80]} is not the SHA-256 of its document")
    return bare
