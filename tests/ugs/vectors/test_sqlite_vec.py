"""SQLite with sqlite-vec, in a Python that may load extensions.

Many Pythons are built without that, perhaps the one that runs the tests too. Then another of the same version is
looked for, which is lent our packages; only where there is none is the exact path, outside SQLite, all there is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache

import pytest

from tests.servers.places import IMPORT_ROOTS, PROJECT

MAY_LOAD = (
    "import sqlite3, sys; print(hasattr(sqlite3.connect(':memory:'), 'enable_load_extension'), sys.version_info[:2])"
)
NAMES = ("python{}.{}".format(*sys.version_info), "python3")
RANKED = """
import sys, pytest
from ugs_backends.sql.sqlite.dialect import SqliteDialect
assert "vec_distance_cosine" in SqliteDialect().score("a", "b"), "sqlite-vec was not loaded"
options = ["-q", "-p", "no:cacheprovider", "-k", "ranks or seen_at_once", "--backend", "sqlite:"]
sys.exit(pytest.main([*options, "--pyargs", "ugs_conformance.test_vectors"]))
"""


def candidates() -> Iterator[str]:
    yield sys.executable
    for folder in os.get_exec_path():
        yield from (found for name in NAMES if (found := shutil.which(name, path=folder)))


@cache
def able_python() -> str | None:
    """A Python of this version that may load extensions."""
    wanted = f"True {sys.version_info[:2]}"
    for python in dict.fromkeys(candidates()):
        asked = subprocess.run([python, "-c", MAY_LOAD], capture_output=True, text=True, check=False, timeout=60)
        if asked.stdout.strip() == wanted:
            return python
    return None


def test_every_ranking_is_the_reference_s_with_sqlite_vec() -> None:
    python = able_python()
    if python is None:
        pytest.skip("no Python of this version may load extensions of SQLite: vectors are compared outside of it")
    packages = os.pathsep.join([*map(str, IMPORT_ROOTS), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    environment = {**os.environ, "PYTHONPATH": packages}
    done = subprocess.run(
        [python, "-c", RANKED], env=environment, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout, done.stdout
