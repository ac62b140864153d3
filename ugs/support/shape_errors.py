"""Readable messages for msgspec's decoding and validation errors: the path in the document, and what was expected."""

from __future__ import annotations

import re

PLACE = re.compile(r" - at `(?P<key>key in )?(?:`)?\$(?P<path>[^`]*)`$")
MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`")
EXPECTED = re.compile(r"Expected `(?P<wanted>[^`]*)`(?P<bound>[^,]*)(?:, got (?P<got>.*))?")
INVALID = re.compile(r"Invalid (?:enum )?value (?P<value>.*)")
MALFORMED = re.compile(r"JSON is malformed: (?P<why>.*)")
KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "bytes": "bytes",
    "uuid": "a UUID",
    "datetime": "a time",
}
BOUNDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}


def describe_shape_error(error: Exception) -> str:
    """The error as a sentence without a full stop; the field comes first where it is known."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeError):
        return "it is not UTF-8 text"
    text = str(error)
    place = PLACE.search(text)
    path = "" if place is None else place["path"].lstrip(".").replace("[...]", "[]")
    what = text if place is None else text[: place.start()]
    missing, unknown = MISSING.fullmatch(what), UNKNOWN.fullmatch(what)
    if missing is not None:
        return f"`{_joined(path, missing['name'])}` is missing"
    if unknown is not None:
        return f"`{_joined(path, unknown['name'])}` is not known here"
    subject = f"`{path}`" if path else "it"
    expected, invalid = EXPECTED.fullmatch(what), INVALID.fullmatch(what)
    if expected is not None:
        got = expected["got"]
        told = "" if got is None else f", not {_kinds(got.strip('`')) if got.startswith('`') else got}"
        return f"{subject} must be {_kinds(expected['wanted'])}{_bound(expected['bound'])}{told}"
    if invalid is not None:
        return f"{subject} cannot be {invalid['value']}"
    malformed = MALFORMED.fullmatch(what)
    if malformed is not None:
        return malformed["why"]
    if what == "Input data was truncated":
        return "it ends too early"
    return f"{subject}: {what[:1].lower()}{what[1:]}" if path else what


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _kinds(wanted: str) -> str:
    kinds = [kind.strip() for kind in wanted.split("|")]
    if "float" in kinds:
        kinds = [kind for kind in kinds if kind != "int"]
    return " or ".join(KINDS.get(kind, kind) for kind in kinds)


def _bound(text: str) -> str:
    """A limit on the value or its length in words: ` of length >= 1` becomes ` of length at least 1`."""
    return re.sub(r"(>=|<=|>|<)", lambda match: BOUNDS[match[0]], text)
