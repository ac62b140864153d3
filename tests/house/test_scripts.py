"""What `make test` relies on: targets side by side that all end, failures that are told, and temporary files in memory."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[2]
MAKEFILE = """
fine_%:
	@echo said by $*
broken:
	@echo "error: it broke"; exit 3
"""


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "Makefile").write_text(MAKEFILE)
    words = (str(PROJECT / "scripts" / words[0]), *words[1:])
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_more_targets_than_cores_all_run(tmp_path: Path) -> None:
    targets = [f"fine_{number}" for number in range((os.cpu_count() or 1) + 3)]
    done = run("test.sh", "+".join(targets), folder=tmp_path)
    assert done.returncode == 0, done
    for target in targets:
        assert f"{target}: said by {target.removeprefix('fine_')}" in done.stdout
        assert f"==> {target}: ok" in done.stdout


def test_a_failed_target_is_told_and_keeps_no_other_from_its_end(tmp_path: Path) -> None:
    done = run("test.sh", "fine_0", "broken+fine_1+fine_2+fine_3", "fine_4", folder=tmp_path)
    assert done.returncode == 1
    assert "broken: error: it broke" in done.stderr and "FAILED at step 2 of 3: broken" in done.stderr
    assert "fine_3: said by 3" in done.stdout and "said by 4" not in done.stdout
    again = run("test.sh", "fine_0+fine_1", folder=tmp_path)
    assert again.returncode == 0


def test_temporary_files_are_gone_at_the_end_and_the_exit_code_is_handed_on(tmp_path: Path) -> None:
    done = run("in_memory.sh", "sh", "-c", 'touch "$(mktemp -d)/file"; echo "${TMPDIR:-none}"; exit 7', folder=tmp_path)
    assert done.returncode == 7
    folder = done.stdout.strip()
    assert folder == os.environ.get("TMPDIR", "none") or not Path(folder).exists()


def test_make_test_runs_every_folder_of_tests() -> None:
    """Each piece of the unit tests is named once, and what no piece names is in `unit_rest`."""
    said = subprocess.run(["make", "-n", "test", "unit_rest"], cwd=PROJECT, capture_output=True, text=True, check=True)
    steps = next(line for line in said.stdout.splitlines() if "scripts/test.sh" in line).split()[-1].split("+")
    rest = next(line for line in said.stdout.splitlines() if "-m pytest tests " in line)
    pieces = [step.removeprefix("unit_") for step in steps if step.startswith("unit_") and step != "unit_rest"]
    left_out = [word.removeprefix("--ignore=tests/") for word in rest.split() if word.startswith("--ignore=")]
    assert "unit_rest" in steps and len(set(steps)) == len(steps)
    assert all((PROJECT / "tests" / piece).is_dir() for piece in pieces)
    assert set(left_out) == {*pieces, "packaging", "bench", "ugs/cypher/test_differential.py"}
    assert {"whole", "packaging", "conformance", "graphql_kit"} <= set(steps)
