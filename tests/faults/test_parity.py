"""F50, F58 at full size: the laws of the conformance kit with ten thousand histories, and copies between all stores."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.figures import Figures
from tests.faults.stores import DURABLE, fresh_url

HISTORIES = {"file": 5000, "sqlite": 3000, "postgresql": 1500, "neo4j": 500}
"""Ten thousand in all, more where a history costs less."""


def run_kit(url: str, *arguments: str) -> None:
    """Run the conformance kit on a store; its last words when it fails."""
    command = [sys.executable, "-m", "pytest", "--pyargs", "ugs_conformance", "-q", "--backend", url, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("name", DURABLE)
def test_f50_random_histories_give_the_same_answers_everywhere(
    name: str, tmp_path: Path, full: bool, figures: Figures
) -> None:
    if not full:
        pytest.skip("full tier only (make faults): the kit itself runs 200 histories with `make conformance`")
    with fresh_url(name, tmp_path) as url, figures.timed(f"F50 histories, {name}"):
        run_kit(url, "-k", "laws", "--histories", str(HISTORIES[name]))
    figures.add(f"F50 histories, {name}", histories=HISTORIES[name], differences=0)


@pytest.mark.parametrize("name", DURABLE)
def test_f58_a_copy_has_the_digest_of_its_original(name: str, tmp_path: Path, full: bool, figures: Figures) -> None:
    if not full:
        pytest.skip("full tier only (make faults): the kit itself copies with `make conformance`")
    with ExitStack() as stack, figures.timed(f"F58 copies, {name}"):
        urls = {each: stack.enter_context(fresh_url(each, tmp_path)) for each in DURABLE}
        others = [option for each in DURABLE if each != name for option in ("--also", urls[each])]
        run_kit(urls[name], "-k", "copy", *others)
    figures.add(f"F58 copies, {name}", other_stores=len(DURABLE) - 1, differences=0)
