"""JSON without importing `json`, most of whose import time is spent on regular expressions.

Uses the C accelerators that `json` uses itself; where Python lacks them, `json` is imported.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to load than everything here
if TYPE_CHECKING:
    from typing import Any


class _Reading:
    """The default options of `json.loads`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


try:
    from _json import encode_basestring, make_encoder, make_scanner

    _reading: Any = _Reading()
    _scan: Any = make_scanner(_reading)
except ImportError:

    def loads(text: str) -> Any:
        """Decode a JSON text."""
        import json

        return json.loads(text)

    def compact(value: Any) -> str:
        """One line of JSON without spaces."""
        import json

        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)

else:

    def loads(text: str) -> Any:
        """Decode a JSON text, or raise ValueError."""
        try:
            value, end = _scan(text, 0)
        except StopIteration:
            raise ValueError("no JSON") from None
        if text[end:].strip(" \t\r\n"):
            raise ValueError("more than one value")
        return value

    def compact(value: Any) -> str:
        """One line of JSON without spaces."""
        encode: Any = make_encoder({}, str, encode_basestring, None, ":", ",", False, False, True)
        return "".join(encode(value, 0))
