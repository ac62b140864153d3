"""A tour through every screen of Studio by keyboard alone, on every store: what it shows and changes is the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import servers
from tests.gateway.browser import Page, browsing
from tests.gateway.processes import serving
from tests.gateway.studio_page import SCREENS, Studio, require_built

CTRL = 2


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    require_built()
    with browsing(tmp_path_factory.mktemp("chromium")) as page:
        page.open("about:blank")
        yield page


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgresql", "neo4j"])
def test_the_whole_tour_by_keyboard(page: Page, tmp_path: Path, store: str) -> None:
    own = {"memory": "memory:", "sqlite": f"sqlite:///{tmp_path}/graph.db"}
    place = "schema" if store == "postgresql" else "namespace"
    url = own.get(store) or f"{servers.require(store)}?{place}=tour"
    with serving(tmp_path, "--store", url) as gateway:
        studio = Studio(page, gateway)
        studio.ask("mutation { clearScope(scope: DEFAULT, force: true) { scope } }")
        studio.ask("mutation { loadDemo(force: true) { nodes } }")
        studio.ask(
            'mutation { addFact(input: {scope: "project_shared", subject: {name: "Alice"}, predicate: "lives in", '
            'objectValue: "Lisbon", notes: [{text: "Alice wrote from Lisbon", source: "letter"}]}) { created } }'
        )
        start = studio.ask("{ stats { events } }")["stats"]["events"]
        studio.open("#/explore?nodes=alice")
        for name, visit in zip(SCREENS, TOUR, strict=True):
            studio.tab_to(f"at.getAttribute('href') === '#/{name}'")
            page.press("Enter")
            page.wait_for(f"document.querySelector('main').classList.contains('{name}')")
            visit(studio, start)
        assert page.problems == []
    page.leave()


def explore(studio: Studio, start: int) -> None:
    """Search, expand, walk over the canvas, and edit."""
    page = studio.page
    page.wait_for("!!window.studioCanvas?.placeOf('alice')")
    page.press("/")
    page.type("smith")
    page.wait_for("document.querySelectorAll('.suggestions li .name').length === 1")
    page.press("ArrowDown")
    page.press("Enter")
    page.wait_for("document.querySelector('.inspector h2')?.textContent === 'Bob Smith'")
    assert sorted(studio.nodes()) == ["Alice Johnson", "Bob Smith"]
    studio.tab_to("at.classList.contains('canvas-place')")
    page.press("Enter")
    studio.has_node("Charlie Brown")
    page.press("Escape")
    page.wait_for("!document.querySelector('.inspector')")
    page.press("ArrowRight")
    page.wait_for("!!document.querySelector('.inspector h2')")
    page.press("e")
    page.wait_for("document.activeElement === helpers.field('Type')")
    page.press("Escape")
    page.wait_for("!document.querySelector('dialog')")
    studio.tab_to("at.getAttribute('aria-selected') === 'true' && !!at.closest('.inspector')")
    page.press("ArrowRight")
    page.wait_for("document.querySelector('.inspector [aria-selected=true]').textContent === 'Neighbours'")
    studio.tab_to_button("New node")
    page.press("Enter")
    page.wait_for("document.activeElement === helpers.field('Id')")
    page.type("typed")
    studio.tab_to_button("Save")
    page.press("Enter")
    page.wait_for("document.querySelector('.inspector h2')?.textContent === 'typed'")
    assert studio.ask('{ graphNode(id: "typed") { id } }')["graphNode"] == {"id": "typed"}


def query(studio: Studio, start: int) -> None:
    """Write a query, run it, and look at its rows as JSON; then run a program."""
    page = studio.page
    studio.tab_to("at === helpers.field('Query')")
    page.value("document.activeElement.select()")
    page.type("MATCH (a)-[r:reports_to]->(b) RETURN a, r, b")
    page.press("Enter", CTRL)
    page.wait_for("document.querySelectorAll('.result-body tbody tr').length === 2")
    studio.tab_to("at.dataset.tab === 'table'")
    page.press("ArrowLeft")
    page.wait_for("JSON.parse(document.querySelector('.json-view')?.textContent ?? 'null')?.rows.length === 2")
    studio.tab_to("at.dataset.tab === 'cypher'")
    page.press("ArrowRight")
    studio.tab_to("at === helpers.field('Program')")
    page.press("Enter", CTRL)
    page.wait_for("document.querySelectorAll('.steps tbody tr').length === 2")


def facts(studio: Studio, start: int) -> None:
    """Choose an entity, then a bar of its timeline, and read why it is believed."""
    studio.page.wait_for("!!document.querySelector('.choice-list button')")
    studio.tab_to("!!at.closest('.choice-list')")
    studio.page.press("Enter")
    studio.page.wait_for("document.querySelectorAll('.bar').length === 1")
    studio.tab_to("at.classList.contains('bar')")
    studio.page.press("Enter")
    studio.sees("Alice wrote from Lisbon")


def time(studio: Studio, start: int) -> None:
    """Move a handle, and look at what an undo would do."""
    page = studio.page
    page.wait_for("document.querySelector('.change-legend')?.textContent.includes('added 16')")
    studio.tab_to("at.getAttribute('aria-label')?.startsWith('From: ')")
    page.press("End")
    page.wait_for(f"location.hash.includes('from={start + 1}')")
    page.press("ArrowLeft")
    page.wait_for(f"location.hash.includes('from={start}')")
    page.wait_for("document.querySelector('.change-legend')?.textContent.includes('added 1')")
    studio.tab_to_button("Go back to “From” …")
    page.press("Enter")
    studio.tab_to_button("Undo it")
    page.press("Enter")
    page.wait_for("!document.querySelector('dialog')")
    assert studio.ask('{ graphNode(id: "typed") { id } }')["graphNode"] is None


def ontology(studio: Studio, start: int) -> None:
    """Create an ontology and add a type to it."""
    page = studio.page
    studio.tab_to("at === helpers.field('Name')")
    page.type("default")
    page.press("Enter")
    page.wait_for("document.querySelectorAll('.diagram .box').length === 3")
    studio.tab_to("at === helpers.field('Type')")
    page.type("meeting")
    page.press("Enter")
    page.wait_for("document.querySelectorAll('.diagram .box').length === 4")


def live(studio: Studio, start: int) -> None:
    """Pause, let something happen, go on, and read it: nothing is left out."""
    page = studio.page
    studio.tab_to_button("Pause")
    page.press("Enter")
    page.wait_for("!!document.querySelector('.link-state.stopped')")
    studio.ask('mutation { addNode(input: {id: "meanwhile", type: "task"}) { node { id } } }')
    studio.tab_to_button("Resume")
    page.press("Enter")
    page.wait_for("!!window.studioCanvas?.placeOf('meanwhile')")
    studio.tab_to("at.tagName === 'SUMMARY' && at.innerText.includes('meanwhile')")
    page.press("Enter")
    page.wait_for("document.activeElement.parentElement.open")


def admin(studio: Studio, start: int) -> None:
    """Verify the store."""
    studio.tab_to_button("Verify")
    studio.page.press("Enter")
    studio.sees("Log and store agree.")


TOUR = (explore, query, facts, time, ontology, live, admin)
