"""The lock: every package pinned and hashed, in step with pyproject.toml, and true on any machine."""

import re
import subprocess
import tomllib

from tests.servers.places import PROJECT

LOCK = (PROJECT / "requirements.lock").read_text()
PROJECT_TABLE = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]


def test_every_line_is_a_pin_with_hashes() -> None:
    entries = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE).strip())
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_every_declared_dependency_is_locked() -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", LOCK, re.MULTILINE))
    assert declared() - locked == set()


def test_no_committed_file_names_a_registry_or_a_folder_of_one_machine() -> None:
    # Written in pieces, or this file would find itself.
    forbidden = [
        "pypi" + ".org",
        "python" + "hosted",
        "registry." + "npmjs",
        "repo.maven" + ".apache",
        "/opt" + "/wheels",
        "deb." + "debian",
    ]
    command = ["git", "-c", "safe.directory=*", "grep", "-lI", *(word for text in forbidden for word in ("-e", text))]
    found = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stdout + found.stderr


def declared() -> set[str]:
    extras = PROJECT_TABLE["optional-dependencies"].values()
    lines = [*PROJECT_TABLE["dependencies"], *(line for extra in extras for line in extra)]
    return {re.split(r"[\[<>=!~ ;]", line)[0] for line in lines} - {"ugs-gateway"}
