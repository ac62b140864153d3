"""The TypeScript client as it would be published: what is in it, its helpers in Node, its types, and lost connections."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.browser import browsing
from tests.gateway.cutting_proxy import CuttingProxy, proxied
from tests.gateway.processes import Gateway, serving
from tests.servers.places import PROJECT

SOURCE = PROJECT / "clients" / "typescript"
TOOLS = PROJECT / "build" / "web" / "node_modules"
MODULES = (".", "codegen", "features", "generated", "streams")
CUTS, EVENTS_PER_CUT = 20, 500
EVENTS = CUTS * EVENTS_PER_CUT
BATCH = "mutation($o: [BatchOperation!]!) { applyBatch(operations: $o) { deletedIds } }"


def run(*command: str | Path, cwd: Path, **environ: str) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env={**os.environ, **environ}, capture_output=True, text=True, check=False, timeout=300
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed client, built from a clean copy."""
    if shutil.which("npm") is None or not (TOOLS / "typescript").is_dir():
        reason = "Node.js or the packages of Studio are not there (make web)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    place = tmp_path_factory.mktemp("client")
    shutil.copytree(SOURCE, place / "source", ignore=shutil.ignore_patterns("dist", "node_modules"))
    shutil.copy(PROJECT / "LICENSE", place / "source")
    (place / "source" / "node_modules").symlink_to(TOOLS)
    run("node", "generate.mjs", PROJECT / "schema" / "ugs_schema" / "schema.graphql", cwd=place / "source")
    run(TOOLS / ".bin" / "tsc", "-p", "tsconfig.json", cwd=place / "source")
    (place / "source" / "node_modules").unlink()
    run("npm", "pack", "--ignore-scripts", "--pack-destination", place, "--loglevel=error", cwd=place / "source")
    return next(place.glob("*.tgz"))


