"""The server's jars: fetched once by Maven from `pom.xml` here, kept in the user's cache."""

import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.servers.places import cache_folder
from tests.servers.server import ServerUnavailable, is_root

POM = Path(__file__).with_name("pom.xml")


def version() -> str:
    found = re.search(r"<neo4j\.version>(.+?)</neo4j\.version>", POM.read_text())
    assert found, f"{POM} names no version"
    return found[1]


def jar_folder() -> Path:
    """The folder of the jars, fetched when this is the first time."""
    folder = cache_folder() / f"neo4j-{version()}"
    if not folder.exists():
        print(
            f"fetching the jars of Neo4j {version()} into {folder} (about 120 MB, once)",
            file=sys.stderr,
            flush=True,
        )
        fetch_into(folder)
    return folder


def fetch_into(folder: Path) -> None:
    """Fetch beside the folder and rename, so that a folder which exists is complete."""
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        run_maven(unfinished)
        with suppress(OSError):  # somebody else was faster: theirs is as good
            unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def run_maven(target: Path) -> None:
    command = [
        find_maven(),
        "-q",
        "-B",
        "-f",
        str(POM),
        "dependency:copy-dependencies",
        f"-DoutputDirectory={target}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ServerUnavailable(f"neo4j: Maven could not fetch the jars: {(done.stdout + done.stderr).strip()[-800:]}")


def find_maven() -> str:
    found = shutil.which("mvn")
    if found is None and is_root() and shutil.which("apt-get"):
        install_maven()
        found = shutil.which("mvn")
    if found is None:
        raise ServerUnavailable(
            "neo4j: Maven fetches the server's jars and is missing; install it (apt-get install maven)"
        )
    return found


def install_maven() -> None:
    print("installing Maven with apt-get", file=sys.stderr, flush=True)
    for step in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", "maven"]):
        subprocess.run(["apt-get", *step], stdout=subprocess.DEVNULL, check=False)
