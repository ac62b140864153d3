"""The Dockerfile: free of the linter's complaints, without root, built from files that exist."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.servers.places import PROJECT

DOCKERFILE = PROJECT / "Dockerfile"


def test_the_linter_finds_nothing() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "hadolint", DOCKERFILE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_image_does_not_run_as_root() -> None:
    users = re.findall(r"^USER (\S+)$", DOCKERFILE.read_text(), re.MULTILINE)
    assert users[-1:] == ["10001:10001"]


def test_the_image_does_not_serve_strangers_unless_told_in_the_command(tmp_path: Path) -> None:
    text = DOCKERFILE.read_text()
    assert "ALLOW_OPEN" not in text
    command = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)[-1]
    program, *words = [word.replace("file:/data", f"file:{tmp_path}") for word in json.loads(command)]
    done = subprocess.run(
        [Path(sys.executable).parent / program, *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 4
    assert "nobody has to log in" in done.stderr
    for way in ("store_keys", "token_file", "--allow-open"):
        assert way in done.stderr


def test_everything_it_copies_exists_and_is_let_through() -> None:
    let_through = (PROJECT / ".dockerignore").read_text().split()
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE.read_text(), re.MULTILINE):
        for name in line.split():
            assert (PROJECT / name).exists(), name
            assert f"!{name}" in let_through


def test_graphiql_is_built_inside_and_goes_where_the_gateway_looks() -> None:
    web, build = re.split(r"^FROM ", DOCKERFILE.read_text(), flags=re.MULTILINE)[1:3]
    assert "RUN CI=1 scripts/web.sh" in web
    assert (
        "COPY --from=web /src/gateway/ugs_gateway/static ./gateway/ugs_gateway/static\nRUN scripts/install_app.sh"
        in build
    )
    assert "out=$PWD/gateway/ugs_gateway/static " in (PROJECT / "scripts" / "web.sh").read_text()
    assert "gateway/ugs_gateway/static" in (PROJECT / ".dockerignore").read_text().split()
