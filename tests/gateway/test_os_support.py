"""What differs between operating systems."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from ugs.support.budget import request_budget
from ugs_gateway import server

FRAGMENTED = """
import sys
import psutil
from ugs_gateway.os_support import return_freed_memory, trim_memory

if sys.argv[1] == "returned":
    return_freed_memory()
del [bytearray(b"x" * (30 << 20))][0]  # from now on glibc takes a block of this size for an ordinary one
process, large, small = psutil.Process(), [], []
before = process.memory_info().rss
for _ in range(100):
    large.append(b"x" * (2 << 20))
    small.append(b"x" * 100_000)  # keeps what lies before it in the heap
large.clear()
if sys.argv[1] == "trimmed":
    trim_memory()
print((process.memory_info().rss - before) >> 20)
"""


def kept_megabytes(answer: str) -> int:
    """Memory that a process still holds after it has freed 200 MB."""
    done = subprocess.run([sys.executable, "-c", FRAGMENTED, answer], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc has to be told")
def test_freed_memory_goes_back_to_the_system() -> None:
    assert kept_megabytes("returned") < 50 and kept_megabytes("trimmed") < 50


async def test_memory_is_trimmed_when_requests_have_released_much(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, trimmed = asyncio.get_running_loop(), asyncio.Event()
    monkeypatch.setattr(server, "TRIM_SECONDS", 0.001)
    monkeypatch.setattr(server, "trim_memory", lambda: loop.call_soon_threadsafe(trimmed.set))
    trimming = asyncio.create_task(server.trim_after_large_requests())
    try:
        await asyncio.sleep(0.05)
        assert not trimmed.is_set()
        for _ in range(2):
            with request_budget(60) as budget:
                budget.charge(server.TRIM_BYTES)
        await asyncio.wait_for(trimmed.wait(), 30)
    finally:
        trimming.cancel()
