"""What a command costs from Enter to its answer, beside a Python that does nothing: `python -m bench.cli`.

The time of the processor counts (user and system), which other work on the machine disturbs least. Starts are measured
in turns, the best of each counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TURNS = 20
UGS = str(Path(sys.executable).parent / "ugs")
NOTHING = "python -c pass"
COMMANDS = {
    NOTHING: [sys.executable, "-c", "pass"],
    "ugs stats": [UGS, "stats"],
    "ugs get alice": [UGS, "get", "alice"],
    "ugs search login": [UGS, "search", "login"],
    "ugs --help": [UGS, "--help"],
}


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        best = measure_commands(Path(folder))
    for name, seconds in best.items():
        print(f"{name:<20} {seconds * 1000:7.1f} ms   {seconds / best[NOTHING]:5.1f}×")
    return 0


def measure_commands(folder: Path) -> dict[str, float]:
    """The best time of each command, on the demonstration data."""
    processor_time([UGS, "load-demo"], folder)
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(TURNS):
        for name, command in COMMANDS.items():
            best[name] = min(best[name], processor_time(command, folder))
    return best


def processor_time(command: list[str], folder: Path) -> float:
    """The seconds of processor time that a command takes, all its processes together."""
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
