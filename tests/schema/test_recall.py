"""The GraphQL field `recall`: its result is that of the kernel, and its arguments are checked."""

from __future__ import annotations

from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.system import System
from ugs_schema import build_schema
from ugs_schema.context import RequestContext

QUESTION = """query($query: String!, $budget: Int, $kinds: [RecallKind!], $first: Int) {
  recall(query: $query, budgetTokens: $budget, kinds: $kinds, first: $first) {
    text tokens budgetTokens omitted truncated asOf entities { canonical }
    items { kind id text score why validFrom validTo scope evidence { noteId text } } } }"""
SCHEMA = build_schema()


async def test_the_answer_has_items_evidence_and_what_was_left_out() -> None:
    async with System.at_url("memory:") as system:
        for drink in ("tea", "cocoa"):
            await Facts(system).add_fact("Ann", "likes", drink, notes=[NoteRef(text=f"Ann likes {drink}.")])
        given = {"query": "which tea does Ann like", "kinds": ["FACT"], "first": 1}
        done = await SCHEMA.execute(QUESTION, variable_values=given, context_value=RequestContext(system))
        assert done.errors is None and done.data is not None
        found = done.data["recall"]
        (item,) = found["items"]
        assert (item["kind"], item["text"], item["validTo"]) == ("FACT", "Ann likes tea", None)
        assert [quote["text"] for quote in item["evidence"]] == ["Ann likes tea."]
        assert (found["omitted"], found["budgetTokens"]) == (1, 2_000) and found["tokens"] <= 2_000
        assert found["entities"] == [{"canonical": "Ann"}] and item["id"] in found["text"]


async def test_arguments_out_of_bounds_are_coded_errors() -> None:
    async with System.at_url("memory:") as system:
        for given in ({"query": " "}, {"query": "x", "budget": 0}, {"query": "x", "first": 101}):
            done = await SCHEMA.execute(QUESTION, variable_values=given, context_value=RequestContext(system))
            assert done.errors and done.data is None
