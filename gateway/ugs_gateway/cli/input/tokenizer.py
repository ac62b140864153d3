"""Splits a line into words: quotes as in a shell, except that JSON keeps its own (C-55).

JSON follows `key:=` and `--data`, and every word that begins with a brace or a bracket is JSON.
"""

from __future__ import annotations

OPENING = {"{": "}", "[": "]"}
JSON_OPTION = "--data"


class IncompleteLine(Exception):
    """The line ends inside quotes or JSON, so it continues on the next one."""


def split_line(line: str) -> list[str]:
    """The words of a line."""
    words: list[str] = []
    place = 0
    while (place := _after_spaces(line, place)) < len(line):
        if line[place] in OPENING or (words[-1:] == [JSON_OPTION] and line[place] == '"'):
            end = _end_of_json(line, place)
            word, place = line[place:end], end
        else:
            word, place = _word(line, place)
        words.append(word)
    return words


def _after_spaces(line: str, place: int) -> int:
    while place < len(line) and (line[place].isspace() or line.startswith("\\\n", place)):
        place += 1 if line[place].isspace() else 2
    return place


def _word(line: str, place: int) -> tuple[str, int]:
    """The word at a position, and the position behind it."""
    found = ""
    while place < len(line) and not line[place].isspace():
        letter = line[place]
        if letter in "'\"":
            text, place = _quoted(line, place)
        elif letter == "\\":
            text, place = _escaped(line, place)
        elif letter == "=" and ((found.endswith(":") and found != ":") or _takes_json(line, place, found)):
            end = _end_of_json(line, place + 1)
            text, place = line[place:end], end
        else:
            text, place = letter, place + 1
        found += text
    return found, place


def _takes_json(line: str, place: int, found: str) -> bool:
    """Whether JSON follows the sign after its option."""
    return found == JSON_OPTION and line[place + 1 : place + 2] in (*OPENING, '"')


def _escaped(line: str, place: int) -> tuple[str, int]:
    if place + 1 == len(line):
        raise IncompleteLine("the line ends after a backslash")
    return ("" if line[place + 1] == "\n" else line[place + 1]), place + 2


def _quoted(line: str, place: int) -> tuple[str, int]:
    """The text between quotes; in double quotes a backslash escapes a quote or a backslash."""
    quote, found, place = line[place], "", place + 1
    while place < len(line):
        letter = line[place]
        if letter == quote:
            return found, place + 1
        if letter == "\\" and quote == '"' and line[place + 1 : place + 2] in ('"', "\\"):
            letter, place = line[place + 1], place + 1
        found, place = found + letter, place + 1
    raise IncompleteLine(f"a quotation mark {quote} is not closed")


def _end_of_json(line: str, place: int) -> int:
    """The end of the JSON at a position: its last bracket or quote, or the next space."""
    waiting: list[str] = []
    while place < len(line):
        letter = line[place]
        if letter == '"':
            place = _end_of_text(line, place)
            continue
        if letter.isspace() and not waiting:
            return place
        if letter in OPENING:
            waiting.append(OPENING[letter])
        elif waiting and letter == waiting[-1]:
            waiting.pop()
        place += 1
    if waiting:
        raise IncompleteLine(f"the JSON lacks a {waiting[-1]}")
    return place


def _end_of_text(line: str, place: int) -> int:
    place += 1
    while place < len(line) and line[place] != '"':
        place += 2 if line[place] == "\\" else 1
    if place >= len(line):
        raise IncompleteLine('the JSON lacks a closing "')
    return place + 1
