"""Graphs as files: every format keeps everything, any store into any other, and an interruption costs nothing."""

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import servers
from tests.gateway.cli.conftest import Ugs
from ugs.errors import InvalidJSON, InvalidSyntax
from ugs.exchange import MODULES, format_named
from ugs.exchange.base import EDGE, NODE, Item, Survey, content_of
from ugs.values import to_text
from ugs_gateway.cli.operations import import_file

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
ids = st.from_regex(r"(user:)?[a-zA-Z_][a-zA-Z0-9_-]{0,8}", fullmatch=True)
scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
properties = st.dictionaries(
    texts.filter(bool) | st.sampled_from(["id", "type", "weight", "data", "ugs_json", "kind"]), values, max_size=4
)
types = st.none() | texts
nodes = st.fixed_dictionaries({"id": ids, "type": types, "properties": properties, "data": values})
weights = st.integers(-1000, 1000) | st.floats(-1e9, 1e9)
edges = st.fixed_dictionaries(
    {"id": ids, "from": ids, "to": ids, "type": types, "weight": weights, "properties": properties}
)
graphs = st.tuples(st.lists(nodes, max_size=4), st.lists(edges, max_size=4))


def through(name: str, items: list[Item]) -> list[Item]:
    """Items written to a file and read back."""
    format = format_named(name)
    survey = format.survey() if format.survey else Survey()
    for item in items:
        survey.inspect(item)
    out = io.StringIO(newline="")
    writer = format.writer(out, survey)
    writer.begin()
    for item in items:
        writer.write(item)
    writer.end()
    raw = io.TextIOWrapper(io.BytesIO(out.getvalue().encode()), encoding="utf-8-sig", newline="")
    return list(format.read(raw))


@pytest.mark.parametrize("name", MODULES)
@given(graph=graphs)
@settings(max_examples=25, deadline=None)
def test_what_is_written_is_read_back_exactly(name: str, graph: tuple[list[Any], list[Any]]) -> None:
    items = [*(Item(NODE, node) for node in graph[0]), *(Item(EDGE, edge) for edge in graph[1])]
    assert [to_text(content_of(item)) for item in through(name, items)] == [to_text(content_of(item)) for item in items]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("type", ["\r", "a\rb", "\n", "\r\n", '"', ",", " ", ""])
def test_types_that_look_like_the_end_of_a_line_stay_what_they_are(name: str, type: str) -> None:
    edge = {"id": "e", "from": "a", "to": "b", "type": type, "weight": 1, "properties": {type or "k": type}}
    items = [Item(EDGE, edge)]
    assert [to_text(content_of(item)) for item in through(name, items)] == [to_text(content_of(item)) for item in items]


@pytest.mark.parametrize("name", MODULES)
@given(text=st.text(max_size=80))
@settings(max_examples=25, deadline=None)
def test_a_file_of_anything_is_read_or_refused_in_words(name: str, text: str) -> None:
    with suppress(InvalidSyntax, InvalidJSON):
        list(format_named(name).read(io.StringIO(text, newline="")))


def address(store: str, folder: Path) -> str:
    """A place of our own on a store."""
    if store in ("file", "sqlite"):
        return f"file:{folder}/there" if store == "file" else f"sqlite:///{folder}/there.db"
    return f"{servers.require(store)}?{'schema' if store == 'postgresql' else 'namespace'}=exchange"


@pytest.mark.parametrize(
    ("store", "format"),
    [("file", "json"), ("sqlite", "csv"), ("sqlite", "cypher"), ("postgresql", "graphml"), ("neo4j", "ndjson")],
)
def test_the_digest_is_kept_from_any_store_to_any_other(demo: Ugs, store: str, format: str, tmp_path: Path) -> None:
    demo("add-node", "odd", "a`b c", 'x:={"deep":[1,null,"é\\r"]}', "mixed:=[1,true]", "--data", '{"big":[2.5]}')
    demo("add-edge", "x9", "odd", "nowhere", "0.5", "k:=null")
    there = address(store, tmp_path)
    first = demo("export", f"a.{format}").value
    demo("clear-scope", "default", "--force", "--store", there)
    taken = demo("import", f"a.{format}", "--store", there)
    assert (taken.value["nodes"], taken.value["edges"]) == (9, 8)
    assert "warning: W001 endpoint missing: nowhere" in taken.err
    assert demo("export", f"b.{format}", "--store", there).value["digest"] == first["digest"]
    assert Path(f"a.{format}").read_bytes() == Path(f"b.{format}").read_bytes()


def test_a_whole_history_moves_as_a_log(demo: Ugs) -> None:
    demo("update", "alice", "role=boss")
    told = demo("export", "h.wal").value
    moved = demo("import", "h.wal", "--store", "sqlite:///h.db").value
    assert (moved["imported"], moved["digest"]) == (16, told["digest"])
    again = demo("import", "h.wal", "--store", "sqlite:///h.db")
    assert again.value["imported"] == 0
    demo("add-node", "other", "--store", "file:other")
    assert demo("import", "h.wal", "--store", "file:other").value["error"]["code"] == "DIGEST_MISMATCH"
    lines = Path("h.wal").read_bytes().splitlines(keepends=True)
    Path("torn.wal").write_bytes(b"".join(lines[:3] + lines[4:]))
    damaged = demo("import", "torn.wal", "--store", "file:torn")
    assert "line 4" in damaged.value["error"]["message"]


def test_standard_input_and_output_work_as_files(demo: Ugs) -> None:
    told = demo("export", "--format", "ndjson")
    assert told.out.count("\n") == 15
    assert "exported 8 nodes and 7 edges" in told.err
    taken = demo("import", "-", "--format", "ndjson", "--store", "file:b", stdin=told.out)
    assert taken.value["events"] == 15


