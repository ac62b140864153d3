"""Structured logging: one line per event, as text or JSON, with fields and a request id, without secrets.

Input from outside is masked and truncated field by field, in time linear in its length, so a request can determine
neither the length of a log line nor the time to write it.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import deque
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import msgspec

from ugs_gateway.observability.redaction import without_secrets
from ugs_gateway.settings import LogFormat, LogLevel

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the current request."""

OWN_LOGGERS = ("ugs_gateway", "ugs_schema", "ugs", "ugs_backends")
MAX_FIELD_CHARS = 512
MAX_MESSAGE_CHARS = 2_000
MAX_TRACE_CHARS = 16_000
MARGIN_CHARS = 4_096
"""This many characters around the shown text are searched for secrets too, because a secret may lie across the cut."""
MAX_INTEGER_BITS = 63
TAIL_LINES, MAX_TAIL_CHARS = 500, 4_000


class Log:
    """A logger whose records are a message and fields."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    @property
    def is_info_enabled(self) -> bool:
        """Whether level info is enabled."""
        return self._logger.isEnabledFor(logging.INFO)

    def debug(self, sentence: str, **fields: object) -> None:
        """Log details for debugging."""
        self._logger.debug(sentence, extra={"fields": fields})

    def info(self, sentence: str, **fields: object) -> None:
        """Log an event of normal operation."""
        self._logger.info(sentence, extra={"fields": fields})

    def warning(self, sentence: str, **fields: object) -> None:
        """Log something an operator should look at."""
        self._logger.warning(sentence, extra={"fields": fields})

    def exception(self, sentence: str, error: BaseException, **fields: object) -> None:
        """Log an unexpected error with its traceback."""
        self._logger.error(sentence, exc_info=error, extra={"fields": fields})


class TextLines(logging.Formatter):
    """`10:15:02 info  served  method=GET path=/readyz status=200 request=…`"""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        pairs = "".join([f" {name}={_format_value(value)}" for name, value in _fields(record).items()])
        return f"{moment} {record.levelname.lower():<7} {_sentence(record)}{pairs}{self._trace(record)}"

    def _trace(self, record: logging.LogRecord) -> str:
        if not record.exc_info:
            return ""
        lines = _trace(self.formatException(record.exc_info)).split("\n")
        return "\n" + "\n".join(line if line.isprintable() else _escaped(line)[1:-1] for line in lines)


class JsonLines(logging.Formatter):
    """The same as JSON lines."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": _truncate(_message(record), MAX_MESSAGE_CHARS),
            **_fields(record),
        }
        if record.exc_info:
            line["trace"] = _trace(self.formatException(record.exc_info))
        return msgspec.json.encode(line).decode()


def _fields(record: logging.LogRecord) -> dict[str, object]:
    given: dict[str, object] = getattr(record, "fields", {})
    fields = {name: _bounded(value) for name, value in given.items()}
    id = request_id.get()
    return fields if id is None else {**fields, "request": id}


def _bounded(value: object) -> object:
    """A field as a number, or as a short text without secrets."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        fits = value.bit_length() <= MAX_INTEGER_BITS
        return value if fits else f"an integer of {value.bit_length()} bits"
    return _truncate(value if isinstance(value, str) else _text_of(value), MAX_FIELD_CHARS)


def _text_of(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return f"a {type(value).__name__}"  # a failing __str__ must not lose the log line


def _truncate(text: str, max_chars: int) -> str:
    """The start of a text, without secrets and valid as UTF-8."""
    safe = without_secrets(text[: max_chars + MARGIN_CHARS])
    return _whole(safe if len(text) <= max_chars else f"{safe[:max_chars]}… ({len(text)} characters)")


def _whole(text: str) -> str:
    """The text with lone surrogates escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _trace(text: str) -> str:
    """A traceback; the middle of a long one is cut, because its end names the error."""
    if len(text) <= MAX_TRACE_CHARS:
        return _truncate(text, MAX_TRACE_CHARS)
    half = MAX_TRACE_CHARS // 2
    end = without_secrets(text[-half - MARGIN_CHARS :])[-half:]
    return f"{_truncate(text, half)}\n{_whole(end)}"


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:
        return str(record.msg)


def _sentence(record: logging.LogRecord) -> str:
    text = _truncate(_message(record), MAX_MESSAGE_CHARS)
    return text if text.isprintable() else _escaped(text)[1:-1]


def _format_value(value: object) -> str:
    """A field as one word, or as a JSON string, so that a value from outside cannot start a new line."""
    text = str(value)
    plain = text.isprintable() and " " not in text and '"' not in text
    return text if plain else _escaped(text)


def _escaped(text: str) -> str:
    """A JSON string; control characters are escaped, also those above ASCII, which terminals interpret too."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


class LogTail(logging.Handler):
    """Keeps the last lines of our own loggers, as text, with the secrets masked that every line masks."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=lines)
        self.setFormatter(TextLines())

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line, as long as the log shows it."""
        self.lines.append(self.format(record)[:MAX_TAIL_CHARS])

    def last(self, count: int) -> list[str]:
        """The last lines, oldest first."""
        return list(self.lines)[-count:] if count else []


TAIL = LogTail(TAIL_LINES)
"""The end of the log of this process."""


def set_up_logs(level: LogLevel, format: LogFormat) -> None:
    """Configure all loggers of the process to write to standard error in one format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if format is LogFormat.JSON else TextLines())
    # Libraries log only at level debug: their errors reach us as exceptions, and uvicorn would repeat our access log.
    foreign = logging.DEBUG if level is LogLevel.DEBUG else logging.CRITICAL
    logging.basicConfig(level=foreign, handlers=[handler, TAIL], force=True)
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level.value.upper())
