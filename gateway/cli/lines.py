"""A typed line as words: quotes as in a shell, except that the JSON after `key:=` keeps its own (C-55)."""

from __future__ import annotations

OPENING = {"{": "}", "[": "]"}


class Unfinished(Exception):
    """The line ends inside quotes or JSON: more may follow."""


def split_line(line: str) -> list[str]:
    """The words of a line."""
    words: list[str] = []
    place = 0
    while (place := _after_spaces(line, place)) < len(line):
        word, place = _word(line, place)
        words.append(word)
    return words


def _after_spaces(line: str, place: int) -> int:
    while place < len(line) and (line[place].isspace() or line.startswith("\\\n", place)):
        place += 1 if line[place].isspace() else 2
    return place


def _word(line: str, place: int) -> tuple[str, int]:
    """The word that begins here, and where it ends."""
    found = ""
    while place < len(line) and not line[place].isspace():
        letter = line[place]
        if letter in "'\"":
            text, place = _quoted(line, place)
        elif letter == "\\":
            text, place = _escaped(line, place)
        elif letter == "=" and found.endswith(":") and found != ":":
            end = _end_of_json(line, place + 1)
            text, place = line[place:end], end
        else:
            text, place = letter, place + 1
        found += text
    return found, place


def _escaped(line: str, place: int) -> tuple[str, int]:
    if place + 1 == len(line):
        raise Unfinished("the line ends after a backslash")
    return ("" if line[place + 1] == "\n" else line[place + 1]), place + 2


def _quoted(line: str, place: int) -> tuple[str, int]:
    """What stands between quotes; inside double ones a backslash keeps a quote or another backslash."""
    quote, found, place = line[place], "", place + 1
    while place < len(line):
        letter = line[place]
        if letter == quote:
            return found, place + 1
        if letter == "\\" and quote == '"' and line[place + 1 : place + 2] in ('"', "\\"):
            letter, place = line[place + 1], place + 1
        found, place = found + letter, place + 1
    raise Unfinished(f"a quotation mark {quote} is not closed")


def _end_of_json(line: str, place: int) -> int:
    """Where the JSON that begins here ends: with its last bracket or quote, or before the next space."""
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
        raise Unfinished(f"the JSON lacks a {waiting[-1]}")
    return place


def _end_of_text(line: str, place: int) -> int:
    place += 1
    while place < len(line) and line[place] != '"':
        place += 2 if line[place] == "\\" else 1
    if place >= len(line):
        raise Unfinished('the JSON lacks a closing "')
    return place + 1
