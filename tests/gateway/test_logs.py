"""Logs: one line each, no secrets, no forged lines."""

import json
import logging

import pytest

from gateway.logs import JsonLines, TextLines, request_id
from gateway.masking import without_secrets


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
    made = logging.LogRecord("gateway", logging.INFO, __file__, 1, message, (), None)
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
