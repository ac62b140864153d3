"""Runs the notebook beside it without Jupyter: `python examples/csv_to_picture/run.py` writes picture.svg here."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).with_name("csv_to_picture.ipynb")


async def run(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Execute the cells in their order, `await` at the top level included; gives the names they left."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            text = "".join(cell["source"])
            code = compile(text, f"cell {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            waiting = eval(code, names)
            if inspect.iscoroutine(waiting):
                await waiting
    return names


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK.parent
    (target / "people.csv").write_text(NOTEBOOK.with_name("people.csv").read_text())
    os.chdir(target)
    print(asyncio.run(run(json.loads(NOTEBOOK.read_text("utf-8"))["cells"]))["busy"]["rows"])
    print(f"the picture is {target / 'picture.svg'}")
