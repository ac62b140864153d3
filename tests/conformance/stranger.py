"""A stranger's machine: a folder of their own, with their backend installed in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.servers.places import IMPORT_ROOTS

HERE = Path(__file__).parent


class Stranger:
    """Runs pytest in a folder that knows nothing of this project but its packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        packages = folder / "packages"
        info = packages / "plain_store-1.0.dist-info"
        info.mkdir(parents=True)
        shutil.copy(HERE / "plain_store.py", packages)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plain-store\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[ugs.backends]\nplain = plain_store:open_plain\n")
        self.work = folder / "work"
        self.work.mkdir()
        self.path = os.pathsep.join(map(str, [packages, *IMPORT_ROOTS]))

    def pytest(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run pytest; quick settings first, so that the words may override them."""
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", *words],
            cwd=self.work,
            env={**os.environ, "PYTHONPATH": self.path, "CI": "", **variables},
            capture_output=True,
            text=True,
            timeout=240,
        )

    def kit(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the kit, or the named modules of it."""
        return self.pytest("--pyargs", "--histories=5", "--examples=5", *words, **variables)
