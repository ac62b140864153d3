"""A gateway process for a test: started as a person would, waited for, and stopped."""

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

TIMEOUT_SECONDS = 60.0


@contextmanager
def serving(command: Sequence[str], port: int, folder: Path) -> Iterator[str]:
    """Run the command until the block ends; gives the base URL once `/readyz` answers."""
    log = folder / "serve.log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/readyz", server, log)
        yield url
    finally:
        server.terminate()
        server.wait(30)


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while status_of(url) != 200:
        ended = server.poll() is not None
        assert not ended and time.monotonic() < deadline, f"{url} never answered 200:\n{log.read_text()}"
        time.sleep(0.1)


def status_of(url: str | urllib.request.Request) -> int:
    """The HTTP status, 0 when nobody answers; no proxy stands between us and the loopback address."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return 0
