"""The glossary names code that exists."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.servers.places import PROJECT

PAGE = (PROJECT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| .+ \| `([\w.]+)` \|$", PAGE, re.MULTILINE)


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return hasattr(importlib.import_module(module), attribute)
    return True


@pytest.mark.parametrize(("term", "name"), ROWS)
def test_a_term_is_implemented_where_the_glossary_says(term: str, name: str) -> None:
    assert exists(name), f"{term}: there is no {name}"


def test_the_glossary_has_its_terms_in_order() -> None:
    terms = [term for term, _ in ROWS]

    assert len(terms) >= 30
    assert terms == sorted(terms, key=str.lower)
