"""The same words give the same answer on a store here and on a gateway there."""

import fcntl
import json
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.cli.conftest import Ugs
from tests.gateway.processes import UGS, Gateway, serving
from tests.work import TIMED
from ugs_gateway.cli.clients.http import Client

PROGRAM = {
    "version": 1,
    "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (p:person) RETURN p"}}],
}
MENTORS = json.dumps(
    {
        "text": "Alice mentors Bob",
        "structured": {"relations": [{"subject": "Alice", "predicate": "mentors", "object": {"entity": "Bob"}}]},
    }
)
SCRIPT = r"""
load-demo
load-demo
stats
get alice
get e1 --all
get nope
list person
list 'user:*'
list 'nope:*'
list '*'
add-node user:profile person name="Alice" --data '{"a":[1.5,null]}'
add-node user:profile
add-node 9bad
add-edge x1 user:profile nobody knows 2.5 since:=2020
update user:profile +tags=a -name --type someone
update nope k=v
update x1 --weight 3 k=v
update x1 k:={oops
update alice role=boss --expected-version 7
update alice
versions user:profile
versions nope
diff 3 --element alice
diff 3 9
diff 99 1
undo 16
undo 17 --preview
undo 3 --after --preview
resolve '@(user:profile:1)'
resolve '@(nope)'
neighbors bob
neighbors nope
neighbors bob sideways
neighbors bob --type reports_to
traverse alice --depth 2 --direction both
traverse alice --strategy dfs
traverse nope
traverse alice --depth 1000
path alice auth_proj
path alice nope
hubs 2
hubs -1
hubs 501
roots
properties
scopes
history 3
history --element alice
history 9999
search login
search login --scope user
search login --limit 0
search login pages --mode vector
search login --mode hybrid --near alice --limit 3
search login --near alice
search login --mode psychic
find-by-property status pending
find-by-property since 2020
delete nope
delete user:profile
clear-scope scratch
clear-scope default
verify
snapshot
cypher 'MATCH (p:person) RETURN p.name, p ORDER BY p.name LIMIT 1'
cypher 'MATCH (p:person RETURN'
cypher 'MATCH (p) WHERE p.name = $n RETURN p.name' n='Bob Smith'
cypher 'EXPLAIN MATCH (p:person) RETURN p' --human
cypher 'MATCH (a), (b) RETURN count(*) AS n, point({x: 1, y: 2}) AS p'
cypher 'RETURN point({x: 1}).y'
facts Nobody
stats --at 3
get alice --at 0
get alice --at 99999
get alice --at 2999-01-01T00:00:00Z
watch --after 13 --count 2
send task_2 get_status
send task_2 bogus
send nope start
send task_2 start '[]'
program validate p.json
program validate bad.json
program run p.json
program run p.json --at 1
program run 77
delete alice --at 3
program save p.json --name people
program save bad.json
program list
program run 1
import more.json
import more.json
ingest notes.ndjson
ingest notes.ndjson --scope other
ingest bad.ndjson
export
export --format csv --scope user
stats --human
traverse alice --human
path alice auth_proj --human
delete nope --human
""".strip().splitlines()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("there"), "--store", "memory:") as running:
        yield running


