"""The report as one page for people: no script it could not do without, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ugs_conformance.support.report import Clause

SEEDS = {
    "UGS": "Universal graph system",
    "FACT": "Facts in time",
    "PROG": "Graph programs",
    "ACT": "Actors",
    "ONT": "Ontology and content",
}
MARKS = {"passed": ("✓", "passed"), "failed": ("✗", "failed"), "no": ("·", "none"), "not": ("–", "na")}

STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--dim:#667085;--paper:#fff;--line:#e4e7ec;--head:#f7f8fa;
--passed:#067647;--passed-bg:#ecfdf3;--failed:#b42318;--failed-bg:#fee4e2;--na:#475467;--na-bg:#f2f4f7}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--dim:#98a2b3;--paper:#12161d;--line:#2a313c;--head:#1a202a;
--passed:#6ce9a6;--passed-bg:#0b2b1f;--failed:#fda29b;--failed-bg:#3b1512;--na:#cbd2dc;--na-bg:#232a35}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:2.5rem 1.5rem 5rem;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.7rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2.6rem 0 .7rem}
.lead,.note{color:var(--dim);margin:.2rem 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:1rem;margin:1.5rem 0}
.card{border:1px solid var(--line);border-radius:10px;padding:1rem 1.1rem}
.card b{font-size:1.05rem}
.bar{display:flex;height:8px;border-radius:4px;overflow:hidden;background:var(--na-bg);margin:.6rem 0}
.bar i{display:block}.bar .passed{background:#17b26a}.bar .failed{background:#f04438}.bar .na{background:#98a2b3}
.card ul{list-style:none;margin:0;padding:0;color:var(--dim);font-size:.88rem}
.filters{display:flex;flex-wrap:wrap;gap:.5rem;position:sticky;top:0;background:var(--paper);padding:.7rem 0;z-index:2}
.filters label{border:1px solid var(--line);border-radius:999px;padding:.15rem .8rem;cursor:pointer;font-size:.9rem}
input[name=show]{position:absolute;opacity:0}
input[name=show]:focus-visible+label{outline:2px solid #528bff}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{border-bottom:1px solid var(--line);padding:.42rem .6rem;text-align:left;vertical-align:top}
thead th{background:var(--head);font-weight:600}
td.v{white-space:nowrap;width:8.5rem;font-size:.88rem}
td.id{white-space:nowrap;font-variant-numeric:tabular-nums;color:var(--dim);width:6rem}
td small{color:var(--dim);white-space:normal;display:block;max-width:14rem}
.s{display:inline-block;border-radius:999px;padding:0 .55rem;font-weight:600}
.s.passed{color:var(--passed);background:var(--passed-bg)}.s.failed{color:var(--failed);background:var(--failed-bg)}
.s.na{color:var(--na);background:var(--na-bg)}.s.none{color:var(--dim);font-weight:400}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
background:var(--na-bg);border-radius:4px;padding:0 .25em}
"""

FILTERS = [("all", "all"), ("passed", "passed"), ("failed", "failed"), ("na", "not applicable"), ("none", "no test")]


def matrix_page(clauses: Sequence[Clause], report: dict[str, Any]) -> str:
    """The whole page."""
    stores = list(report["stores"])
    sections = "".join(_section(seed, clauses, report["clauses"], stores) for seed in SEEDS)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Conformance report</title><style>{STYLE}{_filter_rules()}</style></head><body>"
        "<h1>Conformance report</h1>"
        f'<p class="lead">{len(clauses)} requirements of five specifications on {len(stores)} stores. '
        "A requirement is passed on a store when all its tests passed there, with native paths on and off.</p>"
        f'<div class="cards">{"".join(_card(store, report) for store in stores)}</div>'
        f"{_filters()}{sections}</body></html>"
    )


def kind_of(verdict: str) -> str:
    """The class under which a verdict is shown."""
    return MARKS[verdict.split(" ", 1)[0].rstrip(":")][1]


def _card(store: str, report: dict[str, Any]) -> str:
    kinds = [kind_of(row[store]) for row in report["clauses"].values()]
    counts = {kind: kinds.count(kind) for kind in ("passed", "failed", "na", "none")}
    bar = "".join(
        f'<i class="{kind}" style="width:{100 * counts[kind] / len(kinds):.2f}%"></i>'
        for kind in ("passed", "failed", "na")
    )
    words = {"passed": "passed", "failed": "failed", "na": "not applicable", "none": "without a test"}
    items = "".join(f"<li>{counts[kind]} {word}</li>" for kind, word in words.items())
    note = report["stores"][store]
    told = "" if note == "run" else f'<p class="note">{escape(note)}</p>'
    return f'<div class="card"><b>{escape(store)}</b><div class="bar">{bar}</div><ul>{items}</ul>{told}</div>'


def _filters() -> str:
    """Radio buttons that hide rows by style alone."""
    return (
        '<div class="filters">'
        + "".join(
            f'<span><input type="radio" name="show" id="show-{kind}"{" checked" if kind == "all" else ""}>'
            f'<label for="show-{kind}">{word}</label></span>'
            for kind, word in FILTERS
        )
        + "</div>"
    )


def _filter_rules() -> str:
    hide = "".join(
        f"body:has(#show-{kind}:checked) tbody tr:not(.has-{kind}){{display:none}}"
        for kind, _ in FILTERS
        if kind != "all"
    )
    return hide + "input[name=show]:checked+label{background:var(--ink);color:var(--paper)}"


def _section(seed: str, clauses: Sequence[Clause], verdicts: dict[str, dict[str, str]], stores: list[str]) -> str:
    own = [clause for clause in clauses if clause.id.startswith(f"{seed}-")]
    head = "".join(f"<th>{escape(store)}</th>" for store in stores)
    rows = "".join(_row(clause, [verdicts[clause.id][store] for store in stores]) for clause in own)
    return (
        f'<h2 id="{seed}">{seed} — {SEEDS[seed]} ({len(own)})</h2><table><thead><tr><th>Id</th>'
        f"<th>Requirement</th>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(clause: Clause, verdicts: list[str]) -> str:
    kinds = " ".join(sorted({f"has-{kind_of(verdict)}" for verdict in verdicts}))
    cells = "".join(_cell(verdict) for verdict in verdicts)
    return (
        f'<tr id="{clause.id}" class="{kinds}"><td class="id">{clause.id}</td>'
        f"<td>{_backticks_to_code(clause.text)}<small>{escape(clause.section)}</small></td>{cells}</tr>"
    )


def _cell(verdict: str) -> str:
    word, _, reason = verdict.partition(": ")
    mark = MARKS[word.split(" ", 1)[0]][0]
    told = f"<small>{escape(reason)}</small>" if reason else ""
    return f'<td class="v"><span class="s {kind_of(verdict)}">{mark} {escape(word)}</span>{told}</td>'


def _backticks_to_code(text: str) -> str:
    """Backticks become code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if odd % 2 else part for odd, part in enumerate(parts))
