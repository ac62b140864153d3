"""`server.json`, by which the MCP registry knows the server, against the rules of its schema of 2025-12-11."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ugs_gateway.cli.commands import mcp
from ugs_gateway.mcp.server import Profile

ROOT = Path(__file__).parents[2]
SERVER = json.loads((ROOT / "server.json").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

TOP = {"$schema", "name", "title", "description", "version", "repository", "websiteUrl", "icons", "packages", "remotes"}
PACKAGE = {
    *("registryType", "registryBaseUrl", "identifier", "version", "fileSha256", "runtimeHint", "transport"),
    *("runtimeArguments", "packageArguments", "environmentVariables"),
}
INPUT = {"description", "isRequired", "format", "value", "isSecret", "default", "placeholder", "choices", "variables"}
FORMATS = {"string", "number", "boolean", "filepath"}


def problems_of(server: dict[str, Any]) -> list[str]:
    """What the registry would refuse."""
    found = [f"unknown field {name}" for name in server.keys() - TOP - {"_meta"}]
    found += [f"{name} is missing" for name in ("$schema", "name", "description", "version") if not server.get(name)]
    if server.get("$schema") != SCHEMA:
        found.append("another schema")
    name = server.get("name", "")
    if not re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", name) or not 3 <= len(name) <= 200:
        found.append("the name is no namespace with one slash")
    for field, most in (("title", 100), ("description", 100), ("version", 255)):
        if not 1 <= len(server.get(field, "x")) <= most:
            found.append(f"{field} has more than {most} characters")
    if not server.get("packages") and not server.get("remotes"):
        found.append("nothing to install or to reach")
    for package in server.get("packages", ()):
        found += package_problems(package)
    return found


def package_problems(package: dict[str, Any]) -> list[str]:
    found = [f"unknown field {name} of a package" for name in package.keys() - PACKAGE]
    found += [f"{name} is missing" for name in ("registryType", "identifier", "transport") if name not in package]
    if package.get("registryType") not in ("npm", "pypi", "oci", "nuget", "cargo", "mcpb"):
        found.append("an unknown kind of package")
    if not re.fullmatch(r"\d+(\.\d+)*([a-z0-9.+-]*)", package.get("version", "")):
        found.append("no exact version")
    if package.get("transport", {}).get("type") not in ("stdio", "streamable-http", "sse"):
        found.append("no transport")
    for argument in (*package.get("runtimeArguments", ()), *package.get("packageArguments", ())):
        found += input_problems(argument, {"type", "name", "isRepeated", "valueHint"})
        kind = argument.get("type")
        if kind not in ("positional", "named"):
            found.append("an argument is positional or named")
        if kind == "named" and not argument.get("name"):
            found.append("a named argument has no name")
        if kind == "positional" and not {"value", "valueHint"} & argument.keys():
            found.append("a positional argument has neither value nor hint")
    for variable in package.get("environmentVariables", ()):
        found += input_problems(variable, {"name"})
        if not variable.get("name"):
            found.append("a variable has no name")
    return found


def input_problems(given: dict[str, Any], more: set[str]) -> list[str]:
    found = [f"unknown field {name} of an input" for name in given.keys() - INPUT - more]
    if given.get("format", "string") not in FORMATS:
        found.append("an unknown format")
    if "choices" in given and given.get("default") not in given["choices"]:
        found.append("the default is no choice")
    return found


def test_the_description_is_what_the_registry_takes() -> None:
    assert problems_of(SERVER) == []


@pytest.mark.parametrize(
    "change",
    [
        {"name": "ugs-gateway"},
        {"name": "a/b/c"},
        {"description": "x" * 101},
        {"version": ""},
        {"packages": []},
        {"status": "active"},
        {"packages": [{**SERVER["packages"][0], "version": "latest"}]},
        {"packages": [{key: value for key, value in SERVER["packages"][0].items() if key != "transport"}]},
        {"packages": [{**SERVER["packages"][0], "registry_type": "pypi"}]},
    ],
)
def test_what_the_registry_would_refuse_is_found(change: dict[str, Any]) -> None:
    assert problems_of({**SERVER, **change})


def test_it_speaks_of_this_version_and_of_what_the_command_takes() -> None:
    (package,) = SERVER["packages"]
    assert SERVER["version"] == package["version"] == PROJECT["version"]
    assert package["identifier"] == PROJECT["name"] and package["identifier"] in PROJECT["scripts"]
    command, profile = package["packageArguments"]
    assert command["value"] == "mcp" and mcp.__doc__
    assert profile["choices"] == [one.value for one in Profile]
    assert [one["name"] for one in package["environmentVariables"]] == ["BASE_PATH"]


def test_the_readme_that_is_published_names_the_server() -> None:
    assert f"mcp-name: {SERVER['name']}" in (ROOT / "README.md").read_text()
