"""How long a command takes from Enter to its answer, beside a Python that does nothing: `python -m bench.cli`.

Starts are measured in turns, one of each, so that a busy machine slows all of them alike; the best of each counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

TURNS = 15
TARGET = 2.5
UGS = str(Path(sys.executable).parent / "ugs")
NOTHING = "python -c pass"
STATS = "ugs stats"


def main() -> int:
    """Measure, print, and tell by the exit code whether the target is met."""
    with tempfile.TemporaryDirectory() as folder:
        best = measured(Path(folder))
    for name, seconds in best.items():
        print(f"{name:<28} {seconds * 1000:7.1f} ms   {seconds / best[NOTHING]:5.1f}×")
    met = best[STATS] <= TARGET * best[NOTHING]
    print(f"target: {STATS} at most {TARGET}× {NOTHING}: {'met' if met else 'missed'}")
    return 0 if met else 1


def measured(folder: Path) -> dict[str, float]:
    """The best time of each command, on the demonstration data."""
    started([UGS, "load-demo"], folder)
    commands = {
        NOTHING: [sys.executable, "-c", "pass"],
        STATS: [UGS, "stats"],
        "ugs --help": [UGS, "--help"],
    }
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(TURNS):
        for name, command in commands.items():
            best[name] = min(best[name], started(command, folder))
    return best


def started(command: list[str], folder: Path) -> float:
    """The seconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
