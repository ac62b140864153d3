"""`ugs serve` as a process: it becomes ready, answers, stops calmly, and says in words what stands in its way."""

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.gateway.processes import serving, ugs
from tests.work import TIMED


@TIMED
def test_it_serves_a_folder_and_ends_calmly_on_sigterm(tmp_path: Path) -> None:
    assert ugs(tmp_path, "load-demo", "--store", "file:./data").returncode == 0
    with serving(tmp_path, "--store", "file:./data") as gateway:
        assert gateway.ask("{ stats { nodes edges events } }") == {
            "data": {"stats": {"nodes": 8, "edges": 7, "events": 15}}
        }
        asked = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        said, _ = gateway.process.communicate(timeout=10)
        assert gateway.process.returncode == 0
        assert time.monotonic() - asked < 10
    assert said == f"UGS Gateway is ready: {gateway.url}/\n"


@TIMED
def test_a_second_process_on_the_folder_is_told_at_once_who_holds_it(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "file:./data") as first:
        # The same command on a free store tells how long a process takes to start; a busy machine gets three tries.
        free = min(timed(tmp_path, "stats", "--store", "memory:")[0] for _ in range(3))
        took, second = min((timed(tmp_path, "stats", "--store", "file:./data") for _ in range(3)), key=lambda it: it[0])
        assert first.get("/readyz")[0] == 200
    assert second.returncode == 3
    assert re.match(rf"ugs: STORE_LOCKED StoreLocked: .*process {first.process.pid} ", second.stderr), second.stderr
    assert took < free + 1


def timed(folder: Path, *words: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    begun = time.monotonic()
    done = ugs(folder, *words)
    return time.monotonic() - begun, done


def test_a_second_server_on_the_folder_refuses_too(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "file:./data"):
        second = ugs(tmp_path, "serve", "--store", "file:./data", "--port", "0")
    assert second.returncode == 3
    assert lines_for_people(second.stderr) == ["ugs: STORE_LOCKED StoreLocked:"]
    assert second.stdout == ""


def lines_for_people(text: str) -> list[str]:
    """The beginning of each line that is not part of the log; a traceback would show here."""
    lines = [line for line in text.splitlines() if not re.match(r"\d\d:\d\d:\d\d ", line)]
    return [" ".join(line.split()[:3]) for line in lines]


def test_a_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = ugs(tmp_path, "serve", "--store", "memory:", "--port", str(port))
    assert done.returncode == 4
    assert done.stderr == (
        f"ugs: CANNOT_LISTEN CannotListen: Port {port} on 127.0.0.1 is in use by another program. "
        "Choose another with --port.\n"
    )


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--store", "nosuch:x"], 3, "No backend answers to 'nosuch:'"),
        (["--store", "file:"], 3, "names no folder"),
        (["--store", "file:x?colour=red"], 3, "no option 'colour'"),
        (["--store", "postgresql://me:s3cret@127.0.0.1:1/db"], 3, "127.0.0.1"),
        (["--store", "neo4j://me:s3cret@127.0.0.1:1"], 3, "127.0.0.1"),
        (["--store", "sqlite:////no/such/folder/x.db"], 3, "/no/such/folder"),
        (["--store", "memory:", "--host", "0.0.0.0"], 4, "nobody has to log in"),
        (["--store", "memory:", "--host", "no.such.host.invalid", "--allow-open"], 4, "Cannot listen on"),
        (["--store", "memory:", "--port", "x"], 2, "port must be a number"),
        (["--config", "nowhere.toml"], 2, "nowhere.toml does not exist"),
    ],
)
def test_what_stands_in_the_way_is_one_line_and_an_exit_code(
    tmp_path: Path, options: list[str], code: int, words: str
) -> None:
    done = ugs(tmp_path, "serve", "--port", "0", *options)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "s3cret" not in done.stderr
    assert len(lines_for_people(done.stderr)) == 1, done.stderr
    assert done.stdout == ""


def test_an_open_address_needs_a_clear_word(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "memory:", "--host", "0.0.0.0", "--allow-open") as gateway:
        assert gateway.get("/readyz")[0] == 200


def test_health_is_yes_or_no_by_exit_code(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "memory:") as gateway:
        yes = ugs(tmp_path, "health", "--url", gateway.url)
        assert (yes.returncode, yes.stderr) == (0, "ready\n")
    no = ugs(tmp_path, "health", "--url", gateway.url)
    assert no.returncode == 1
    assert "nobody answers" in no.stderr


def test_a_request_under_way_is_finished_before_the_end(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "memory:") as gateway:
        host, port = "127.0.0.1", int(gateway.url.rpartition(":")[2])
        body = b'{"query":"{ stats { nodes } }"}'
        with socket.create_connection((host, port), timeout=10) as line:
            head = f"POST /graphql HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            line.sendall(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body[:10])
            time.sleep(0.3)
            gateway.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            line.sendall(body[10:])
            answer = b"".join(iter(lambda: line.recv(4096), b""))
        assert b'{"data":{"stats":{"nodes":0}}}' in answer
        assert gateway.process.wait(10) == 0


IMPORT_SCRIPT = """
import gc, os, signal
from ugs_gateway.server import serve
from ugs_gateway.settings import Settings

def ready(address):
    print(gc.get_freeze_count(), gc.get_threshold()[0], flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

serve(Settings(store="sqlite:///graph.db", port=0), ready)
"""


def test_what_was_made_to_serve_is_out_of_the_collectors_sight(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", IMPORT_SCRIPT], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    frozen, threshold = map(int, told.stdout.split())
    # A schema of some hundred types alone is many times as much.
    assert frozen > 50_000 and threshold >= 10_000, told.stderr
