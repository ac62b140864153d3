"""Studio in a browser, in the words of its tests: buttons by their text, fields by their label."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from tests.gateway.browser import Page
from tests.gateway.processes import Gateway
from ugs_gateway.studio.application import is_built

SCREENS = ("explore", "query", "facts", "time", "ontology", "live", "admin")
READY = "!!document.querySelector('.shell') && !document.querySelector('main .loading') && !!document.querySelector('.link-state')"

MAX_TABS = 150

HELPERS = """
window.helpers = {
  button: (text) => [...document.querySelectorAll('button, a.button')].find((found) =>
    (found.getAttribute('aria-label') ?? found.textContent).trim() === text && !found.disabled),
  field: (text) => [...document.querySelectorAll('input, textarea, select')].find((found) =>
    (found.getAttribute('aria-label') ?? found.closest('label')?.firstChild?.textContent ?? '').trim() === text),
  chip: (text) => [...document.querySelectorAll('dialog button.chip')].find((found) => found.innerText.trim() === text),
  text: () => document.body.innerText,
};
"""


def require_built() -> None:
    """Skip where Studio was not built; in CI that is a failure."""
    if not is_built():
        reason = "Studio is not built (make web)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


class Studio:
    """One tab with Studio."""

    def __init__(self, page: Page, gateway: Gateway) -> None:
        self.page, self.gateway = page, gateway

    def open(self, hash: str = "#/explore", ready: bool = True) -> None:
        self.page.visit(f"{self.gateway.url}/{hash}")
        self.page.wait_for("document.readyState === 'complete'")
        if ready:
            self.page.wait_for(READY)
        self.page.value(HELPERS)

    def click(self, text: str) -> None:
        self.page.wait_for(f"!!helpers.button({json.dumps(text)})")
        self.page.value(f"helpers.button({json.dumps(text)}).click()")

    def fill(self, label: str, text: str, number: int = 0) -> None:
        """Replace what a field holds, as typing would."""
        field = f"helpers.field({json.dumps(label)})"
        if number:
            field = f"[...document.querySelectorAll('[aria-label={json.dumps(label)}]')].at({number})"
        # A field takes the focus once its dialog is open; text goes to whatever has it.
        self.page.wait_for(f"!!{field} && ({field}.focus(), document.activeElement === {field})")
        self.page.value(f"{field}.select?.()")
        self.page.type(text)

    def tab_to(self, wanted: str) -> None:
        """Press Tab until the element that has the focus is the wanted one: an expression of it as `at`."""
        found = f"(() => {{ const at = document.activeElement; return !!({wanted}); }})()"
        for _ in range(MAX_TABS):
            if self.page.value(found):
                return
            self.page.press("Tab")
        here = self.page.value("document.activeElement.outerHTML.slice(0, 200)")
        raise AssertionError(f"{wanted} is not reached by Tab; the focus is at {here}")

    def tab_to_button(self, text: str) -> None:
        """The same for a button, by its words; waits until it is there and may be pressed."""
        self.page.wait_for(f"!!helpers.button({json.dumps(text)})")
        self.tab_to(f"at === helpers.button({json.dumps(text)})")

    def sees(self, text: str) -> None:
        self.page.wait_for(f"helpers.text().includes({json.dumps(text)})")

    def nodes(self) -> list[str]:
        """Labels of the nodes on the canvas, from the list beside it."""
        found: list[str] = self.page.value(
            "[...document.querySelectorAll('.node-list li')].map((row) => row.textContent.trim())"
        )
        return found

    def has_node(self, label: str) -> None:
        quoted = json.dumps(label)
        self.page.wait_for(
            f"[...document.querySelectorAll('.node-list li')].some((row) => row.textContent.trim() === {quoted})"
        )

    def ask(self, query: str) -> Any:
        answer = self.gateway.ask(query)
        assert "errors" not in answer, answer
        return answer["data"]
