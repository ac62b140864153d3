"""The six internal endpoints of programs, every parameter honoured, the same answers on every store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ugs.facts.api import Facts
from ugs.identity import Principal
from ugs.log.at import At
from ugs.ontology.definition import ConnectionType
from ugs_conformance.support.api_under_test import memory_of, programs_of
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest

CONCEPTS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "patterns": ("Concept", {"label": "Organizational Patterns", "ontology": "management"}),
    "learning": ("Concept", {"name": "organizational learning", "description": "how companies learn"}),
    "networks": ("Concept", {"label": "neural networks", "ontology": "science"}),
    "machines": ("Concept", {"label": "machine learning", "grounding_strength": 0.9}),
    "weather": ("Place", {"title": "weather in Berlin", "concept_id": "berlin"}),
    "plain": (None, {}),
}
LINKS: list[tuple[str, str, str, str | None, dict[str, Any]]] = [
    ("e1", "patterns", "learning", "SUPPORTS", {"confidence": 0.8, "evidence": "seen twice"}),
    ("e2", "learning", "machines", "IMPLIES", {}),
    ("e3", "networks", "machines", "SUPPORTS", {"category": "technical"}),
    ("e4", "patterns", "weather", None, {}),
    ("e5", "patterns", "nowhere", "SUPPORTS", {}),
    ("e6", "machines", "patterns", "CONTRADICTS", {}),
]


class Library:
    """Concepts, what is written about them, and programs of one statement that ask for them."""

    def __init__(self, world: StoreUnderTest) -> None:
        self.world = world
        self.content: dict[str, str] = {}
        self.link = ""
        self.entities: dict[str, str] = {}

    async def fill(self) -> Library:
        graph, system = self.world.graph, self.world.system
        memory, facts = memory_of(system, ontology="library"), Facts(system)
        about = [ConnectionType("about", ("Article",), ("Article",))]
        await memory.create_ontology(["Article"], about)
        for id, (type, properties) in CONCEPTS.items():
            await graph.add_node(id, type, properties)
        for id, source, target, type, properties in LINKS:
            await graph.add_edge(id, source, target, type, properties=properties)
        long = "Nothing to see here. " * 60 + "The falcon cannot hear the falconer."
        for name, text in {"birds": long, "harbour": "Ships in the old harbour"}.items():
            # A name: the random id would be the label, and its letters sometimes resemble a query.
            self.content[name] = await memory.create_node("Article", text, "markdown", properties={"name": name})
        ends = self.content["birds"], self.content["harbour"]
        self.link = await memory.create_connection("about", *ends, content="gulls follow every trawler")
        for name, node in {"Mira": "learning", "Falke AG": "patterns"}.items():
            self.entities[name] = (await facts.upsert_entity(name, "Person", node_id=node)).entity_id
        await facts.register_predicate("works for", status="active", cardinality="single")
        note = await facts.add_note("Mira signed a contract as an accountant")
        await facts.add_fact("Mira", "works for", object="Falke AG", notes=[note.note_id])
        await facts.add_note("An accountant nobody has drawn a fact from")
        return self

    async def ask(self, endpoint: str, view: str = "GRAPH", at: At | None = None, **params: Any) -> dict[str, Any]:
        found = await self.run(Principal(), endpoint, view, at, **params)
        assert "aborted" not in found, found
        result: dict[str, Any] = found["result"]
        for node in result["nodes"]:
            node.setdefault("properties", {})
        return result

    async def run(
        self, principal: Principal, endpoint: str, view: str = "GRAPH", at: At | None = None, **params: Any
    ) -> dict[str, Any]:
        operation = {"type": "api", "endpoint": endpoint, "params": params}
        program = {"version": 1, "statements": [{"op": "+", "operation": operation}]}
        done = await programs_of(self.world.system, principal).execute(program, at=at, view=view)
        answer: dict[str, Any] = done.as_json()
        return answer

    async def ids(self, endpoint: str, view: str = "GRAPH", at: At | None = None, **params: Any) -> list[str]:
        return [node["concept_id"] for node in (await self.ask(endpoint, view, at, **params))["nodes"]]


@pytest.fixture(scope="module")
def library(harness: Harness) -> Iterator[Library]:
    """Filled once: the tests only read, but for the last one."""
    world = StoreUnderTest(harness)
    run(world.begin())
    yield run(Library(world).fill())
    run(world.end())


@clause("PROG-96", "PROG-82")
async def test_concepts_are_found_by_likeness(library: Library) -> None:
    found = await library.ask("/search/concepts", query="organizational")
    assert [node["concept_id"] for node in found["nodes"]] == ["patterns", "learning"]
    assert found["links"] == []
    first, second = found["nodes"]
    assert (second["label"], second["description"]) == ("organizational learning", "how companies learn")
    assert 0.2 <= second["properties"]["similarity"] <= first["properties"]["similarity"] <= 1
    exact = await library.ask("/search/concepts", query="in Berlin: the Weather", min_similarity=0.5)
    assert [node["concept_id"] for node in exact["nodes"]] == ["berlin"]
    ask = library.ids
    assert await ask("/search/concepts", query="organizational", min_similarity=0.99) == []
    everything = await ask("/search/concepts", query="organizational", min_similarity=-1, limit=100)
    assert set(everything) > {"learning", "patterns", "networks", "machines", "berlin"}
    assert await ask("/search/concepts", query="organizational", min_similarity=-1, limit=3) == everything[:3]
    assert (
        await ask("/search/concepts", query="organizational", min_similarity=-1, limit=2, offset=2) == everything[2:4]
    )
    assert await ask("/search/concepts", query="organizational", limit=0) == []
    assert await ask("/search/concepts", query="learning", ontology="science", min_similarity=-1) == ["networks"]
    articles = await ask("/search/concepts", query="learning", ontology="library", min_similarity=-1)
    assert sorted(articles) == sorted(library.content.values())
    assert await ask("/search/concepts", query="the of and") == []


@clause("PROG-96", "PROG-97")
async def test_what_a_search_cannot_do_stops_the_program(library: Library) -> None:
    for params in ({"limit": -1}, {"offset": -1}, {"limit": 900, "offset": 900}, {"min_similarity": 1.5}):
        for endpoint in ("/search/concepts", "/search/sources"):
            done = await library.run(Principal(), endpoint, query="organizational", **params)
            assert done["aborted"]["reason"].startswith("Execution error: ")


@clause("PROG-97")
async def test_sources_lead_to_the_concepts_they_are_about(library: Library) -> None:
    ask, content = library.ids, library.content
    assert await ask("/search/sources", query="falcon and falconer") == [content["birds"]]
    assert await ask("/search/sources", query="old harbour ships") == [content["harbour"]]
    gulls = await library.ask("/search/sources", query="gulls follow a trawler")
    assert sorted(node["concept_id"] for node in gulls["nodes"]) == sorted(content.values())
    assert all(node["properties"]["similarity"] > 0.5 for node in gulls["nodes"])
    assert sorted(await ask("/search/sources", query="accountant contract")) == ["learning", "patterns"]
    entities = [f"entity/{id}" for id in library.entities.values()]
    assert sorted(await ask("/search/sources", "FACTS", query="accountant contract")) == sorted(entities)
    both = await ask("/search/sources", "ALL", query="accountant contract", limit=20)
    assert sorted(both) == sorted([*entities, "learning", "patterns"])
    assert await ask("/search/sources", query="accountant contract", ontology="management") == ["patterns"]
    two = await ask("/search/sources", query="accountant contract")
    assert await ask("/search/sources", query="accountant contract", limit=1, offset=1) == two[1:]
    assert await ask("/search/sources", query="quantum chromodynamics", min_similarity=0.6) == []
    assert await ask("/search/sources", at=At(position=1), query="falcon") == []
    stranger = Principal("eve", frozenset({"reader"}), "default", "elsewhere")
    assert (await library.run(stranger, "/search/sources", query="accountant contract"))["result"]["nodes"] == []


@clause("PROG-98")
async def test_the_vocabulary_tells_its_status(library: Library) -> None:
    words = {node["label"]: node for node in (await library.ask("/vocabulary/status"))["nodes"]}
    assert list(words) == sorted(words)
    assert {name: word["properties"]["count"] for name, word in words.items()} == {
        "CONTRADICTS": 1, "IMPLIES": 1, "RELATED": 1, "SUPPORTS": 3, "about": 1, "works for": 1,
    }  # fmt: skip
    assert words["SUPPORTS"]["concept_id"] == "vocab:SUPPORTS"
    assert words["SUPPORTS"]["properties"]["epistemic_status"] == "unclassified"
    assert words["works for"]["properties"]["epistemic_status"] == "active"
    assert words["about"]["properties"]["category"] == "library"
    ask = library.ids
    assert await ask("/vocabulary/status", status_filter="active") == ["vocab:works for"]
    assert await ask("/vocabulary/status", status_filter="deprecated") == []
    assert await ask("/vocabulary/status", relationship_type="IMPLIES") == ["vocab:IMPLIES"]
    assert await ask("/vocabulary/status", relationship_type="implies") == []
    assert await ask("/vocabulary/status", relationship_type="IMPLIES", status_filter="active") == []
    stranger = Principal("eve", frozenset({"reader"}), "default", "elsewhere")
    seen = await library.run(stranger, "/vocabulary/status", relationship_type="works for")
    assert seen["result"]["nodes"] == []


@clause("PROG-99")
async def test_concepts_come_in_a_batch(library: Library) -> None:
    ask = library.ids
    wanted = ["berlin", "nobody", "patterns", 7, "plain", "berlin", ["x"]]
    assert await ask("/concepts/batch", concept_ids=wanted) == ["berlin", "patterns", "plain"]
    assert await ask("/concepts/batch", concept_ids=[]) == []
    assert await ask("/concepts/batch", concept_ids=["weather"]) == []  # it calls itself berlin
    (plain,) = (await library.ask("/concepts/batch", concept_ids=["learning"], include_details=False))["nodes"]
    assert plain["properties"].keys() == {"name"}
    (told,) = (await library.ask("/concepts/batch", concept_ids=["learning"], include_details=True))["nodes"]
    assert told["properties"]["evidence_count"] == 1
    assert told["properties"]["grounding_strength"] == 0.5
    assert 0 < told["properties"]["diversity_score"] <= 1
    entity = f"entity/{library.entities['Mira']}"
    assert await ask("/concepts/batch", "FACTS", concept_ids=[entity, "patterns"]) == [entity]
    assert await ask("/concepts/batch", at=At(position=0), concept_ids=["patterns"]) == []


@clause("PROG-100")
async def test_details_show_where_a_concept_leads(library: Library) -> None:
    found = await library.ask("/concepts/details", concept_id="patterns")
    assert [node["concept_id"] for node in found["nodes"]] == ["patterns", "learning", "berlin"]
    links = [(link["from_id"], link["relationship_type"], link["to_id"]) for link in found["links"]]
    assert links == [("patterns", "SUPPORTS", "learning"), ("patterns", "RELATED", "berlin")]
    assert found["links"][0]["confidence"] == 0.8
    assert "grounding_strength" not in found["nodes"][0]["properties"]
    assert "diversity_score" not in found["nodes"][0]["properties"]
    deep = await library.ask("/concepts/details", concept_id="patterns", include_grounding=True, include_diversity=True)
    first, *others = deep["nodes"]
    assert first["properties"]["grounding_strength"] == 0.25
    assert 0 < first["properties"]["diversity_score"] <= 1
    assert all("diversity_score" not in node["properties"] for node in others)
    given = await library.ask("/concepts/details", concept_id="machines", include_grounding=True)
    assert given["nodes"][0]["properties"]["grounding_strength"] == 0.9
    assert await library.ask("/concepts/details", concept_id="nobody") == {"nodes": [], "links": []}
    mira = await library.ask("/concepts/details", "FACTS", concept_id=f"entity/{library.entities['Mira']}")
    assert [link["relationship_type"] for link in mira["links"]] == ["works for"]


@clause("PROG-101")
async def test_related_shows_what_lies_around(library: Library) -> None:
    async def links(**params: Any) -> list[str]:
        found = await library.ask("/concepts/related", **params)
        return sorted(f"{link['from_id']} {link['relationship_type']} {link['to_id']}" for link in found["links"])

    ask = library.ids
    around = ["networks", "machines", "patterns", "learning"]
    assert await ask("/concepts/related", concept_id="networks", max_depth=1) == around[:2]
    assert sorted(await ask("/concepts/related", concept_id="networks")) == sorted(around)
    assert await ask("/concepts/related", concept_id="networks", max_depth=3) == [*around, "berlin"]
    assert await links(concept_id="networks") == [
        "learning IMPLIES machines",
        "machines CONTRADICTS patterns",
        "networks SUPPORTS machines",
        "patterns SUPPORTS learning",
    ]
    supports = ["SUPPORTS"]
    assert await links(concept_id="networks", max_depth=3, relationship_types=supports) == [
        "networks SUPPORTS machines"
    ]
    assert await ask("/concepts/related", concept_id="patterns", max_depth=3, relationship_types=supports) == [
        "patterns",
        "learning",
    ]
    assert await ask("/concepts/related", concept_id="plain") == []
    assert await ask("/concepts/related", concept_id="nobody") == []
    for depth in (0, 7):
        done = await library.run(Principal(), "/concepts/related", concept_id="networks", max_depth=depth)
        assert done["aborted"]["reason"] == f"Execution error: max_depth lies between 1 and 6, not {depth}"


@clause("PROG-96")
async def test_search_follows_every_change_and_goes_back_in_time(library: Library) -> None:
    world, before = library.world, (await library.world.events())[-1].position
    assert await library.ids("/search/concepts", query="organizational") == ["patterns", "learning"]
    await world.graph.update("learning", {"name": "how gulls fly"}, remove=["description"])
    await world.graph.delete("patterns")
    await world.graph.add_node("structure", "Concept", {"label": "organization"})
    assert await library.ids("/search/concepts", query="organizational") == ["structure"]
    await world.graph.import_graph(
        {"nodes": [{"id": f"n{n}", "properties": {"name": f"organs {n}"}} for n in range(70)]}
    )
    assert (await library.ids("/search/concepts", query="organizational"))[0] == "structure"
    assert len(await library.ids("/search/concepts", query="organs", limit=100)) >= 70
    at = At(position=before)
    assert await library.ids("/search/concepts", at=at, query="organizational") == ["patterns", "learning"]
