"""`ugs conformance`: the kit, started from the command line as a person would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

UGS = Path(sys.executable).with_name("ugs")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([UGS, "conformance", *words], capture_output=True, text=True, check=False, timeout=300)


def test_the_kit_runs_on_a_store_and_its_exit_code_is_handed_on(tmp_path: Path) -> None:
    one = "test_the_prefix_of_an_id_is_its_scope or test_history_of_one_element"
    told = run("--backend", f"sqlite:///{tmp_path}/kit.db", "-q", "-k", one, "-p", "no:cacheprovider")
    assert (told.returncode, "2 passed" in told.stdout) == (0, True), told

    none = run("--backend", "memory:", "-q", "-k", "no_test_is_called_so", "-p", "no:cacheprovider")
    assert none.returncode == 5, none


def test_the_options_of_the_kit_are_shown() -> None:
    told = run("--help-kit")
    assert told.returncode == 0 and "--all" in told.stdout and "--report" in told.stdout


def test_a_store_that_is_none_fails_the_run() -> None:
    told = run("--backend", "nonsense:x", "-q", "-k", "test_history_of_one_element", "-p", "no:cacheprovider")
    assert told.returncode not in (0, 5)


def test_an_option_that_there_is_not_is_a_usage_error() -> None:
    assert run("--bogus").returncode == 2
