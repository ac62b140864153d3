"""Makes this interpreter behave like one on Windows, for our own packages and for whatever they ask of the system.

What is pretended: modules, functions and flags that Windows lacks; names it refuses; text that is written with two bytes a
newline and read in an old encoding; folders that cannot be opened; files that cannot be moved or removed while they are open
here; locks on stretches of bytes that keep others from reading them; an event loop without signals; addresses that several
may take. Other people's modules are loaded as on this machine, and see Windows only when they ask while running.
"""

from __future__ import annotations

import asyncio
import builtins
import errno
import fcntl
import importlib.machinery
import io
import os
import re
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

OURS = {"ugs", "ugs_backends", "ugs_schema", "ugs_gateway", "ugs_conformance"}
NO_MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "uvloop"}
NO_FUNCTIONS = (
    "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "pread", "pwrite", "fchmod", "fchown", "chown", "geteuid", "getuid",
    "fork", "forkpty", "sysconf", "mkfifo", "uname", "getpgid", "killpg", "setsid", "fdatasync",
)  # fmt: skip
NO_SIGNALS = ("SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGALRM", "SIGQUIT")
O_BINARY = 0x8000
JUNCTION = 0xA000_0003
OLD_ENCODING = "cp1252"
FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f]')
DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)

junctions: set[str] = set()
"""Links that this machine takes for junctions: folders with a tag."""
real = SimpleNamespace(**{name: getattr(os, name) for name in dir(os) if not name.startswith("__")})
text_handles: set[int] = set()
locked: dict[int, int] = {}
"""Handles with a lock, and the second handle of the same file that holds it."""


def pretend() -> None:
    """From now on this is Windows."""
    _importing()
    _files()
    _texts()
    _signals()
    sys.platform = "win32"


# ── what can be imported ─────────────────────────────────────────────────────


def _importing() -> None:
    here, load, find = sys.platform, importlib.machinery.SourceFileLoader.exec_module, builtins.__import__

    def exec_module(self: Any, module: ModuleType) -> None:
        before = sys.platform
        sys.platform = "win32" if _is_ours(module.__name__) else here
        try:
            load(self, module)
        finally:
            sys.platform = before

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if globals is not None and _is_ours(str(globals.get("__name__"))) and level == 0:
            if name in NO_MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name == "msvcrt":
                return SimpleNamespace(LK_NBLCK=2, locking=locking)
        return find(name, globals, locals, fromlist, level)

    sys.modules["uvloop"] = None  # type: ignore[assignment]
    importlib.machinery.SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign]
    builtins.__import__ = import_


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in OURS


# ── files ────────────────────────────────────────────────────────────────────


def _files() -> None:
    for name in NO_FUNCTIONS:
        if hasattr(os, name):
            delattr(os, name)
    os.supports_dir_fd = set()
    os.O_BINARY = O_BINARY  # type: ignore[attr-defined]
    os.open, os.close, os.read, os.write, os.lstat = open_, close, read, write, lstat  # type: ignore[assignment]
    for name in ("replace", "rename", "link", "mkdir", "unlink", "remove", "rmdir", "listdir", "stat"):
        setattr(os, name, _careful(getattr(real, name), moves=name in ("replace", "rename", "unlink", "remove")))


def _careful(call: Callable[..., Any], moves: bool) -> Callable[..., Any]:
    """A call that takes no folder to start from, no name that Windows refuses, and moves nothing that is open."""

    def careful(*given: Any, **options: Any) -> Any:
        if any(name.endswith("dir_fd") and value is not None for name, value in options.items()):
            raise NotImplementedError("dir_fd unavailable on this platform")
        paths = [understood(path) if isinstance(path, str | os.PathLike) else path for path in given]
        if moves and any(_is_open(path) for path in paths):
            raise PermissionError(errno.EACCES, "The process cannot access the file, it is in use", str(paths[0]))
        return call(*paths, **options)

    return careful


def understood(path: Any) -> str:
    """The path that Windows takes this for: either slash leads on, and what trails a name is left out."""
    steps = [step if step in (".", "..") else step.rstrip(". ") for step in re.split(r"[/\\]", os.fspath(path))]
    if any(FORBIDDEN.search(step) or DEVICE.fullmatch(step) for step in steps):
        raise OSError(errno.EINVAL, "The filename, directory name, or volume label syntax is incorrect", str(path))
    return "/".join(steps)


def _is_open(path: Any) -> bool:
    wanted = os.path.abspath(path)
    for handle in real.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{handle}") == wanted:
                return True
        except OSError:
            continue
    return False