def test_an_import_goes_on_where_it_stopped(demo: Ugs, monkeypatch: pytest.MonkeyPatch) -> None:
    demo("export", "g.ndjson")
    monkeypatch.setattr(import_file, "BATCH_ITEMS", 4)
    taken = import_file.BatchImport._import_batch
    lots: list[int] = []

    async def dying(self: import_file.BatchImport, lot: list[Item], place: int) -> None:
        await taken(self, lot, place)
        lots.append(place)
        if len(lots) == 2:
            # The lot is stored, and we die before anybody could note it down.
            raise KeyboardInterrupt

    monkeypatch.setattr(import_file.BatchImport, "_import_batch", dying)
    assert demo("import", "g.ndjson", "--store", "file:b").code == 130
    assert demo("stats", "--store", "file:b").value["nodes"] == 8
    second = demo("import", "g.ndjson", "--store", "file:b")
    assert "going on after 4" in second.err
    assert (second.code, second.value["nodes"], second.value["edges"]) == (0, 8, 7)
    assert lots == [0, 4, 4, 8, 12]
    assert not list(Path().glob("*.ugs-import"))


def test_an_export_goes_on_where_it_stopped(demo: Ugs, monkeypatch: pytest.MonkeyPatch) -> None:
    from ugs_gateway.cli.operations import export_file

    monkeypatch.setattr(export_file, "CHECKPOINT_ITEMS", 4)
    whole = demo("export", "whole.json").value
    kept = export_file.Export._keep

    def dying(self: export_file.Export, *rest: Any) -> None:
        kept(self, *rest)
        if self.nodes + self.edges == 8:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(export_file.Export, "_keep", dying)
        assert demo("export", "g.json").code == 130
    assert not Path("g.json").exists()
    again = demo("export", "g.json")
    assert "going on after 8 nodes and edges" in again.err
    assert again.value["digest"] == whole["digest"]
    assert Path("g.json").read_bytes() == Path("whole.json").read_bytes()


def test_a_graph_that_moves_while_it_is_written_is_told(demo: Ugs, monkeypatch: pytest.MonkeyPatch) -> None:
    from ugs_gateway.cli.operations import export_file

    places = iter([15, 16, 15, 16])

    async def moving(port: object) -> int:
        return next(places)

    monkeypatch.setattr(export_file, "position_of", moving)
    assert "`--at 15` exports one moment of it" in demo("export", "g.json").err
    assert "changed" not in demo("export", "g.json", "--at", "15").err


def test_conflicts_are_refused_skipped_or_replaced(demo: Ugs) -> None:
    Path("g.json").write_text('{"nodes":[{"id":"alice","type":"robot"},{"id":"new"}],"name":"fixture"}')
    assert demo("import", "g.json").value["error"]["code"] == "E001"
    assert demo("get", "new").value is None
    assert demo("import", "g.json", "--on-conflict", "skip").value["nodes"] == 1
    assert demo("get", "alice").value["type"] == "person"
    demo("import", "g.json", "--on-conflict", "replace")
    assert demo("get", "alice").value["type"] == "robot"


def test_tables_and_graphml_of_others_are_read(ugs: Ugs) -> None:
    Path("people.csv").write_text("id,type,name,age:\n1,person,Ann,31\n2,person,Bob,\n", "utf-8")
    assert ugs("import", "people.csv").value["error"]["code"] == "E005"
    assert ugs("import", "people.csv", "--prefix", "p").value["nodes"] == 2
    assert ugs("get", "p1").value["properties"] == {"name": "Ann", "age": 31}
    assert ugs("get", "p2").value["properties"] == {"name": "Bob"}
    Path("others.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d0" for="node" attr.name="color" attr.type="string"/>'
        '<key id="d1" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="directed">'
        '<node id="0"><data key="d0">red</data></node><node id="1"/><edge source="0" target="1"><data key="d1">2.5</data></edge>'
        "</graph></graphml>"
    )
    assert ugs("import", "others.graphml", "--prefix", "n").value["edges"] == 1
    assert ugs("get", "n0").value["properties"] == {"color": "red"}
    assert json.loads(ugs("traverse", "n0").out)[1]["id"] == "n1"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("g.json", "[]", "{ expected"),
        ("g.json", '{"nodes":[{"id":1}]}', "nodes[0]: 'id' must be a text"),
        ("g.json", '{"nodes":[{"id":"a"', "document: not valid JSON"),
        ("g.ndjson", '{"id":"a"}\n{oops\n', "line 2: not valid JSON"),
        ("g.csv", "id,properties\na,{oops\n", "line 2, column properties"),
        ("g.csv", "id\na,b\n", "more cells than the heading"),
        ("g.graphml", "<graphml>", "not valid XML"),
        ("g.cypher", "MATCH (n) DELETE n;", "line 1: not a statement"),
        ("g.txt", "", "tells no format"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(ugs: Ugs, name: str, content: str, words: str) -> None:
    Path(name).write_text(content)
    assert words in ugs("import", name).value["error"]["message"]
    found = ugs("stats").value
    assert found["nodes"] == 0 if "nodes" in found else "There is no store yet" in found["error"]["message"]


def test_other_bad_files_are_refused_too(ugs: Ugs) -> None:
    Path("g.json").write_bytes(b'{"nodes":[{"id":"\xff"}]}')
    assert "not UTF-8" in ugs("import", "g.json").value["error"]["message"]
    assert ugs("import", "nowhere.json").value["error"]["code"] == "E007"
    assert ugs("load-demo").code == 0
    assert ugs("export", "no/where.json").value["error"]["code"] == "E007"
    assert ugs("export", "g", "--format", "pdf").value["error"]["code"] == "E005"
