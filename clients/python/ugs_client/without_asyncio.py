"""Makes `client.py` from `async_client.py`: the same client, for callers without asyncio.

`python -m ugs_client.without_asyncio` writes the file; a test compares.
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
ASYNC_ONLY = re.compile(r"^ *# async only\n(?:.*\n)*? *# end of async only\n\n?|^.*  # async only\n", re.MULTILINE)
WORDS = {
    "AsyncHttpTransport": "HttpTransport",
    "AsyncTransport": "Transport",
    "AsyncMethods": "Methods",
    "AsyncClient": "Client",
    "async_http": "http",
    "async def": "def",
    "async for": "for",
    "async with": "with",
    "await ": "",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclosing": "closing",
    "import asyncio\n": "",
    "import ssl\n": "import ssl\nimport time\n",
    "asyncio.sleep": "time.sleep",
    "AsyncGenerator, Iterator": "Generator, Iterator",
}
TOKENS = re.compile("|".join(sorted(map(re.escape, WORDS), key=len, reverse=True)))
HEAD = '''"""The client for callers without asyncio, and for one thread.

Made by `python -m ugs_client.without_asyncio` from `async_client.py`: not edited by hand.
"""
'''


def without_asyncio(text: str) -> str:
    """The text of `client.py`."""
    body = text[text.index('"""\n', 3) + 4 :]
    body = re.sub(r"^if TYPE_CHECKING:\n(    .*\n)+", "", ASYNC_ONLY.sub("", body), flags=re.MULTILINE)
    body = re.sub(r"if TYPE_CHECKING:\n\n", "", body).replace("TYPE_CHECKING, ", "")
    body = re.sub(r"AsyncGenerator\[(.+), None\]", r"Generator[\1, None, None]", body)
    return HEAD + TOKENS.sub(lambda found: WORDS[found[0]], body)


def read_source() -> str:
    """The text of `async_client.py`."""
    return (HERE / "async_client.py").read_text("utf-8")


if __name__ == "__main__":
    (HERE / "client.py").write_text(without_asyncio(read_source()), "utf-8")
