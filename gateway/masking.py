"""Passwords and keys in URLs, masked wherever a text is shown."""

from __future__ import annotations

import re

SECRET_IN_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)(?P<user>[^\s/@:]*):[^\s/]*@", re.IGNORECASE)
SECRET_OPTION = re.compile(r"(?P<name>[?&](?:password|token|secret|key)=)[^\s&]*", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """The text with the passwords of all URLs in it masked."""
    return SECRET_OPTION.sub(r"\g<name>***", SECRET_IN_URL.sub(r"\g<scheme>\g<user>:***@", text))
