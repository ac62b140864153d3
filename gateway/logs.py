"""Logs as events with fields: one line each, for people or as JSON, tied together by a request id, free of secrets."""

from __future__ import annotations

import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import msgspec

from gateway.masking import without_secrets
from gateway.settings import LogFormat, LogLevel

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that the running code serves."""

OURS = ("gateway", "schema", "ugs", "backends")


class Log:
    """A logger whose lines are a sentence and fields."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    @property
    def tells_info(self) -> bool:
        """Whether what happens in normal service is told at all."""
        return self._logger.isEnabledFor(logging.INFO)

    def debug(self, sentence: str, **fields: object) -> None:
        """For whoever looks for a mistake."""
        self._logger.debug(sentence, extra={"fields": fields})

    def info(self, sentence: str, **fields: object) -> None:
        """What happened, in normal service."""
        self._logger.info(sentence, extra={"fields": fields})

    def warning(self, sentence: str, **fields: object) -> None:
        """What somebody should look at."""
        self._logger.warning(sentence, extra={"fields": fields})

    def exception(self, sentence: str, error: BaseException, **fields: object) -> None:
        """A bug, with its traceback."""
        self._logger.error(sentence, exc_info=error, extra={"fields": fields})


class TextLines(logging.Formatter):
    """`10:15:02 info  served  method=GET path=/readyz status=200 request=…`"""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        pairs = "".join(f" {name}={_shown(value)}" for name, value in _fields(record).items())
        line = f"{moment} {record.levelname.lower():<7} {record.getMessage()}{pairs}"
        return without_secrets(line + self._trace(record))

    def _trace(self, record: logging.LogRecord) -> str:
        return "\n" + self.formatException(record.exc_info) if record.exc_info else ""


class JsonLines(logging.Formatter):
    """The same as one JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return without_secrets(msgspec.json.encode(line, enc_hook=str).decode())


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields = dict(getattr(record, "fields", {}))
    id = request_id.get()
    return fields if id is None else {**fields, "request": id}


def _shown(value: object) -> str:
    """A field as one word, or as JSON text, so that a value from outside cannot begin a line of its own."""
    text = str(value)
    plain = text.isprintable() and " " not in text and '"' not in text
    return text if plain else msgspec.json.encode(text).decode()


def set_up_logs(level: LogLevel, format: LogFormat) -> None:
    """Send every logger of the process to standard error, in one shape."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if format is LogFormat.JSON else TextLines())
    # Libraries speak only when somebody is debugging: what matters of theirs reaches us as an exception, and the web
    # server would repeat what we log ourselves.
    foreign = logging.DEBUG if level is LogLevel.DEBUG else logging.CRITICAL
    logging.basicConfig(level=foreign, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(level.value.upper())
