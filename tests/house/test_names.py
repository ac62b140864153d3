"""Modules are named by nouns of the field, and every package says what lives in it."""

import ast
from pathlib import Path

import pytest

from tests.servers.places import PROJECT

PACKAGES = {
    "ugs": PROJECT / "ugs",
    "ugs_gateway": PROJECT / "gateway" / "ugs_gateway",
    "ugs_schema": PROJECT / "schema" / "ugs_schema",
    "ugs_backends": PROJECT / "backends" / "ugs_backends",
    "ugs_conformance": PROJECT / "conformance" / "ugs_conformance",
}

NOUNS = {
    "extended": "the profile of tools that is named so in the protocol's settings",
    "generated": "everything in it is generated from an ontology; the usual name for such a folder",
    "rendering": "the noun of the activity: a rendering is a value that says how rows become JSON",
    "scoring": "information retrieval's noun for computing a score",
    "text_ranking": "information retrieval's noun for ordering by relevance",
    "tracing": "OpenTelemetry's own word for what it does",
}
"""Module names that end like a gerund or a participle and are nouns all the same, each with its reason."""

SHORTEST_DOCSTRING = 20


def modules() -> list[Path]:
    found = [path for folder in PACKAGES.values() for path in folder.rglob("*.py")]
    return sorted(path for path in found if "__pycache__" not in path.parts)


def names() -> set[str]:
    """The names of all modules and packages."""
    files = {path.stem for path in modules() if path.stem not in ("__init__", "__main__")}
    return files | {path.parent.name for path in modules()}


@pytest.mark.parametrize("name", sorted(name for name in names() if name.endswith(("ing", "ed"))))
def test_a_module_is_no_gerund_and_no_participle(name: str) -> None:
    assert name in NOUNS, f"name {name!r} by a noun, or list it here with a reason"


def test_every_listed_exception_exists() -> None:
    assert set(NOUNS) <= names()


def test_only_the_five_packages_lie_in_the_folders_of_packages() -> None:
    for name, folder in PACKAGES.items():
        assert (folder / "__init__.py").is_file()
        if folder.parent != PROJECT:
            assert [path.name for path in folder.parent.iterdir() if (path / "__init__.py").exists()] == [name]


INITS = [path for path in modules() if path.name == "__init__.py"]


@pytest.mark.parametrize("path", INITS, ids=lambda path: path.parent.name)
def test_every_package_says_what_lives_in_it(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text is not None and len(text) >= SHORTEST_DOCSTRING
