"""Every page starts with something that works, every link leads somewhere, every list is complete."""

from pathlib import Path
from typing import Any

import pytest

import ugs_gateway.workers  # noqa: F401 (brings its errors and those of the server into the tree)
from tests.docs.pages import PAGES, PROJECT, anchors, links, page
from ugs import cypher  # noqa: F401 (brings its errors into the tree)
from ugs.errors import all_errors
from ugs_gateway.settings import SETTINGS, Settings, flag, variable

CODES = sorted({error.code for error in all_errors()})


@pytest.mark.parametrize("code", CODES)
def test_every_error_code_is_explained(code: str) -> None:
    assert f"### `{code}`" in page("errors.md")


def test_no_explanation_is_left_for_a_code_that_has_gone() -> None:
    import re

    of_graphql = {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "INTERNAL"}
    assert set(re.findall(r"^### `(\w+)`$", page("errors.md"), re.MULTILINE)) - of_graphql <= set(CODES)


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_documented_as_it_is(name: str) -> None:
    default = shown(getattr(Settings(), name))
    written = f"`{default}`" if default else "(none)"
    line = f"| `{name}` | `{flag(name)}` | `{variable(name)}` | {written} | {SETTINGS[name].meaning} |"
    assert line in page("settings.md")


def test_every_option_of_every_store_is_documented() -> None:
    from ugs_backends.memory.settings import OPTIONS
    from ugs_backends.neo4j.url import _READERS
    from ugs_backends.sql.settings import POSTGRESQL_OPTIONS, SQLITE_OPTIONS

    known = {*OPTIONS, *SQLITE_OPTIONS, *POSTGRESQL_OPTIONS, *_READERS} - {"native"}
    assert {name for name in known if f"| `{name}` |" not in page("backends.md")} == set()
    assert "native=off" in page("backends.md")


def test_every_scheme_is_documented() -> None:
    from ugs.connect import backend_names

    ours = {name for name in backend_names() if name != "dbm"}
    assert {name for name in ours if f"`{name}:`" not in page("backends.md")} == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    text = path.read_text("utf-8")
    for link in links(text):
        if "://" in link:
            continue
        place, _, fragment = link.partition("#")
        target = (path.parent / place) if place else path
        assert target.exists(), link
        if fragment:
            assert fragment in anchors(target.read_text("utf-8")), link


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [PROJECT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path in reached or path.suffix != ".md" or not path.exists():
            continue
        reached.add(path)
        found = (link.partition("#")[0] for link in links(path.read_text("utf-8")) if "://" not in link)
        waiting += [(path.parent / place).resolve() for place in found if place]
    assert {path.resolve() for path in PAGES} - reached == set()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_that_calls_ugs_says_how_it_is_called(name: str) -> None:
    import re

    text = page(name)
    blocks = re.finditer(r"^```sh[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    first = next((block.start() for block in blocks if re.search(r"^(\w+=\S+ )?ugs ", block[1], re.MULTILINE)), None)
    assert first is None or ".venv/bin/ugs" in text[:first]


def test_every_block_of_programs_is_documented_with_its_parameters() -> None:
    import inspect
    import re

    from ugs.programs.ast import BlockType
    from ugs.programs.blocks.block_types import COMPILERS, _search_params

    rows = {row.split("|")[1].strip(): row for row in page("programs.md").splitlines() if row.startswith("| `")}
    for block in BlockType:
        assert any(f"`{block.value}`" in names for names in rows), block.value
    for block, compiler in COMPILERS.items():
        source = inspect.getsource(compiler)
        source += inspect.getsource(_search_params) if "_search_params" in source else ""
        for name in re.findall(r"params\.\w+\(['\"](\w+)['\"]", source):
            if name != "excludeStatuses":  # must be empty
                assert f"`{name}" in rows[f"`{block.value}`"], (block.value, name)
