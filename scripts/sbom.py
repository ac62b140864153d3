"""Writes the software bill of materials: every package of the lock with version and hashes, as CycloneDX JSON.

Usage: sbom.py LOCK VERSION
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

PIN = re.compile(r"^([a-z0-9-]+)==([^ ;\\]+)(.*)$")


def build_sbom(lock: str, version: str) -> dict[str, Any]:
    """The bill of materials of this project at a version."""
    name = "ugs-gateway"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(name, version) | {"licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": [component(*pin) for pin in pins(lock)],
    }


def pins(lock: str) -> list[tuple[str, str, list[str]]]:
    """Name, version and SHA-256 hashes of every package in the lock."""
    found: list[tuple[str, str, list[str]]] = []
    for line in lock.splitlines():
        if pin := PIN.match(line):
            found.append((pin[1], pin[2], []))
        elif found and (digest := re.search(r"--hash=sha256:([0-9a-f]{64})", line)):
            found[-1][2].append(digest[1])
    return found


def component(name: str, version: str, hashes: list[str] | None = None) -> dict[str, Any]:
    """One package. A package has a hash for each of its files, one of which is installed."""
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
    }
    if hashes:
        made["hashes"] = [{"alg": "SHA-256", "content": digest} for digest in hashes]
    return made


if __name__ == "__main__":
    print(json.dumps(build_sbom(Path(sys.argv[1]).read_text("utf-8"), sys.argv[2]), indent=2))