@pytest.fixture(scope="module")
def project(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An application that has it installed: what it depends on comes from the packages of Studio."""
    place = tmp_path_factory.mktemp("application")
    modules = place / "node_modules"
    (modules / "@ugs").mkdir(parents=True)
    (modules / ".bin").mkdir()
    shutil.unpack_archive(package, modules / "@ugs", "gztar")
    (modules / "@ugs" / "package").rename(modules / "@ugs" / "client")
    for name in ("graphql", "graphql-ws", "typescript", "@typescript", "@types", "undici-types"):
        if (TOOLS / name).exists():
            (modules / name).symlink_to(TOOLS / name)
    (modules / ".bin" / "ugs-codegen").symlink_to(modules / "@ugs" / "client" / "dist" / "codegen" / "main.js")
    (place / "package.json").write_text('{"type": "module"}')
    for script in (SOURCE / "tests" / "gateway").glob("*.mjs"):
        shutil.copy(script, place)
    return place


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    with serving(tmp_path, "--store", "memory:") as gateway:
        yield gateway


def test_it_holds_the_modules_with_their_types_and_nothing_else(package: Path) -> None:
    with tarfile.open(package) as packed:
        names = {name.removeprefix("package/") for name in packed.getnames()}
        told = json.load(packed.extractfile("package/package.json") or pytest.fail("no package.json"))
    sources = [
        path.relative_to(SOURCE / "src").with_suffix("")
        for path in (SOURCE / "src").rglob("*.ts")
        if path.parent.name != "generated"
    ]
    sources += [Path("generated") / name for name in ("operations", "keys")]
    modules = {f"dist/{path}{ending}" for path in sources for ending in (".js", ".d.ts")}
    assert names == modules | {"package.json", "README.md", "LICENSE"}
    assert set(told["dependencies"]) <= {"graphql-ws", "graphql-sse"}
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert told["version"] == version


def test_its_dependencies_are_those_that_studio_is_locked_to() -> None:
    own = json.loads((SOURCE / "package.json").read_text("utf-8"))
    web = json.loads((PROJECT / "web" / "package.json").read_text("utf-8"))["dependencies"]
    wanted = {**own["dependencies"], **own["peerDependencies"]}
    assert wanted == {name: web[name] for name in wanted}


def test_every_helper_works_in_node(project: Path, gateway: Gateway) -> None:
    assert "all helpers work" in run("node", "helpers.mjs", gateway.url, cwd=project)


def test_types_are_generated_from_a_gateway_and_from_an_ontology(project: Path, gateway: Gateway) -> None:
    made = gateway.ask(
        'mutation { createOntology(input: {nodeTypes: ["Project"], connectionTypes: [], properties: [{type: "Project", '
        'definitions: [{name: "status", kind: STRING, required: true}]}]}) { ontology { name } } }'
    )
    assert "errors" not in made, made
    source = project / "src"
    source.mkdir()
    (source / "plain.graphql").write_text(
        "query Tasks($type: String!) { graphNodes(filter: {type: $type}, first: 5) { nodes { id label properties } } }"
    )
    codegen = project / "node_modules" / ".bin" / "ugs-codegen"
    run("node", codegen, gateway.url, "--documents", "src", "--out", "src/plain.ts", cwd=project)
    (source / "plain.graphql").unlink()
    (source / "typed.graphql").write_text(
        "mutation Add($input: CreateProjectInput!) { createProject(input: $input) { node { id status } } }"
    )
    run("node", codegen, f"{gateway.url}/graphql/default", "--documents", "src", "--out", "src/typed.ts", cwd=project)
    right = """
import { Client } from "@ugs/client";
import { Tasks } from "./plain.ts";
import { Add } from "./typed.ts";
const { graphNodes } = await new Client("URL").query(Tasks, { type: "Project" });
export const labels: string[] = graphNodes.nodes.map(({ label }) => label);
const { createProject } = await new Client("URL/graphql/default").mutate(Add, { input: { status: "active" } });
export const status: string | null = createProject.node?.status ?? null;
console.log(JSON.stringify([labels.length, status]));
"""
    config = {"compilerOptions": {"target": "es2022", "module": "nodenext", "strict": True, "rewriteRelativeImportExtensions": True,
              "skipLibCheck": False, "rootDir": "src", "outDir": "out", "lib": ["es2023", "dom", "dom.iterable", "dom.asynciterable"], "types": []}, "include": ["src"]}  # fmt: skip
    (project / "tsconfig.json").write_text(json.dumps(config))
    (source / "main.ts").write_text(right.replace("URL", gateway.url))
    tsc = TOOLS / ".bin" / "tsc"
    run(tsc, "-p", "tsconfig.json", cwd=project)
    assert json.loads(run("node", "out/main.js", cwd=project)) == [0, "active"]
    wrongs = (
        ("{ type: ", "{ kind: "),
        ("({ label }) => label", "({ degree }) => degree"),
        ('status: "active"', "status: 7"),
    )
    for right_part, wrong_part in wrongs:
        (source / "main.ts").write_text(right.replace(right_part, wrong_part, 1))
        done = subprocess.run(
            [tsc, "-p", "tsconfig.json", "--noEmit"], cwd=project, capture_output=True, text=True, check=False
        )
        assert done.returncode != 0 and "main.ts" in done.stdout, wrong_part
    done = subprocess.run(
        ["node", codegen, "nowhere.graphql"], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stderr.startswith("ugs-codegen: ") and "at " not in done.stderr


def test_what_its_page_shows_is_right_for_the_compiler(project: Path) -> None:
    blocks = re.findall(
        r"^```ts\n(.*?)^```", (PROJECT / "docs" / "typescript-client.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert len(blocks) >= 5
    shown = project / "shown"
    shown.mkdir()
    for number, block in enumerate(
        [*blocks, *re.findall(r"```ts\n(.*?)```", (SOURCE / "README.md").read_text("utf-8"), re.DOTALL)]
    ):
        (shown / f"block_{number}.ts").write_text(block + "export {};\n")
    options = (
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--strict",
        "--noEmit",
        "--lib",
        "es2023,dom,dom.iterable,dom.asynciterable",
        "--types",
        "",
    )
    run(TOOLS / ".bin" / "tsc", *options, "--ignoreConfig", *sorted(shown.glob("*.ts")), cwd=project)


def write_and_cut(gateway: Gateway, proxy: CuttingProxy, wait_for_link: Callable[[int], None]) -> None:
    """Events in batches, and every connection broken in the middle of each of them, once there is one again."""
    for cut in range(CUTS):
        for half in range(2):
            start = cut * EVENTS_PER_CUT + half * EVENTS_PER_CUT // 2
            ids = range(start, start + EVENTS_PER_CUT // 2)
            written = gateway.ask(BATCH, {"o": [{"addNode": {"id": f"n{id}"}} for id in ids]})
            assert "errors" not in written, written
            if half == 0:
                wait_for_link(cut)
                proxy.cut()


@pytest.mark.parametrize("transport", ["sse", "websocket"])
def test_node_loses_nothing_over_twenty_broken_connections(
    project: Path, gateway: Gateway, tmp_path: Path, transport: str
) -> None:
    with proxied(gateway.port) as proxy, (tmp_path / "node.log").open("w") as log:
        command = ["node", "--experimental-websocket", "follow.mjs", proxy.url, transport, str(EVENTS)]
        node = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            write_and_cut(gateway, proxy, lambda cut: proxy.wait_for_connection(lambda: node.poll() is None))
            told, _ = node.communicate(timeout=120)
        except AssertionError as error:
            words = (tmp_path / "node.log").read_text("utf-8")
            raise AssertionError(f"Node.js ended with {node.poll()} after {proxy.cuts} cuts: {words}") from error
        finally:
            node.kill()
        found: dict[str, Any] = json.loads(told)
        assert found["seqs"] == list(range(1, EVENTS + 1))
        assert found["lost"] >= CUTS <= proxy.cuts


@pytest.mark.parametrize("transport", ["sse", "websocket"])
def test_chromium_loses_nothing_over_twenty_broken_connections(
    package: Path, gateway: Gateway, tmp_path: Path, transport: str
) -> None:
    bundle = tmp_path / "client.js"
    source = package.parent / "source"
    run(TOOLS / ".bin" / "esbuild", source / "dist" / "index.js", "--bundle", "--format=iife", "--global-name=ugs", f"--outfile={bundle}",
        "--log-level=error", cwd=PROJECT / "build" / "web", NODE_PATH=str(TOOLS))  # fmt: skip
    with proxied(gateway.port) as proxy, browsing(tmp_path / "chromium") as page:
        page.open(proxy.url)  # a page that may connect to where it came from
        page.wait_for("document.readyState === 'complete'")
        page.value(bundle.read_text("utf-8"))
        page.value(
            f"window.seqs = []; window.lost = 0; void (async () => {{ const client = new ugs.Client({{url: location.origin, transport: '{transport}'}});"
            " const onState = (state) => { window.link = state; lost += Number(state === 'lost'); };"
            " for await (const { seq } of client.events({ after: 0, firstWaitMs: 20, longestWaitMs: 200, onState })) seqs.push(seq); })()"
        )
        write_and_cut(gateway, proxy, lambda cut: page.wait_for(f"link === 'live' && lost === {cut}"))
        page.wait_for(f"seqs.at(-1) === {EVENTS}")
        assert page.value("seqs") == list(range(1, EVENTS + 1))
        assert page.value("lost") >= CUTS
