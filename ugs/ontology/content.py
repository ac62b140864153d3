"""Content: text or base64, how large it may be, and what its file is called."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from ugs.errors import LimitExceeded
from ugs.ontology.errors import InvalidArgument, InvalidEncoding
from ugs.values import FORBIDDEN_TEXT

UTF8, BASE64 = "utf-8", "base64"
ENCODINGS = (UTF8, BASE64)
MARKDOWN = "markdown"
MAX_CONTENT_BYTES = 16 << 20
UTMOST_CONTENT_BYTES = 100 << 20
MAX_FORMAT = 256
EXTENSIONS = {MARKDOWN: "md", "text": "txt"}
PLAIN_FORMAT = re.compile(r"[a-z0-9]{1,10}")


def extension_for(format: str, encoding: str) -> str:
    """`markdown` is `.md`, `text` is `.txt`; another format names itself where that makes a safe file name (C-126)."""
    if format in EXTENSIONS:
        return EXTENSIONS[format]
    if PLAIN_FORMAT.fullmatch(format):
        return format
    return "bin" if encoding == BASE64 else "txt"


def size_of(body: str, encoding: str) -> int:
    """How many bytes the content has when it stands in a file."""
    return len(bytes_of(body, encoding))


def bytes_of(body: str, encoding: str) -> bytes:
    return base64.b64decode(body) if encoding == BASE64 else body.encode()


def folded(body: str, encoding: str) -> str | None:
    """Text as searching sees it; what is not text is never searched."""
    return body.casefold() if encoding == UTF8 else None


def checked(body: object, encoding: object, format: object, most: int = MAX_CONTENT_BYTES) -> dict[str, Any]:
    """Content as an event carries it, or the reason why not."""
    if not isinstance(body, str):
        raise InvalidArgument("content must be text", argument="content")
    if encoding not in ENCODINGS:
        raise InvalidEncoding(
            f"encoding must be utf-8 or base64, got {str(encoding)[:80]!r}", encoding=str(encoding)[:80]
        )
    name = checked_format(format)
    _check_size(body, encoding, most)
    if encoding == BASE64:
        _check_base64(body)
    elif (bad := FORBIDDEN_TEXT.search(body)) is not None:
        kind = "a NUL character" if bad[0] == "\x00" else "a lone surrogate"
        raise InvalidEncoding(f"content contains {kind}, which is no text: send it as base64", encoding=UTF8)
    return {"format": name, "encoding": encoding, "body": body}


def checked_format(format: object) -> str:
    if not isinstance(format, str) or len(format) > MAX_FORMAT or FORBIDDEN_TEXT.search(format):
        raise InvalidArgument(f"format must be text of at most {MAX_FORMAT} characters", argument="format")
    return format


def _check_size(body: str, encoding: object, most: int) -> None:
    size = len(body) * 3 // 4 if encoding == BASE64 else len(body.encode(errors="replace"))
    if size > most:
        raise LimitExceeded(f"content takes {size} bytes, the limit is {most}", limit=most, size=size)


def _check_base64(body: str) -> None:
    try:
        base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidEncoding(f"content is not base64: {error}", encoding=BASE64) from error
