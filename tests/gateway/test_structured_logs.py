"""Logs: one line each, no secrets, no forged lines."""

import json
import logging
import time
from collections.abc import Callable

import pytest

from tests.work import TIMED
from ugs_gateway.observability.redaction import mask_url, without_secrets
from ugs_gateway.observability.structured_logs import (
    MAX_FIELD_CHARS,
    MAX_MESSAGE_CHARS,
    MAX_TRACE_CHARS,
    JsonLines,
    TextLines,
    request_id,
)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("postgresql://me:s3cret@host/db", "postgresql://me:***@host/db"),
        ("neo4j+s://neo4j:p@ss:w0rd@host:7687", "neo4j+s://neo4j:***@host:7687"),
        ("cannot reach bolt://u:pw@h and bolt://u:pw2@h2", "cannot reach bolt://u:***@h and bolt://u:***@h2"),
        ("postgresql://host/db?user=me&password=s3cret&x=1", "postgresql://host/db?user=me&password=***&x=1"),
        ("file:./data", "file:./data"),
        ("http://127.0.0.1:8000/a@b", "http://127.0.0.1:8000/a@b"),
    ],
)
def test_the_password_of_a_url_is_never_shown(text: str, safe: str) -> None:
    assert without_secrets(text) == safe


def record(message: str, **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("ugs_gateway", logging.INFO, __file__, 1, message, (), None)
    made.fields = fields
    return made


def test_a_text_line_has_its_fields_and_the_request() -> None:
    token = request_id.set("r1")
    line = TextLines().format(record("served", path="/x", status=200))
    request_id.reset(token)
    assert line.endswith("info    served path=/x status=200 request=r1")


def test_a_value_from_outside_cannot_begin_a_line_of_its_own() -> None:
    line = TextLines().format(record("served", path="/x\n00:00:00 error forged"))
    assert "\n" not in line


def test_a_json_line_is_one_object_without_secrets() -> None:
    line = JsonLines().format(record("opened", store="postgresql://me:s3cret@h/d"))
    assert json.loads(line)["store"] == "postgresql://me:***@h/d"


def test_a_traceback_is_masked_too() -> None:
    made = record("failed")
    try:
        raise OSError("cannot reach postgresql://me:s3cret@h/d")
    except OSError as error:
        made.exc_info = (type(error), error, error.__traceback__)
    for formatter in (TextLines(), JsonLines()):
        assert "s3cret" not in formatter.format(made)


# ── whatever comes from outside costs little and stays short ─────────────────

SIZE = 64 * 1024
SHAPES = {
    "letters": "a",
    "scheme characters": "a.",
    "colons": ":",
    "schemes": "a://",
    "schemes and users": "a://b:",
    "web addresses": "http://a:1/",
    "ats": "@",
    "users": "u:p@",
    "options": "?",
    "options with names": "?a",
    "secret options": "&key=",
    "quotes": '"',
    "backslashes": "\\",
    "spaces": "a ",
    "lines": "a\n",
    "controls": "\x1b[2J",
    "high controls": "\x9b",
    "halves of characters": "\ud800",
    "astral": "\U0001f600",
    "brackets": "[:",
    "percent": "%3A",
}
SHAPE = pytest.mark.parametrize("shape", SHAPES)
FORMATTERS = pytest.mark.parametrize("formatter", [TextLines(), JsonLines()], ids=["text", "json"])


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@TIMED
@SHAPE
@pytest.mark.parametrize("end", ["", "@", " @", "://u:p@h"])
def test_masking_takes_linear_time(shape: str, end: str) -> None:
    """Quadratic, a megabyte would take hours; linear, it takes well under a second of CPU time."""
    text = (SHAPES[shape] * (1 << 20))[: 1 << 20] + end
    assert cpu_seconds(lambda: without_secrets(text)) < 3
    assert cpu_seconds(lambda: mask_url(text)) < 3


@TIMED
@SHAPE
@FORMATTERS
def test_every_part_of_a_line_has_a_bound(shape: str, formatter: logging.Formatter) -> None:
    """A field, the sentence and a traceback of 64 kB each give one short line, whatever they are made of."""
    text = (SHAPES[shape] * SIZE)[:SIZE]
    made = record(text, path=text, other=[text], made={"of": text}, raw=text.encode(errors="replace"), big=10**5000)
    try:
        raise ValueError(text)
    except ValueError as error:
        made.exc_info = (type(error), error, error.__traceback__)
    lines: list[str] = []
    assert cpu_seconds(lambda: lines.append(formatter.format(made))) < 1
    # Escaped, a character may take twelve.
    assert len(lines[0]) < 12 * (5 * MAX_FIELD_CHARS + MAX_MESSAGE_CHARS + MAX_TRACE_CHARS) + 2_000
    head = lines[0].partition("\nTraceback")[0]
    assert head.isprintable() or isinstance(formatter, JsonLines)
    lines[0].encode()
    if isinstance(formatter, JsonLines):
        assert json.loads(lines[0])["path"].startswith(SHAPES[shape][0].encode("utf-8", "backslashreplace").decode())


def test_what_cannot_be_told_does_not_keep_a_line_from_being_written() -> None:
    class Mute:
        def __str__(self) -> str:
            raise RuntimeError("no")

    for formatter in (TextLines(), JsonLines()):
        assert "Mute" in formatter.format(record("seen", what=Mute(), count=10**5000))


@FORMATTERS
def test_a_secret_across_a_cut_is_masked(formatter: logging.Formatter) -> None:
    for before in range(MAX_FIELD_CHARS - 60, MAX_FIELD_CHARS + 5, 5):
        text = "x" * before + " postgresql://me:s3cret/s3cret@host/db " + "y" * 1_000
        assert "s3c" not in formatter.format(record("failed", reason=text))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3/cret@host/db",
        "postgresql://me:s3?cret@host/db",
        "postgresql://me:s3#cret@host/db",
        "postgresql://me:s3@cret@host/db",
        "postgresql://me:s3 cret@host/db",
        "postgresql://me:s3'cret\"s3@host/db",
        "postgresql://me:s3[cret]@host/db",
        "postgresql://me:5432/s3cret@host/db",
        "postgresql://:s3cret@host/db",
        "postgresql://me%3As3cret@host/db",
        "postgresql:me:s3cret@host/db",
        "postgresql:/me:s3cret@host/db",
        "me:s3/cret@host/db",
        "neo4j+s://neo4j:s3/cret@host:7687",
        "postgresql://host/db?sslpassword=s3cret",
        "https://host/keys?api_key=s3cret&x=1",
    ],
)
def test_a_url_is_masked_whatever_its_password_holds(url: str) -> None:
    for shown in (mask_url(url), without_secrets(f"No store at {url!r}, sorry", url)):
        assert "s3" not in shown
        assert "cret" not in shown
        assert "host" in shown


@pytest.mark.parametrize("url", ["sqlite:////home/me@corp/x.db", "file:/home/me@corp/data", "http://[::1]:80/a@b"])
def test_a_path_is_no_password(url: str) -> None:
    assert mask_url(url) == url
