"""docker-compose.yml: valid by the compose specification, and its commands really run.

There is no need of a container engine: the gateway commands and health checks are taken from
the file and run here, against the servers of the tests.
"""

import asyncio
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import yaml

from tests import servers
from tests.packaging.servers import serving, status_of
from tests.servers.neo4j import Neo4j
from tests.servers.places import PROJECT, free_port

FILE = PROJECT / "docker-compose.yml"
PROFILES = ["memory", "sqlite", "postgresql", "neo4j"]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())["services"]
    return found


def test_the_file_follows_the_compose_specification() -> None:
    check = [f"{BIN}/check-jsonschema", "--builtin-schema", "vendor.compose-spec", str(FILE)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_profile_has_one_gateway_and_its_server(services: dict[str, Any]) -> None:
    by_profile = {profile: names_in(services, profile) for profile in PROFILES}
    assert by_profile == {
        "memory": {"gateway-memory"},
        "sqlite": {"gateway-sqlite"},
        "postgresql": {"gateway-postgresql", "postgresql"},
        "neo4j": {"gateway-neo4j", "neo4j"},
    }


def test_every_service_has_a_health_check_and_waits_only_for_healthy_ones(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["healthcheck"]["test"][0] == "CMD", name
        for needed, how in service.get("depends_on", {}).items():
            assert needed in services
            assert how["condition"] == "service_healthy"


def test_every_volume_is_declared(services: dict[str, Any]) -> None:
    used = {mount.split(":")[0] for service in services.values() for mount in service.get("volumes", [])}
    assert used == set(yaml.safe_load(FILE.read_text())["volumes"])


def test_only_the_gateway_is_published_and_only_on_the_loopback_address(services: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert set(published) == {f"gateway-{profile}" for profile in PROFILES}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_it_is_open_by_its_command_alone_and_answers_to_no_foreign_name(
    services: dict[str, Any], tmp_path: Path
) -> None:
    for profile in PROFILES:
        service = services[f"gateway-{profile}"]
        assert "--allow-open" in service["command"]
        assert service["environment"] == {"UGS_ALLOWED_HOSTS": "${UGS_ALLOWED_HOSTS:-}"}
    port = free_port()
    command = local(services["gateway-memory"]["command"], port, f"file:{tmp_path}/store", "0.0.0.0")
    with serving(command, port, tmp_path) as url:
        for host, status in (("evil.example", 421), (f"evil.example:{port}", 421), ("localhost", 200)):
            asked = urllib.request.Request(f"{url}/livez", headers={"host": host})
            assert status_of(asked) == status


def test_neo4j_runs_under_the_safety_settings_of_the_tested_server(services: dict[str, Any]) -> None:
    tested = Neo4j(folder="/x", log="/x/log").settings()
    settings = {
        setting_of(key): value for key, value in services["neo4j"]["environment"].items() if key != "NEO4J_AUTH"
    }
    assert settings == {key: tested[key] for key in settings}


def test_the_image_and_the_file_agree_on_the_health_check(services: dict[str, Any]) -> None:
    in_image = re.search(r"HEALTHCHECK.*?CMD (\[.*?\])\n", (PROJECT / "Dockerfile").read_text(), re.DOTALL)
    assert in_image
    assert ["CMD", *yaml.safe_load(in_image[1])] == services["gateway-memory"]["healthcheck"]["test"]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_gateway_command_serves_and_its_health_check_agrees(
    profile: str, services: dict[str, Any], tmp_path: Path
) -> None:
    service, port = services[f"gateway-{profile}"], free_port()
    command = local(service["command"], port, local_store(profile, tmp_path))
    health = [word.replace(":8000", f":{port}") for word in service["healthcheck"]["test"][1:]]
    with servers.exclusive(profile), serving(command, port, tmp_path):
        assert is_healthy(health)
    assert not is_healthy(health)


def is_healthy(check: list[str]) -> bool:
    program, *arguments = check
    return subprocess.run([f"{BIN}/{program}", *arguments], check=False, capture_output=True).returncode == 0


def names_in(services: dict[str, Any], profile: str) -> set[str]:
    return {name for name, service in services.items() if profile in service["profiles"]}


def setting_of(variable: str) -> str:
    """A Neo4j setting from its name in the image's environment, where `__` is `_` and `_` is a dot."""
    name = variable.removeprefix("NEO4J_")
    return name.replace("__", "\0").replace("_", ".").replace("\0", "_")


def local(command: list[str], port: int, store: str, host: str = "127.0.0.1") -> list[str]:
    """The container's command with this machine's program, store and port."""
    program, *rest = command
    changed = {rest[rest.index("--store") + 1]: store, "0.0.0.0": host, "8000": str(port)}
    return [str(BIN / program), *(changed.get(word, word) for word in rest)]


def local_store(profile: str, folder: Path) -> str:
    if profile == "postgresql":
        return asyncio.run(fresh_database(servers.require("postgresql")))
    if profile == "neo4j":
        return servers.require("neo4j")
    return {"memory": f"file:{folder}/store", "sqlite": f"sqlite:///{folder}/ugs.db"}[profile]


async def fresh_database(url: str) -> str:
    """A new, empty database on the same server."""
    name = f"compose_{free_port()}"
    connection = await asyncpg.connect(url)
    await connection.execute(f"DROP DATABASE IF EXISTS {name}")
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return f"{url.rpartition('/')[0]}/{name}"
