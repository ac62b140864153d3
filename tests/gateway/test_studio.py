"""Studio in a real Chromium without a network: every screen, by mouse and by keyboard, with hostile data."""

from __future__ import annotations

import gzip
import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.gateway.browser import Page, browsing
from tests.gateway.processes import Gateway, serving, ugs
from tests.gateway.studio_page import SCREENS, Studio, require_built
from ugs_gateway.studio.application import POLICY, assets

PROJECT = Path(__file__).parents[2]
BUILD = PROJECT / "build" / "studio"
AXE = PROJECT / "build" / "web" / "node_modules" / "axe-core" / "axe.min.js"
MAX_SCRIPT_BYTES = 1024 * 1024


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    require_built()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(tmp_path_factory.mktemp("chromium")) as page:
        page.open("about:blank")
        yield page


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("studio"), "--store", "memory:") as gateway:
        yield gateway


@pytest.fixture(scope="module")
def gateway(empty: Gateway) -> Gateway:
    """A gateway with the demonstration graph, facts, an ontology and some hostile content."""
    empty.ask("mutation { loadDemo(force: true) { nodes } }")
    for place, since in (("Berlin", "2020-01-01"), ("Lisbon", "2024-02-01")):
        empty.ask(
            'mutation { addFact(input: {scope: "project_shared", subject: {name: "Alice", kind: "person"}, '
            f'predicate: "lives in", objectValue: "{place}", validFrom: "{since}T00:00:00Z", '
            f'notes: [{{text: "Alice wrote from {place}", source: "letter"}}]}}) {{ created }} }}'
        )
    empty.ask(
        'mutation { createOntology(input: {nodeTypes: ["person", "task"], connectionTypes: [{name: "assigned_to", '
        'fromTypes: ["person"], toTypes: ["task"]}]}) { ontology { name } } }'
    )
    return empty


@pytest.fixture
def studio(page: Page, gateway: Gateway) -> Iterator[Studio]:
    page.leave()
    yield Studio(page, gateway)
    assert page.problems == []


def keep_picture(page: Page, name: str) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / f"{name}.png").write_bytes(page.picture())


def test_an_empty_store_greets_and_loads_the_demonstration_graph(page: Page, empty: Gateway) -> None:
    studio = Studio(page, empty)
    studio.open()
    studio.sees("There is nothing in this store yet")
    keep_picture(page, "empty")
    studio.click("Load the demonstration graph")
    studio.has_node("Alice Johnson")
    assert len(studio.nodes()) == 8
    assert page.problems == []


def test_a_search_finds_by_prefix_and_word_and_opens_on_the_canvas(studio: Studio) -> None:
    studio.open("#/explore?nodes=bob")
    studio.fill("Search the graph", "impl")
    studio.page.wait_for("document.querySelectorAll('.suggestions li').length === 1")
    studio.fill("Search the graph", "johnson")
    studio.page.wait_for("document.querySelector('.suggestions .name')?.textContent === 'Alice Johnson'")
    studio.page.press("Enter")
    studio.page.wait_for("document.querySelector('.inspector h2')?.textContent === 'Alice Johnson'")
    assert sorted(studio.nodes()) == ["Alice Johnson", "Bob Smith"]


def test_neighbours_are_counted_by_type_and_come_by_page(studio: Studio) -> None:
    leaves = [{"id": f"leaf{at}", "type": "leaf", "properties": {"name": f"Leaf {at}"}} for at in range(60)]
    hub = {"id": "hub", "type": "hub", "properties": {"name": "Hub"}}
    edges = [{"id": f"has{at}", "from": "hub", "to": f"leaf{at}", "type": "has"} for at in range(60)]
    graph = {"nodes": [hub, *leaves], "edges": edges}
    with_variables(studio.gateway, "mutation($graph: JSON!) { importGraph(graph: $graph) { nodes } }", {"graph": graph})
    studio.open("#/explore?nodes=hub&sel=hub")
    bundle = "document.querySelector('[data-bundle=\"outgoing:has\"]')"
    assert "60" in studio.page.wait_for(f"{bundle}?.innerText")
    assert studio.nodes() == ["Hub"]
    for shown in (25, 50, 60):
        studio.page.wait_for(f"{bundle}.disabled === false")
        studio.page.value(f"{bundle}.click()")
        studio.page.wait_for(f"{bundle}.innerText.includes('{shown} of 60')")
    assert len(studio.nodes()) == 61
    assert studio.page.value(f"{bundle}.disabled")


