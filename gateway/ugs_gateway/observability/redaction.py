"""Masks passwords and keys of URLs in texts. Every function takes time linear in its text."""

from __future__ import annotations

import re
from typing import Any

MASK = "***"
WORD = re.compile(r"\S+")
HTTP_WITH_PORT = re.compile(r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253}):[0-9]{1,5}[/?#]")
"""Host, port and the start of a path behind `http://`: an `@` further on belongs to the path, not to a password."""
OPTION = re.compile(r"(?P<name>[?&;#][^\s=&;?#]{1,64}=)[^\s&]*")
ENCODED_COLON = re.compile("%3a", re.IGNORECASE)
SECRET_NAME = re.compile(r"password|passwd|passphrase|pwd|token|secret|key|credential|signature", re.IGNORECASE)


def without_secrets(text: str, *urls: str) -> str:
    """The text with the passwords of all URLs in it masked.

    A URL in a text ends at white space. URLs that the text may contain can be passed in addition; these are masked as a
    whole, whatever characters they contain.
    """
    for url in urls:
        text = _replace_url(text, url)
    if "@" in text:
        text = WORD.sub(lambda found: _mask_userinfo(found[0]), text)
    return _mask_options(text)


def mask_value(value: Any) -> Any:
    """The value of a setting: texts with the passwords of URLs masked, everything else as it is."""
    return mask_url(value) if isinstance(value, str) else value


def mask_url(url: str) -> str:
    """Mask a text that is a single URL, also a malformed one: with slashes, spaces or quotes in the password, or
    without `//`."""
    return _mask_options(_mask_userinfo(url) if "://" in url else _mask_short_userinfo(url))


def _replace_url(text: str, url: str) -> str:
    masked = mask_url(url)
    if masked == url:
        return text
    return text.replace(url, masked).replace(repr(url)[1:-1], masked)


def _mask_userinfo(text: str) -> str:
    """Mask from the first colon after `://` to the last `@`: a password may contain any character."""
    last, start = text.rfind("@"), text.find("://")
    while 0 <= start < last:
        start += 3
        if not (text.endswith(("http", "https"), 0, start - 3) and HTTP_WITH_PORT.match(text, start)):
            return _mask_between(text, start, last)
        start = text.find("://", start)
    return text


def _mask_short_userinfo(text: str) -> str:
    """The same without `//`: `user:password@host` or `scheme:user:password@host`. A file path has no password."""
    last, start = text.rfind("@"), text.find(":") + 1
    if not 0 < start < last:
        return text
    if text.find(":", start, last) >= 0:
        return _mask_between(text, start, last)
    return text if text[start] in "/.\\~" else f"{text[:start]}{MASK}{text[last:]}"


def _mask_between(text: str, start: int, last: int) -> str:
    colon = text.find(":", start, last)
    if colon >= 0:
        return f"{text[: colon + 1]}{MASK}{text[last:]}"
    encoded = ENCODED_COLON.search(text, start, last)
    return text if encoded is None else f"{text[: encoded.end()]}{MASK}{text[last:]}"


def _mask_options(text: str) -> str:
    """Mask the values of query options with names such as password or token."""
    if "=" not in text:
        return text
    return OPTION.sub(_mask_option, text)


def _mask_option(found: re.Match[str]) -> str:
    name = found["name"]
    return f"{name}{MASK}" if SECRET_NAME.search(name) else found[0]
