"""Content of elements: validation (text or base64, size limit), and file name extensions."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from ugs.errors import InvalidArgument, InvalidEncoding, LimitExceeded
from ugs.events import Event
from ugs.graph.model import CONFIG_NODE, NODES, Node
from ugs.unit_of_work import UnitOfWork
from ugs.values import FORBIDDEN_TEXT

UTF8, BASE64 = "utf-8", "base64"
ENCODINGS = (UTF8, BASE64)
MARKDOWN = "markdown"
MAX_CONTENT_BYTES = 16 << 20
MAX_CONFIGURABLE_CONTENT_BYTES = 100 << 20
MAX_FORMAT = 256
EXTENSIONS = {MARKDOWN: "md", "text": "txt"}
PLAIN_FORMAT = re.compile(r"[a-z0-9]{1,10}")


class NewContent(Struct, frozen=True):
    """Content in a request."""

    body: str
    format: str = MARKDOWN
    encoding: str = UTF8


def extension_for(format: str, encoding: str) -> str:
    """The file extension: `md` for markdown, `txt` for text, else the format itself if it is a safe one (C-126)."""
    if format in EXTENSIONS:
        return EXTENSIONS[format]
    if PLAIN_FORMAT.fullmatch(format):
        return format
    return "bin" if encoding == BASE64 else "txt"


def size_of(body: str, encoding: str) -> int:
    """Size of the content as a file, in bytes."""
    return len(bytes_of(body, encoding))


def bytes_of(body: str, encoding: str) -> bytes:
    return base64.b64decode(body) if encoding == BASE64 else body.encode()


def folded(body: str, encoding: str) -> str | None:
    """Case-folded text for searching; None for binary content."""
    return body.casefold() if encoding == UTF8 else None


def checked(body: object, encoding: object, format: object, max_bytes: int = MAX_CONTENT_BYTES) -> dict[str, Any]:
    """Validated content in the form events use; raises a coded error."""
    if not isinstance(body, str):
        raise InvalidArgument("content must be text", argument="content")
    if encoding not in ENCODINGS:
        raise InvalidEncoding(
            f"encoding must be utf-8 or base64, got {str(encoding)[:80]!r}", encoding=str(encoding)[:80]
        )
    name = validate_format(format)
    _check_size(body, encoding, max_bytes)
    if encoding == BASE64:
        _check_base64(body)
    elif (bad := FORBIDDEN_TEXT.search(body)) is not None:
        kind = "a NUL character" if bad[0] == "\x00" else "a lone surrogate"
        raise InvalidEncoding(f"content contains {kind}, which is no text: send it as base64", encoding=UTF8)
    return {"format": name, "encoding": encoding, "body": body}


def content_after(events: Iterable[Event]) -> dict[str, Any] | None:
    """The content of an element after these events, in the form events use; None without content."""
    found: dict[str, Any] | None = None
    for event in events:
        told = event.payload.get("content")
        if event.type.endswith(("Added", "Deleted")):
            found = told if isinstance(told, dict) else None
        elif isinstance(told, dict):
            found = told if "body" in told else {**(found or {}), **told}
        elif "content" in event.payload:
            found = None
    return found


def validate_format(format: object) -> str:
    if not isinstance(format, str) or len(format) > MAX_FORMAT or FORBIDDEN_TEXT.search(format):
        raise InvalidArgument(f"format must be text of at most {MAX_FORMAT} characters", argument="format")
    return format


def _check_size(body: str, encoding: object, max_bytes: int) -> None:
    size = len(body) * 3 // 4 - body[-2:].count("=") if encoding == BASE64 else len(body.encode(errors="replace"))
    if size > max_bytes:
        raise LimitExceeded(f"content takes {size} bytes, the limit is {max_bytes}", limit=max_bytes, size=size)


def _check_base64(body: str) -> None:
    try:
        base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidEncoding(f"content is not base64: {error}", encoding=BASE64) from error


async def content_limit(uow: UnitOfWork) -> int:
    """Maximum size of content: `max_content_bytes` of `_system_config`, or 16 MiB (C-13)."""
    config: Node | None = await uow.find(NODES, CONFIG_NODE)
    value = None if config is None else config.properties.get("max_content_bytes")
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return MAX_CONTENT_BYTES
    return min(value, MAX_CONFIGURABLE_CONTENT_BYTES)


async def prepare_content(given: NewContent, uow: UnitOfWork) -> dict[str, Any]:
    """Validated content of a request, in the form events use."""
    return checked(given.body, given.encoding, given.format, await content_limit(uow))