def with_variables(gateway: Gateway, query: str, variables: dict[str, Any]) -> None:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(gateway.url + "/graphql", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert "errors" not in json.load(answer)


def test_nodes_are_created_changed_linked_and_deleted_by_form(studio: Studio) -> None:
    studio.open("#/explore?nodes=alice")
    studio.click("New node")
    studio.fill("Id", "carol")
    studio.fill("Type", "person")
    studio.fill("Value", "Carol")
    studio.click("Save")
    studio.has_node("Carol")
    studio.page.wait_for("document.querySelector('.inspector h2')?.textContent === 'Carol'")
    studio.click("Link")
    studio.fill("To (id)", "alice")
    studio.fill("Type", "knows")
    studio.click("Save")
    studio.page.wait_for("document.querySelector('.inspector h2')?.textContent === 'knows'")
    asked = 'query { graphNode(id: "carol") { properties outgoing { nodes { to type } } } }'
    assert studio.ask(asked)["graphNode"] == {
        "properties": {"name": "Carol"},
        "outgoing": {"nodes": [{"to": "alice", "type": "knows"}]},
    }
    studio.open("#/explore?nodes=alice,carol&sel=carol")
    studio.click("Edit")
    studio.fill("Value", "12")
    studio.click("Save")
    studio.page.wait_for("document.querySelector('.inspector .sub')?.innerText.includes('version 2')")
    assert studio.ask('{ graphNode(id: "carol") { properties } }')["graphNode"]["properties"] == {"name": 12}
    studio.click("Delete")
    studio.click("Delete it")
    studio.page.wait_for("!document.querySelector('.inspector')")
    assert studio.nodes() == ["Alice Johnson"]
    assert studio.ask('{ graphNode(id: "carol") { id } }')["graphNode"] is None


def test_of_two_who_edit_one_node_the_second_sees_both_sides(studio: Studio) -> None:
    studio.open("#/explore?nodes=task_3&sel=task_3")
    studio.click("Edit")
    studio.fill("Value", "mine")
    studio.ask('mutation { updateNode(input: {id: "task_3", properties: {priority: "theirs"}}) { node { version } } }')
    studio.click("Save")
    studio.sees("Somebody else changed it")
    shown = studio.page.value("document.querySelector('.conflict table').innerText")
    assert "mine" in shown and "theirs" in shown
    keep_picture(studio.page, "conflict")
    studio.click("Save mine over it")
    studio.page.wait_for("!document.querySelector('dialog')")
    assert (
        studio.ask('{ graphNode(id: "task_3") { properties version } }')["graphNode"]["properties"]["priority"]
        == "mine"
    )


def test_of_two_studios_that_edit_one_node_the_second_sees_the_conflict(studio: Studio) -> None:
    view = "#/explore?nodes=task_2&sel=task_2"
    with studio.page.another() as tab:
        second = Studio(tab, studio.gateway)
        for one in (studio, second):
            one.open(view)
            one.click("Edit")
        studio.fill("Value", "from the first")
        studio.click("Save")
        studio.page.wait_for("document.querySelector('.inspector .sub')?.innerText.includes('version 2')")
        second.fill("Value", "from the second")
        second.click("Save")
        second.sees("Somebody else changed it")
        shown = tab.value("document.querySelector('.conflict tr.differs').innerText")
        assert "from the second" in shown and "from the first" in shown
        second.click("Take theirs")
        tab.wait_for("!document.querySelector('dialog')")
        tab.wait_for("document.querySelector('.inspector .properties')?.innerText.includes('from the first')")
        # What the second typed is taken back by itself alone: editing again begins with theirs.
        second.click("Edit")
        tab.wait_for("helpers.field('Value')?.value === 'from the first'")
        assert tab.problems == []


def test_after_a_restart_of_the_gateway_nothing_is_lost_and_nothing_comes_twice(page: Page, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    with serving(tmp_path, "--store", store) as gateway:
        gateway.ask("mutation { loadDemo { nodes } }")
        studio = Studio(page, gateway)
        studio.open("#/live")
        page.wait_for("!!document.querySelector('.link-state.live')")
        gateway.ask('mutation { addNode(input: {id: "before"}) { node { id } } }')
        page.wait_for("!!window.studioCanvas?.placeOf('before')")
    page.wait_for("!!document.querySelector('.link-state.lost')")
    assert ugs(tmp_path, "add-node", "missed", "--store", store).returncode == 0
    with serving(tmp_path, "--store", store, port=gateway.port) as again:
        page.wait_for("!!document.querySelector('.link-state.live')")
        page.wait_for("!!window.studioCanvas?.placeOf('missed')")
        again.ask('mutation { addNode(input: {id: "after"}) { node { id } } }')
        page.wait_for("!!window.studioCanvas?.placeOf('after')")
        heard = page.value("[...document.querySelectorAll('.event-list .seq')].map((seq) => Number(seq.textContent))")
        assert heard == [18, 17, 16]
        studio.sees("3 since this page was opened")
    page.leave()


def test_a_gateway_that_comes_back_with_another_store_is_noticed(page: Page, tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "memory:") as gateway:
        gateway.ask("mutation { loadDemo { nodes } }")
        studio = Studio(page, gateway)
        studio.open("#/live")
        page.wait_for("!!document.querySelector('.link-state.live')")
    page.wait_for("!!document.querySelector('.link-state.lost')")
    with serving(tmp_path, "--store", "memory:", port=gateway.port) as again:
        studio.sees("The gateway came back with a shorter log.")
        again.ask('mutation { addNode(input: {id: "new"}) { node { id } } }')
        page.wait_for("!!window.studioCanvas?.placeOf('new')")
    page.leave()


def test_nothing_typed_is_lost_when_the_page_is_left(studio: Studio) -> None:
    studio.open("#/explore?nodes=bob&sel=bob")
    studio.click("Edit")
    studio.fill("Value", "half a sentence")
    studio.open("#/explore?nodes=bob&sel=bob")
    studio.click("Edit")
    studio.sees("What you typed last time is still here")
    assert studio.page.value("helpers.field('Value').value") == "half a sentence"
    studio.click("Discard it")
    assert studio.page.value("helpers.field('Value').value") == "Bob Smith"


def test_the_address_restores_a_view(studio: Studio) -> None:
    studio.open("#/explore?nodes=alice,bob,task_1&sel=bob&hidden=task_1&colour=degree&noedges=reports_to&tab=events")
    studio.page.wait_for("document.querySelector('.inspector h2')?.textContent === 'Bob Smith'")
    assert sorted(studio.nodes()) == ["Alice Johnson", "Bob Smith", "Implement login"]
    studio.sees("Show 1 hidden")
    assert studio.page.value("document.querySelector('.side-panel select').value") == "degree"
    assert studio.page.value("document.querySelector('[aria-selected=true]').textContent") == "Events"
    before = studio.page.value("location.hash")
    studio.open(before)
    studio.page.wait_for("!!document.querySelector('.inspector h2')")
    assert studio.page.value("location.hash") == before


def test_a_query_answers_as_table_graph_and_json_with_parameters_and_plan(studio: Studio) -> None:
    studio.open("#/query?q=" + "MATCH (a)-[r]->(b) WHERE id(a) = $start RETURN a, r, b")
    studio.fill("$start", "alice")
    studio.click("Run")
    studio.page.wait_for("document.querySelectorAll('.result-body tbody tr').length === 2")
    studio.page.value("document.querySelector('[data-tab=graph]').click()")
    studio.page.wait_for("!!document.querySelector('.result-graph canvas')")
    studio.page.value("document.querySelector('[data-tab=json]').click()")
    studio.page.wait_for("JSON.parse(document.querySelector('.json-view')?.textContent ?? 'null')?.rows.length === 2")
    studio.click("Explain")
    studio.page.wait_for("document.querySelectorAll('.plan tbody tr').length > 1")
    studio.fill("Query", "MATCH (n) RETURN nonsense(n)")
    studio.click("Run")
    studio.page.wait_for("document.querySelector('.error-box')?.innerText.includes('nonsense')")


def test_a_program_runs_step_by_step_and_is_kept(studio: Studio) -> None:
    studio.open("#/query?tab=program")
    studio.sees("Valid: at most 2 operations.")
    studio.click("Run")
    studio.page.wait_for("document.querySelectorAll('.steps tbody tr').length === 2")
    studio.fill("Name", "everybody")
    studio.click("Keep it")
    studio.page.wait_for("document.querySelector('.saved')?.innerText.includes('everybody')")
    studio.fill("Program", "+ nonsense")
    studio.page.wait_for("!!document.querySelector('.blocks .wrong')")


def test_the_working_graph_is_drawn_after_each_step_with_what_the_step_added(studio: Studio) -> None:
    program = "+ MATCH (p) WHERE p.role = 'engineer' RETURN p;\n+ MATCH (a)-[r]->(b) RETURN a, r, b;\n- MATCH (p) WHERE p.role = 'engineer' RETURN p;\n"
    studio.open("#/query?tab=program")
    studio.fill("Program", program)
    studio.click("Run")
    studio.page.wait_for("document.querySelectorAll('.steps tbody tr').length === 3")
    drawn = "Number(document.querySelector('.result-graph').dataset.nodes)"
    colours = "[...new Set(studioCanvas.scene.graph.mapNodes((id, {change}) => change ?? ''))].sort().join()"
    final = studio.page.value(drawn)
    for path, count, marked in (("0", 1, "added"), ("1", final + 1, ",added"), ("2", final, "")):
        studio.click(f"Working graph after step {path}")
        studio.page.wait_for(f"{drawn} === {count} && {colours} === {json.dumps(marked)}")
        studio.page.wait_for("document.querySelector('[aria-pressed=true].step-choice') !== null")
    studio.click("Working graph after step 0")
    keep_picture(studio.page, "program-step")
    studio.click("Working graph after step 0")
    studio.page.wait_for(f"{drawn} === {final}")
    # The address brings the program back, in a tab that never typed it.
    address = studio.page.value("location.hash")
    studio.page.value("sessionStorage.clear()")
    studio.open(address)
    assert studio.page.value("helpers.field('Program').value") == program


def test_a_program_that_was_kept_is_opened_with_its_parameters_and_deleted(studio: Studio) -> None:
    studio.open("#/query?tab=program")
    studio.fill("Program", "+ MATCH (p) WHERE p.role = $role RETURN p;\n")
    studio.fill("Name", "by role")
    studio.click("Keep it")
    studio.sees("V040 Unresolved parameter: $role")
    studio.fill("Program", "@param role: string\n\n+ MATCH (p) WHERE p.role = $role RETURN p;\n")
    studio.page.wait_for("!document.querySelector('.blocks .wrong')")
    studio.click("Keep it")
    studio.page.wait_for("document.querySelector('.saved')?.innerText.includes('by role')")
    studio.page.value("sessionStorage.clear()")
    studio.open("#/query?tab=program")
    studio.click("by role")
    studio.fill("$role", "engineer")
    studio.click("Run")
    studio.page.wait_for("document.querySelector('.result-graph')?.dataset.nodes === '1'")
    assert "role" in studio.page.value("decodeURIComponent(location.hash)")
    studio.page.value(
        "[...document.querySelectorAll('.saved li')].find((row) => row.innerText.includes('by role')).querySelector('[aria-label=Delete]').click()"
    )
    studio.page.wait_for("!document.querySelector('.saved').innerText.includes('by role')")


def test_two_entities_that_may_be_the_same_are_compared_and_merged(studio: Studio) -> None:
    for name, value in (("Maria Gonzalez", "tea"), ("Maria Gonzales", "coffee")):
        studio.ask(
            f'mutation {{ addFact(input: {{scope: "project_shared", subject: {{name: "{name}", kind: "person"}}, predicate: "likes", '
            f'objectValue: "{value}", notes: [{{text: "{name} wants {value}", source: "table"}}]}}) {{ created }} }}'
        )
    studio.open("#/facts?list=duplicates")
    studio.page.wait_for("document.querySelector('.entity-side')?.innerText.includes('Maria Gonzale')")
    studio.click("Compare")
    studio.sees("Facts that move")
    words = studio.page.value("document.querySelector('dialog').innerText")
    assert ("tea" in words or "coffee" in words) and "Names that lead to it afterwards" in words, words
    assert len(studio.ask('{ entities(search: "Maria") { nodes { canonical } } }')["entities"]["nodes"]) == 2
    keep_picture(studio.page, "merge")
    studio.page.value("[...document.querySelectorAll('dialog footer button')].at(-1).click()")
    studio.page.wait_for("!document.querySelector('dialog')")
    assert len(studio.ask('{ entities(search: "Maria") { nodes { canonical } } }')["entities"]["nodes"]) == 1


def test_facts_show_lanes_supersession_evidence_and_both_clocks(studio: Studio) -> None:
    studio.ask('mutation { registerPredicate(input: {alias: "lives in"}) { created } }')
    studio.open("#/facts")
    studio.page.wait_for("document.querySelector('.choice-list button')?.innerText.includes('Alice')")
    studio.page.value("document.querySelector('.choice-list button').click()")
    studio.page.wait_for("document.querySelectorAll('.bar').length === 2")
    studio.page.value("document.querySelector('.bar').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    studio.sees("Alice wrote from Berlin")
    known = studio.ask("{ events(types: [FactAdded], first: 1) { nodes { seq } } }")["events"]["nodes"][0]["seq"]
    studio.open(studio.page.value("location.hash").replace("fact=", "old=") + f"&known={known}")
    studio.page.wait_for("document.querySelectorAll('.bar').length === 1")
    studio.open(studio.page.value("location.hash").replace(f"known={known}", "true=2021-01-01T00:00"))
    studio.page.wait_for("document.querySelector('.true-then')?.innerText.includes('Berlin')")
    assert "Lisbon" not in studio.page.value("document.querySelector('.true-then').innerText")


def test_time_shows_the_graph_then_and_what_changed(studio: Studio) -> None:
    studio.open("#/time?from=0&to=8")
    studio.page.wait_for("document.querySelector('.change-legend')?.textContent.includes('added 8')")
    studio.open("#/time?from=8&to=15")
    studio.page.wait_for("document.querySelector('.change-legend')?.textContent.includes('added 7')")
    studio.sees("for a cost of about")


def test_every_stop_of_the_slider_is_what_the_graph_was_then(page: Page, tmp_path: Path) -> None:
    random = Random(27)
    with serving(tmp_path, "--store", f"file:{tmp_path}/data") as gateway:
        alive: list[str] = []
        for batch in range(8):
            changes = [change_something(random, alive, f"{batch}_{number}") for number in range(250)]
            with_variables(
                gateway,
                "mutation($ops: [BatchOperation!]!) { applyBatch(operations: $ops) { deletedIds } }",
                {"ops": changes},
            )
        studio = Studio(page, gateway)
        last = studio.ask("{ stats { events } }")["stats"]["events"]
        assert last >= 2_000
        studio.open("#/time?from=0&to=1")
        slider = "document.querySelector('input[aria-label^=\"To: \"]')"
        for stop in (1, 2, 249, 250, 700, 1_333, last - 1, last, 40):
            page.value(
                f"(() => {{ const at = {slider}; at.value = {stop}; at.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
            )
            page.wait_for(f"document.querySelector('.time-panel').dataset.shown === '0-{stop}'")
            shown = page.value(
                "({nodes: studioCanvas.scene.nodes().map(({id, type, properties}) => ({id, type, properties})),"
                " edges: studioCanvas.scene.edges().map(({id, from, to, properties}) => ({id, from, to, properties}))})"
            )
            then = studio.ask(f"{{ exportGraph(at: {{position: {stop}}}) }}")["exportGraph"]
            known = {node["id"] for node in then["nodes"]}
            for kind, fields in (
                ("nodes", ("id", "type", "properties")),
                ("edges", ("id", "from", "to", "properties")),
            ):
                wanted = [
                    {field: row[field] for field in fields}
                    for row in then[kind]
                    if kind == "nodes" or {row["from"], row["to"]} <= known
                ]
                assert sorted(shown[kind], key=lambda row: row["id"]) == sorted(wanted, key=lambda row: row["id"]), (
                    stop,
                    kind,
                )
        assert page.problems == []
    page.leave()


def change_something(random: Random, alive: list[str], name: str) -> dict[str, Any]:
    """An operation of a batch; `alive` are the nodes that there are. Never more than the canvas draws of one moment."""
    choice = random.random()
    if len(alive) < 2 or (choice < 0.3 and len(alive) < 400):
        alive.append(f"n{name}")
        return {"addNode": {"id": alive[-1], "type": random.choice("abc"), "properties": {"rank": random.randrange(9)}}}
    if choice < 0.4:
        return {"deleteNode": {"id": alive.pop(random.randrange(len(alive)))}}
    if choice < 0.6:
        return {
            "addEdge": {"id": f"e{name}", "from": random.choice(alive), "to": random.choice(alive), "type": "knows"}
        }
    return {"updateNode": {"id": random.choice(alive), "properties": {"rank": random.randrange(1_000)}}}


def test_going_back_previews_an_undo_and_does_it(studio: Studio) -> None:
    start = studio.ask("{ stats { events } }")["stats"]["events"]
    studio.ask(
        'mutation { updateNode(input: {id: "charlie", properties: {role: "lost"}}) { node { id } } '
        'addNode(input: {id: "mistake"}) { node { id } } '
        'addFact(input: {scope: "project_shared", subject: {name: "Charlie"}, predicate: "is", objectValue: "here", notes: [{text: "seen"}]}) '
        "{ created } }"
    )
    last = studio.ask("{ stats { events } }")["stats"]["events"]
    studio.open(f"#/time?from={start}&to={last}")
    studio.click("Go back to “From” …")
    studio.page.wait_for("document.querySelectorAll('.undo li').length === 2")
    lines = studio.page.value("[...document.querySelectorAll('.undo li')].map((line) => line.innerText)")
    assert ["charlie" in lines[0] and "changes: properties" in lines[0], "mistake" in lines[1]] == [True, True], lines
    assert studio.ask('{ graphNode(id: "mistake") { id } }')["graphNode"] is not None
    keep_picture(studio.page, "undo")
    studio.click("Undo it")
    studio.page.wait_for("!document.querySelector('dialog')")
    found = studio.ask('{ mistake: graphNode(id: "mistake") { id } charlie: graphNode(id: "charlie") { properties } }')
    assert found["mistake"] is None and found["charlie"]["properties"]["role"] != "lost"
    studio.ask('mutation { updateNode(input: {id: "charlie", properties: {role: "later"}}) { node { id } } }')
    studio.open(f"#/time?from={start}&to={last}")
    studio.click("Go back to “From” …")
    studio.sees("This stands in the way, so nothing can be undone:")
    assert studio.page.value("!helpers.button('Undo it')")


def test_an_ontology_offers_choices_while_editing_and_says_what_it_would_refuse(studio: Studio) -> None:
    with_variables(
        studio.gateway,
        "mutation($input: CreateOntologyInput!) { createOntology(input: $input) { ontology { name } } }",
        {"input": {
            "name": "choices", "nodeTypes": ["ticket"], "enforcement": "WARN",
            "connectionTypes": [
                {"name": "raised_by", "fromTypes": ["ticket"], "toTypes": ["person"], "requiredProperties": ["since"]}
            ],
            "properties": [{"type": "ticket", "definitions": [
                {"name": "state", "kind": "STRING", "required": True, "enum": ["open", "closed"]},
                {"name": "code", "kind": "STRING"},
            ]}],
        }},
    )  # fmt: skip
    studio.open("#/explore?nodes=alice")
    studio.click("New node")
    studio.fill("Id", "ticket_1")
    studio.page.wait_for("!!helpers.chip('ticket')")
    studio.fill("Type", "nonsense")
    studio.sees("It does not know the type nonsense")
    studio.page.value("helpers.chip('ticket').click()")
    studio.page.wait_for("!!document.querySelector('.row select')")
    assert studio.page.value("[...document.querySelector('.row select').options].map(({value}) => value)") == [
        "open",
        "closed",
    ]
    studio.page.value("helpers.chip('+ code').click()")
    studio.page.wait_for("document.querySelectorAll('.row').length === 3")
    studio.fill("Value", "12", 2)
    keep_picture(studio.page, "choices")
    studio.click("Save")
    studio.has_node("ticket_1")
    asked = '{ graphNode(id: "ticket_1") { type properties } }'
    # A text property keeps digits as text; the name that was not filled in is left out.
    assert studio.ask(asked)["graphNode"] == {"type": "ticket", "properties": {"state": "open", "code": "12"}}
    studio.open("#/explore?nodes=alice,ticket_1&sel=ticket_1")
    studio.click("Link")
    studio.fill("To (id)", "alice")
    studio.page.wait_for("!!helpers.chip('raised_by') && !helpers.chip('assigned_to')")
    studio.page.value("helpers.chip('raised_by').click()")
    studio.sees("since is required.")
    studio.ask('mutation { setOntologyEnforcement(enforcement: OFF, ontology: "choices") { ontology { name } } }')


def test_an_ontology_is_drawn_and_grows(studio: Studio) -> None:
    studio.open("#/ontology?name=default")
    studio.page.wait_for("document.querySelectorAll('.diagram .box').length === 2")
    studio.sees("project")
    studio.fill("Type", "project")
    studio.page.wait_for("!helpers.field('Type').form.querySelector('button').disabled")
    studio.page.value("helpers.field('Type').form.querySelector('button').click()")
    studio.page.wait_for("document.querySelectorAll('.diagram .box').length === 3")


def test_what_breaks_an_ontology_is_found_and_opened(studio: Studio) -> None:
    with_variables(
        studio.gateway,
        "mutation($input: CreateOntologyInput!) { createOntology(input: $input) { ontology { name } } }",
        {"input": {
            "name": "strict", "nodeTypes": ["person", "task", "project"],
            "connectionTypes": [{"name": "assigned_to", "fromTypes": ["task"], "toTypes": ["person"]}],
            "properties": [{"type": "task", "definitions": [
                {"name": "status", "kind": "STRING", "enum": ["pending"]}, {"name": "owner", "kind": "STRING", "required": True}
            ]}],
        }},
    )  # fmt: skip
    studio.open("#/ontology?name=strict")
    studio.sees("connections it does not know")
    studio.click("Check the whole graph")
    studio.sees("3 rules were checked.")
    studio.sees("assigned_to: ends that it does not allow")
    studio.sees("task: without owner, which it requires")
    studio.sees("task: status is none of the values it allows")
    studio.click("task_1")
    studio.page.wait_for("document.querySelector('.inspector h2')?.textContent === 'Implement login'")


def test_what_happens_appears_while_one_watches(studio: Studio) -> None:
    studio.open("#/live")
    studio.page.wait_for("!!document.querySelector('.link-state.live')")
    started = time.monotonic()
    studio.ask('mutation { addNode(input: {id: "fresh", type: "task", properties: {name: "Fresh"}}) { node { id } } }')
    studio.page.wait_for("document.querySelector('.event-list')?.innerText.includes('fresh')")
    studio.page.wait_for("!!window.studioCanvas?.placeOf('fresh')")
    print(f"a node added elsewhere was on the canvas after {time.monotonic() - started:.2f} s")


def test_the_admin_screen_shows_settings_tenants_and_the_log_of_the_gateway(studio: Studio) -> None:
    studio.open("#/admin")
    rows = "[...document.querySelectorAll('.settings tbody tr')].map((row) => row.innerText)"
    studio.page.wait_for("document.querySelectorAll('.settings tbody tr').length > 0")
    shown = studio.page.value(rows)
    assert any("memory:" in row and "flag --store" in row for row in shown), shown
    assert not any("built in" in row for row in shown)
    studio.fill("Find a setting", "subscriptions")
    studio.page.wait_for("document.querySelector('.settings tbody')?.innerText.includes('max_subscriptions')")
    assert all("max_subscriptions" in row and "50" in row and "built in" in row for row in studio.page.value(rows))
    assert studio.page.value("document.querySelector('[aria-label=Tenants] tbody').innerText").startswith("default")
    studio.page.wait_for("document.querySelector('.log-tail')?.textContent.includes('served')")
    studio.click("Stop following")
    # Nobody logs in here and no keys are kept: that is told, and is no error.
    studio.sees("This gateway keeps no API keys in its store.")
    assert studio.page.value("document.querySelectorAll('.error-box').length") == 0
    keep_picture(studio.page, "admin")


def test_a_backup_holds_every_event_and_makes_an_empty_store_the_same(studio: Studio, tmp_path: Path) -> None:
    studio.page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    studio.open("#/admin")
    studio.click("Back up: save the whole log")
    studio.page.wait_for("document.body.innerText.includes('Saved: ')")
    file = tmp_path / "log.jsonl"
    studio.page.wait_until(file.is_file, "the file is saved")
    assert len(file.read_bytes().splitlines()) == studio.ask("{ stats { events } }")["stats"]["events"]
    done = ugs(tmp_path, "import", "log.jsonl", "--format", "log", "--store", f"sqlite:///{tmp_path}/again.db")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        studio.ask("{ verify { digest } }")["verify"]["digest"]
        in ugs(tmp_path, "verify", "--store", f"sqlite:///{tmp_path}/again.db").stdout
    )


def test_the_admin_screen_verifies_and_imports_with_a_report(studio: Studio) -> None:
    studio.open("#/admin")
    studio.click("Verify")
    studio.sees("Log and store agree.")
    studio.sees("The log is whole")
    assert len(studio.page.value("document.querySelector('.digest').textContent")) == 64
    rows = (
        '{"nodes": [{"id": "in1", "type": "t"}, {"id": "alice", "type": "t"}, {"id": "in2", "type": "t"}], "edges": []}'
    )
    studio.page.value(
        "(() => { const moved = new DataTransfer(); "
        f"moved.items.add(new File([{json.dumps(rows)}], 'graph.json')); "
        "const file = document.querySelector('input[type=file]'); file.files = moved.files; "
        "file.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    studio.sees("2 nodes and 0 edges came in.")
    studio.sees("1 row was refused:")
    assert "alice" in studio.page.value("document.querySelector('.refusals').innerText")


def test_an_export_holds_what_the_gateway_exports_and_tells_how_far_it_is(studio: Studio, tmp_path: Path) -> None:
    studio.ask(
        'mutation { addNode(input: {id: "written", content: {format: "markdown", body: "# Words"}}) { node { id } } }'
    )
    studio.page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    studio.open("#/admin")
    studio.page.value(
        "window.told = new Set(); new MutationObserver(() => { const bar = document.querySelector('[aria-label=\"Import and export\"] progress'); "
        "if (bar) told.add(bar.value); }).observe(document.body, {subtree: true, childList: true, attributes: true})"
    )
    studio.click("Export everything as JSON")
    studio.sees("Saved: ")
    file = tmp_path / "graph.json"
    studio.page.wait_until(file.is_file, "the file is saved")
    assert json.loads(file.read_text("utf-8")) == studio.ask("{ exportGraph }")["exportGraph"]
    assert studio.page.value("told.size") > 1


def test_a_selection_of_several_is_pinned_hidden_and_joined_by_a_path(studio: Studio) -> None:
    studio.open("#/explore?nodes=alice,charlie&sel=alice,charlie")
    studio.sees("2 selected")
    studio.click("Pin")
    studio.page.wait_for("location.hash.includes('pinned=alice')")
    studio.click("Unpin")
    studio.page.wait_for("!location.hash.includes('pinned')")
    studio.ask('mutation { addEdge(input: {from: "bob", to: "charlie", type: "knows"}) { edge { id } } }')
    studio.click("Path between the two")
    studio.has_node("Bob Smith")
    studio.click("Hide")
    studio.sees("Show 2 hidden")
    studio.click("Show 2 hidden")
    studio.page.wait_for("!location.hash.includes('hidden')")


def test_sizes_say_edges_or_a_property_and_pictures_are_saved(studio: Studio, tmp_path: Path) -> None:
    for id, rank in (("small", 1), ("large", 9)):
        studio.ask(f'mutation {{ addNode(input: {{id: "{id}", properties: {{rank: {rank}}}}}) {{ node {{ id }} }} }}')
    studio.page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    studio.open("#/explore?nodes=small,large&size=property:rank")
    size = "studioCanvas.scene.graph.getNodeAttribute('{}', 'size')"
    studio.page.wait_for(f"{size.format('large')} > 3 * {size.format('small')}")
    studio.page.value(
        "(() => { const box = helpers.field('Size by'); box.value = 'same'; box.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    studio.page.wait_for(f"{size.format('large')} === {size.format('small')} && location.hash.includes('size=same')")
    for name, begins in (("PNG", b"\x89PNG"), ("SVG", b"<svg"), ("JSON", b"{")):
        studio.click(name)
        file = tmp_path / f"graph.{name.lower()}"
        studio.page.wait_until(file.is_file, f"{name} is saved")
        assert file.read_bytes().startswith(begins)
    assert [node["id"] for node in json.loads((tmp_path / "graph.json").read_text("utf-8"))["nodes"]] == [
        "large",
        "small",
    ]


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (820, 1180)])
def test_every_screen_fits_a_tablet(studio: Studio, width: int, height: int) -> None:
    studio.page.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
    )
    try:
        for view in ("explore?nodes=alice,bob&sel=alice", "query?tab=program", "query", "facts?entity=", *SCREENS[3:]):
            studio.open(f"#/{view}")
            studio.page.wait_for("!document.querySelector('main .loading')")
            found = studio.page.value(
                "[...document.querySelectorAll('button, a, input, select, textarea')].filter((each) => each.checkVisibility()"
                " && !each.closest('.skip, table, .scrolled')).filter((each) => { const at = each.getBoundingClientRect();"
                " return !each.classList.contains('skip') && (at.left < -1 || at.right > innerWidth + 1); })"
                ".map((each) => each.outerHTML.slice(0, 120))"
            )
            assert found == [], (view, found)
            assert studio.page.value("document.documentElement.scrollWidth <= innerWidth"), view
            keep_picture(studio.page, f"tablet-{width}-{view.partition('?')[0]}")
    finally:
        studio.page.call("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_no_screen_has_a_serious_finding_of_axe(studio: Studio, theme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not fetched (make web)")
    script = AXE.read_text("utf-8")
    studio.open()
    studio.page.value(f"localStorage.setItem('ugs.studio.theme', '{theme}')")
    views = [f"#/{name}" for name in SCREENS]
    views[0] = "#/explore?nodes=alice,bob,task_1&sel=bob"
    views[1] = "#/query?q=MATCH (n) RETURN n LIMIT 5"
    for view in [*views, "#/query?tab=program"]:
        studio.open(view)
        studio.page.wait_for("!document.querySelector('main .loading, main [aria-busy=true]')")
        if view.startswith("#/query?q="):
            studio.click("Run")
            studio.page.wait_for("!!document.querySelector('.table')")
        studio.page.value(script)
        studio.page.value("axe.run().then((found) => { window.found = found; })")
        studio.page.wait_for("!!window.found")
        found = studio.page.value(
            "found.violations.filter(({impact}) => impact === 'serious' || impact === 'critical')"
            ".map(({id, nodes}) => [id, nodes.slice(0, 3).map((each) => each.html)])"
        )
        assert found == [], (view, found)
        keep_picture(studio.page, f"{theme}-{view[2:].partition('?')[0]}{'-program' if 'program' in view else ''}")


def test_hostile_labels_contents_and_ids_run_no_script_and_break_no_layout(studio: Studio) -> None:
    studio.page.requests.clear()  # tests before this one have gateways of their own
    attacks = (
        "<img src=x onerror=window.pwned=1>",
        "<svg/onload=window.pwned=1>",
        "<script>window.pwned=1</script>",
        "[a](javascript:window.pwned=1)",
        "\u202eright to left",
        "'\"></title><body onload=window.pwned=1>",
        "{{constructor.constructor('window.pwned=1')()}}",
        "x" * 10_000,
        "a\nb\tc",
        "é🎈" * 200,
    )
    nodes = [
        {
            "id": f"h{at}",
            "type": attack[:100] if at % 3 == 0 else "hostile",
            "properties": {"name": attack, attack[:40]: attack},
            "content": {
                "format": "markdown",
                "body": f"# {attack}\n\n[x](data:text/html,<b>) ![i](https://evil.example/x)",
            },
        }
        for at, attack in enumerate(attacks * 20)
    ]
    with_variables(studio.gateway, "mutation($ops: [BatchOperation!]!) { applyBatch(operations: $ops) { deletedIds } }",
                   {"ops": [{"addNode": node} for node in nodes]})  # fmt: skip
    narrow = "document.documentElement.scrollWidth <= window.innerWidth"
    for at in range(10):
        id = nodes[at]["id"]
        studio.open(
            f"#/explore?nodes=h0,h2&sel={'h0' if at == 0 else 'h2'}&tab=content"
            if at < 2
            else "#/query?q="
            + f"MATCH (n) WHERE n.name STARTS WITH '{'x' if at == 7 else '<'}' RETURN n, n.name LIMIT 20"
        )
        if at >= 2:
            studio.click("Run")
            studio.page.wait_for("!!document.querySelector('.result-body')")
        else:
            studio.page.wait_for("!!document.querySelector('.rich-text')")
        assert id and studio.page.value("window.pwned") is None
        assert studio.page.value(narrow)
    studio.open("#/explore?all=1")
    studio.page.wait_for("document.querySelectorAll('.node-list li').length >= 200")
    studio.fill("Search the graph", "<img")
    studio.page.wait_for("document.querySelectorAll('.suggestions:not([hidden]) li').length > 0")
    assert studio.page.value("window.pwned") is None and studio.page.value(narrow)
    keep_picture(studio.page, "hostile")
    own = (studio.gateway.url, studio.gateway.url.replace("http", "ws"), "data:", "blob:", "about:")
    assert [url for url in studio.page.requests if "evil" in url or not url.startswith(own)] == []


def test_errors_are_told_in_words_and_what_was_typed_stays(page: Page, gateway: Gateway) -> None:
    studio = Studio(page, gateway)
    studio.open("#/query")
    studio.fill("Query", "MATCH (n) RETURN n LIMIT 3")
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    page.call("Network.emulateNetworkConditions", **offline)
    try:
        studio.click("Run")
        studio.sees("The gateway cannot be reached.")
        studio.sees("what you typed stays here")
    finally:
        page.call("Network.emulateNetworkConditions", **{**offline, "offline": False})
    assert page.value("helpers.field('Query').value") == "MATCH (n) RETURN n LIMIT 3"
    studio.click("Run")
    page.wait_for("document.querySelectorAll('.result-body tbody tr').length === 3")
    page.problems.clear()


def test_who_must_log_in_sees_only_the_login_and_a_reader_no_controls(page: Page, tmp_path: Path) -> None:
    made = ugs(tmp_path, "token", "create", "--user", "someone", "--role", "reader", "--file", "keys.jsonl")
    key = json.loads(made.stdout)["token"]
    with serving(tmp_path, "--store", "memory:", "--token-file", "keys.jsonl") as gateway:
        studio = Studio(page, gateway)
        studio.open(ready=False)
        studio.sees("This gateway wants to know who asks.")
        assert "memory" not in page.value("document.body.innerText")
        keep_picture(page, "login")
        studio.fill("API key or token", "ugs_wrong")
        studio.click("Log in")
        studio.sees("The gateway does not know this key")
        studio.fill("API key or token", key)
        studio.click("Log in")
        studio.sees("your key only reads")
        assert page.value("document.querySelector('.viewer').innerText") == "someone"
        controls = (
            "['New node', 'Load the demonstration graph', 'Import a file'].filter((text) => helpers.button(text))"
        )
        assert page.value(controls) == []
        assert page.value("[...document.querySelectorAll('.navigation a')].map((a) => a.innerText)").count("Admin") == 0
        studio.open("#/live")
        page.wait_for("!!document.querySelector('.link-state.live')")
    page.problems.clear()


def test_the_policy_has_no_unsafe_word_and_the_page_nothing_inline(client: TestClient) -> None:
    page = client.get("/", headers={"accept": "text/html"})
    assert page.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY and "script-src 'self';" in POLICY
    assert "http" not in page.text and "<style" not in page.text and page.text.count("<script") == 1
    assert 'id="studio"' in page.text


def test_programs_and_a_gateway_that_is_not_ready_get_the_plain_page(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "Ready to serve." in client.get("/").text
    monkeypatch.setattr("ugs_gateway.studio.application.FOLDER", tmp_path)
    assert "Ready to serve." in client.get("/", headers={"accept": "text/html"}).text


def test_only_files_of_studio_are_served(client: TestClient) -> None:
    for name in assets():
        found = client.get(f"/studio/assets/{name}")
        assert (found.status_code, found.headers["content-security-policy"]) == (200, POLICY)
    for path in ("../index.html", "%2e%2e/index.html", "..%2f..%2fsettings.py", "main%00.js", "nothing.js"):
        assert client.get(f"/studio/assets/{path}").status_code in (400, 404)


def test_the_script_stays_below_a_mebibyte() -> None:
    size = sum(len(gzip.compress(path.read_bytes())) for name, path in assets().items() if name.endswith(".js"))
    assert 50_000 < size < MAX_SCRIPT_BYTES