def without_times(text: str) -> str:
    """The text without what differs between two runs: clocks, and digests that contain them."""
    text = re.sub(r"1[0-9]{12}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "T", text)
    text = re.sub(r'"duration_ms":[0-9.e-]+', "D", text)
    return re.sub(r'"(stored|replayed)":"[0-9a-f]{64}"', "H", text)


def test_a_store_here_and_a_gateway_there_answer_alike(ugs: Ugs, gateway: Gateway) -> None:
    Path("p.json").write_text(json.dumps(PROGRAM))
    Path("bad.json").write_text('{"version":2,"statements":[]}')
    Path("more.json").write_text(
        '{"nodes":[{"id":"m1"},{"id":"user:m2","type":"t"}],"edges":[{"id":"me","from":"m1","to":"m2"}]}'
    )
    Path("notes.ndjson").write_text(f"{MENTORS}\n\n{MENTORS}\n")
    Path("bad.ndjson").write_text(f"{MENTORS}\n{MENTORS.replace('Alice mentors', 'She teaches')}\n")
    for line in SCRIPT:
        here = ugs(*shlex.split(line))
        there = ugs(*shlex.split(line), "--url", gateway.url)
        assert here.code == there.code, line
        assert without_times(here.out) == without_times(there.out), line
        assert without_times(here.err) == without_times(there.err), line
        assert "INTERNAL" not in here.err, line


def test_answers_of_a_gateway_are_whole(ugs: Ugs, tmp_path: Path) -> None:
    nodes = [{"id": f"n{number}", "properties": {"word": "same"}} for number in range(1_100)]
    edges = [{"id": f"e{number}", "from": f"n{number}", "to": f"n{number + 1}"} for number in range(140)]
    Path("g.json").write_text(json.dumps({"nodes": nodes, "edges": edges}))
    there = tmp_path / "there"
    there.mkdir()
    with serving(there, "--store", "memory:") as running:
        place = ["--url", running.url]
        assert ugs("import", "g.json", *place).code == 0
        assert len(ugs("search", "same", *place).value) == 1_100
        assert len(ugs("search", "same", "--limit", "650", *place).value) == 650
        events = ugs("history", "570", *place).value
        assert [event["seq"] for event in events] == list(range(671, 1241))
        assert len(ugs("history", "600", "--element", "n3", *place).value) == 1
        ugs("import", "g.json")
        keys = ("id", "degree", "incoming", "outgoing")
        local, remote = (ugs("hubs", "520", *where).value for where in ([], place))
        assert [[hub[key] for key in keys] for hub in local] == [[hub[key] for key in keys] for hub in remote]
        rows = ugs("cypher", "MATCH (n) RETURN n.id", *place).value
        assert len(rows["rows"]) == 1_100 and "truncated" not in rows
        assert len(ugs("traverse", "n0", "--depth", "139", *place).value) == 140


def test_facts_come_from_a_gateway_too(ugs: Ugs, gateway: Gateway) -> None:
    fact = 'scope: "project_shared", subject: {name: "Ann"}, predicate: "lives in", objectValue: "Bern", notes: [{text: "so"}]'
    gateway.ask(f'mutation {{ addFact(input: {{{fact}, validFrom: "2020-01-01T00:00:00Z"}}) {{ created }} }}')
    (told,) = ugs("facts", "Ann", "--url", gateway.url).value
    expected = {"subject": "Ann", "object": "Bern", "valid_from": "2020-01-01T00:00:00Z", "valid_to": None}
    assert expected.items() <= told.items()


def test_the_interactive_mode_works_on_a_gateway(ugs: Ugs, gateway: Gateway) -> None:
    told = ugs("--url", gateway.url, stdin="get nobody\nwatch --after 0 --count 1\n")
    assert (told.code, told.out.splitlines()[0]) == (0, "null")
    assert ugs(stdin="get nobody\n", UGS_URL=gateway.url).out == "null\n"


def test_the_log_of_a_gateway_becomes_a_file(ugs: Ugs, gateway: Gateway) -> None:
    ugs("load-demo", "--force", "--url", gateway.url)
    told = ugs("export", "there.wal", "--url", gateway.url).value
    moved = ugs("import", "there.wal", "--store", "sqlite:///h.db").value
    assert (moved["events"], moved["digest"]) == (told["events"], told["digest"])
    assert ugs("export", "here.wal", "--store", "sqlite:///h.db").value["digest"] == told["digest"]
    lines = Path("there.wal").read_bytes().splitlines(keepends=True)
    assert Path("here.wal").read_bytes() == b"".join(lines)
    for begun, said in (([*lines[:5], lines[5][:9]], "going on after event 5"), (lines[1:4], "")):
        Path("again.wal.part").write_bytes(b"".join(begun))
        done = ugs("export", "again.wal", "--url", gateway.url)
        assert done.code == 0, done
        assert said in done.err and (said or "going on" not in done.err)
        assert Path("again.wal").read_bytes() == b"".join(lines)
    assert ugs("import", "there.wal", "--url", gateway.url).code == 2


def test_a_gateway_that_is_not_there_is_told(ugs: Ugs) -> None:
    done = ugs("stats", "--url", "http://127.0.0.1:1/")
    assert (done.code, done.value["error"]["code"]) == (3, "UNAVAILABLE")
    assert ugs("stats", "--url", "ftp://x").code == 2
    assert ugs("stats", "--url", "http://x/", "--store", "memory:").code == 2


def test_a_store_that_is_in_use_is_told(ugs: Ugs) -> None:
    ugs("load-demo")
    with Path("data/lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = ugs("stats")
        assert (done.code, done.value["error"]["code"]) == (3, "STORE_LOCKED")
        assert "--url" in ugs("stats", "--human").err


@TIMED
def test_an_interrupted_watch_ends_at_once(ugs: Ugs, gateway: Gateway, tmp_path: Path) -> None:
    ugs("load-demo", "--force", "--url", gateway.url)
    words = [UGS, "watch", "--after", "14", "--url", gateway.url]
    watching = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert watching.stdout is not None
    assert json.loads(watching.stdout.readline())["seq"] == 15
    asked = time.monotonic()
    watching.send_signal(signal.SIGINT)
    _, err = watching.communicate(timeout=20)
    assert watching.returncode == 130
    assert "Traceback" not in err
    assert time.monotonic() - asked < 10


def test_a_token_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Client("http://x", "key")._headers["authorization"] == "Bearer key"
    assert "authorization" not in Client("http://x")._headers


def test_output_that_nobody_reads_is_no_accident(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{UGS} help | true"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