def open_(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    if dir_fd is not None:
        raise NotImplementedError("dir_fd unavailable on this platform")
    path = understood(path)
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    handle: int = real.open(path, flags & ~O_BINARY, mode)
    if not flags & O_BINARY:
        text_handles.add(handle)
    return handle


def close(handle: int) -> None:
    text_handles.discard(handle)
    if handle in locked:
        real.close(locked.pop(handle))
    real.close(handle)


def write(handle: int, data: Any) -> int:
    text = bytes(data).replace(b"\n", b"\r\n") if handle in text_handles else data
    written: int = real.write(handle, text)
    return min(written, len(data))


def lstat(path: Any, *, dir_fd: int | None = None) -> Any:
    found = real.lstat(path := understood(path))
    if os.path.abspath(path) not in junctions or not stat.S_ISLNK(found.st_mode):
        return found
    return SimpleNamespace(st_mode=stat.S_IFDIR | 0o777, st_reparse_tag=JUNCTION)


def make_junction(target: Any, place: Any) -> None:
    """A folder that leads to another: what everybody may make on Windows."""
    os.symlink(target, place)
    junctions.add(os.path.abspath(place))


# ── locks ────────────────────────────────────────────────────────────────────


def _stretch(start: int, length: int) -> bytes:
    return struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)


def locking(handle: int, mode: int, length: int) -> None:
    """`msvcrt.locking` for LK_NBLCK: bytes from the current place on belong to this handle until it is closed."""
    assert mode == 2
    if handle not in locked:
        # Linux wants a handle that may write for this, Windows does not.
        locked[handle] = real.open(f"/proc/self/fd/{handle}", os.O_RDWR)
    try:
        fcntl.fcntl(locked[handle], fcntl.F_OFD_SETLK, _stretch(os.lseek(handle, 0, os.SEEK_CUR), length))
    except OSError:
        raise PermissionError(errno.EACCES, "Permission denied") from None


def read(handle: int, length: int) -> bytes:
    """Nobody reads what another has locked."""
    if stat.S_ISREG(os.fstat(handle).st_mode):
        wanted = _stretch(os.lseek(handle, 0, os.SEEK_CUR), length)
        found = fcntl.fcntl(locked.get(handle, handle), fcntl.F_OFD_GETLK, wanted)
        if struct.unpack("hhqqi4x", found)[0] != fcntl.F_UNLCK:
            raise PermissionError(errno.EACCES, "Permission denied")
    data: bytes = real.read(handle, length)
    return data


# ── texts ────────────────────────────────────────────────────────────────────


class WindowsText(io.TextIOWrapper):
    """Writes two bytes for a newline, unless told otherwise."""

    def __init__(
        self, buffer: Any, encoding: Any = None, errors: Any = None, newline: Any = None, *rest: Any, **options: Any
    ) -> None:
        if newline is None and buffer.writable() and not buffer.readable():
            newline = "\r\n"
        super().__init__(buffer, encoding or OLD_ENCODING, errors, newline, *rest, **options)


def _texts() -> None:
    plain = io.open

    def open_text(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
        if not isinstance(file, int):
            file = understood(file)
        given = (
            dict(zip(("buffering", "encoding", "errors", "newline", "closefd", "opener"), rest, strict=False)) | options
        )
        if "b" not in mode:
            given["encoding"] = OLD_ENCODING if given.get("encoding") in (None, "locale") else given["encoding"]
            given["newline"] = "\r\n" if given.get("newline") is None and mode[0] in "wax" else given.get("newline")
        return plain(file, mode, **given)

    builtins.open = io.open = open_text  # type: ignore[assignment]
    io.TextIOWrapper = WindowsText  # type: ignore[misc]
    sys.stdout = WindowsText(sys.stdout.detach())  # type: ignore[union-attr]
    sys.stderr = WindowsText(sys.stderr.detach(), line_buffering=True)  # type: ignore[union-attr]


# ── signals and sockets ──────────────────────────────────────────────────────


def _signals() -> None:
    for name in NO_SIGNALS:
        delattr(signal, name)
    signal.SIGBREAK = 21  # type: ignore[attr-defined]

    def add_signal_handler(*_: Any) -> None:
        raise NotImplementedError

    asyncio.SelectorEventLoop.add_signal_handler = add_signal_handler  # type: ignore[assignment,method-assign]
    asyncio.ProactorEventLoop = asyncio.SelectorEventLoop  # type: ignore[attr-defined]
    # What "reuse" means there is what Linux calls sharing a port; and a port is one's own by default here.
    socket.SO_REUSEADDR = socket.SO_REUSEPORT
    socket.SO_EXCLUSIVEADDRUSE = socket.SO_KEEPALIVE  # type: ignore[attr-defined]
