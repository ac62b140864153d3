"""Gateway processes for tests: started as a person would start them, waited for, and stopped."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from tests.servers.places import free_port

UGS = str(Path(sys.executable).parent / "ugs")
TIMEOUT_SECONDS = 120.0
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Gateway:
    """A running `ugs serve`."""

    def __init__(self, process: subprocess.Popen[str], port: int, log: Path) -> None:
        self.process, self.log = process, log
        self.port, self.url = port, f"http://127.0.0.1:{port}"

    def logged(self) -> str:
        """What it wrote to standard error so far."""
        return self.log.read_text("utf-8")

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page, 0 when nobody answers."""
        try:
            with DIRECT.open(self.url + path, timeout=10) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()
        except OSError:
            return 0, ""

    def ask(self, query: str, variables: Mapping[str, Any] | None = None) -> Any:
        """The answer to a GraphQL query."""
        body = json.dumps({"query": query, "variables": variables or {}}).encode()
        request = urllib.request.Request(self.url + "/graphql", body, {"content-type": "application/json"})
        with DIRECT.open(request, timeout=10) as answer:
            return json.load(answer)

    def cpu_seconds(self) -> float:
        """The CPU time that the process has taken so far."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.get("/readyz")[0] != 200:
            assert self.process.poll() is None, self.logged()
            assert time.monotonic() < deadline, "the gateway never became ready"
            time.sleep(0.05)


@contextmanager
def serving(folder: Path, *options: str, port: int | None = None) -> Iterator[Gateway]:
    """A gateway on a free port, or on this one, ready, until the block ends."""
    port = port or free_port()
    command = [UGS, "serve", "--port", str(port), *options]
    # Its log goes to a file: nobody reads a pipe meanwhile, and one that is full holds the gateway up.
    with TemporaryDirectory(ignore_cleanup_errors=True) as place, (Path(place) / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
        gateway = Gateway(process, port, Path(place) / "log")
        try:
            gateway.wait_until_ready()
            yield gateway
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=TIMEOUT_SECONDS)


def ugs(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [UGS, *words], cwd=folder, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )
