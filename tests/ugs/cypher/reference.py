"""The tables of clauses, operators, functions and procedures in `docs/cypher.md`, generated from the parser and the registries.

`python -m tests.ugs.cypher.reference` writes them.
"""

from __future__ import annotations

from pathlib import Path

from ugs.cypher.functions import FUNCTIONS, Function
from ugs.cypher.functions.aggregates import AGGREGATES, TWO_ARGUMENTS
from ugs.cypher.parser.clauses import CLAUSES, REFUSED
from ugs.cypher.parser.expressions import SIGNS, WORDS
from ugs.cypher.procedures import PROCEDURES

PAGE = Path(__file__).parents[3] / "docs" / "cypher.md"
BEGIN, END = "<!-- tables of the language: begin -->", "<!-- tables of the language: end -->"
OPTIONAL_CLAUSES = ("MATCH", "CALL")
PARTS_OF_CLAUSES = ("WHERE", "ORDER BY", "SKIP", "LIMIT", "DISTINCT", "UNION", "UNION ALL", "YIELD", "USING")
ABSENT = {
    "file linenumber": "belong to `LOAD CSV`",
    "graph.byName graph.byElementId": "choose among several databases",
}
"""Functions of Neo4j 5 that are not there, by the reason."""
SPECIAL_FORMS = ("all", "any", "none", "single", "reduce")
"""Functions with a variable of their own, which the parser knows."""
SELECTORS = (
    "ANY k",
    "ANY SHORTEST",
    "ALL SHORTEST",
    "SHORTEST k",
    "SHORTEST k GROUPS",
    "shortestPath()",
    "allShortestPaths()",
)
TESTS = ("IS NULL", "IS NOT NULL", "IS ::", "IS NORMALIZED", "IS label expression")


def language_tables() -> str:
    """All tables as Markdown."""
    clauses = [name for name in CLAUSES if name != "OPTIONAL"] + [f"OPTIONAL {name}" for name in OPTIONAL_CLAUSES]
    rows = [("✓", ", ".join(f"`{name}`" for name in (*clauses, *PARTS_OF_CLAUSES)), "")]
    rows += [("–", ", ".join(f"`{word}`" for word in words.split()), rule) for rule, words in REFUSED.items()]
    operators = [*SIGNS, *(f"{word} WITH" if word in ("STARTS", "ENDS") else word for word in WORDS), "NOT", *TESTS]
    lines = ["| | clauses | refused as |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows), ""]
    shown = ", ".join(f"`{name.replace('|', chr(92) + '|')}`" for name in operators)
    lines += ["| | operators |", "| --- | --- |", f"| ✓ | {shown} |", ""]
    lines += ["| | path selectors |", "| --- | --- |", f"| ✓ | {', '.join(f'`{name}`' for name in SELECTORS)} |", ""]
    lines += ["| | functions | absent because they |", "| --- | --- | --- |"]
    lines += [f"| ✓ | {', '.join(sorted((_signature(one) for one in FUNCTIONS.values()), key=str.lower))} | |"]
    lines += [f"| ✓ with a variable | {', '.join(f'`{name}(v IN list …)`' for name in SPECIAL_FORMS)} | |"]
    lines += [
        f"| – | {', '.join(f'`{name}`' for name in names.split())} | {reason} |" for names, reason in ABSENT.items()
    ]
    aggregates = ", ".join(f"`{name}({'value, part' if name in TWO_ARGUMENTS else 'value'})`" for name in AGGREGATES)
    lines += [f"| ✓ aggregating | {aggregates}, `count(*)` | |", "", "| | procedures | |", "| --- | --- | --- |"]
    lines += [f"| ✓ | `{one.name}() YIELD {', '.join(one.columns)}` | {one.about} |" for one in PROCEDURES.values()]
    return "\n".join(lines)


def _signature(function: Function) -> str:
    most = "…" if function.high is None else str(function.high)
    count = most if str(function.low) == most else f"{function.low}–{most}"
    return f"`{function.name}`/{count}"


def page_tables() -> str:
    """The tables as the page has them."""
    return PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0].strip()


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{language_tables()}\n{END}{rest.partition(END)[2]}", "utf-8")
