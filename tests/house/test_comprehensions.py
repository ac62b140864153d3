"""No comprehension takes the name of a built-in function that its function calls.

CPython 3.12.1 inlines comprehensions and then takes the call in another one for the variable: `UnboundLocalError`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from tests.servers.places import PROJECT

FOLDERS = ("ugs", "backends", "schema", "gateway", "conformance", "clients/python")
BUILT_IN = set(dir(builtins))
Function = ast.FunctionDef | ast.AsyncFunctionDef


def confusions(function: Function) -> set[str]:
    """Built-in names that are both called and the variable of a comprehension."""
    nodes = list(ast.walk(function))
    targets = {
        name.id
        for node in nodes
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    parameters = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
    return (targets & called & BUILT_IN) - parameters


def functions() -> Iterator[tuple[str, Function]]:
    for folder in FOLDERS:
        for path in sorted((PROJECT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, Function):
                    yield f"{path.relative_to(PROJECT)}:{node.lineno}", node


def test_no_variable_of_a_comprehension_hides_a_function_that_is_called() -> None:
    assert {place: found for place, function in functions() if (found := confusions(function))} == {}


def test_the_check_finds_one() -> None:
    text = "def f(rows):\n    names = {id: 1 for id in rows}\n    return {id(row): names for row in rows}\n"
    assert confusions(next(node for node in ast.walk(ast.parse(text)) if isinstance(node, Function))) == {"id"}
