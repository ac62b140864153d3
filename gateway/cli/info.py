"""ugs info: version, known backends, every setting with its origin, and where the data is. Opens nothing.

examples:
  ugs info
  UGS_STORE=sqlite:///graph.db ugs info
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

import ugs
from gateway.cli.answers import Answer
from gateway.cli.opening import settings_of, store_argument
from gateway.cli.outcome import NotOpened
from gateway.masking import without_secrets
from gateway.settings import SETTINGS, Settings
from ugs.connect import backend_names, storage_for
from ugs.errors import UgsError


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    store_argument(parser)


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    settings = settings_of(options)
    try:
        place = storage_for(settings.store).describe()
    except UgsError as error:
        raise NotOpened(settings.store) from error
    told = {
        "version": ugs.__version__,
        "python": sys.version.split()[0],
        "store": without_secrets(settings.store),
        "place": without_secrets(place),
        "backends": backend_names(),
    }
    # People have `config show` for the settings.
    answer = Answer("success", {**told, "settings": {name: shown(settings, name) for name in SETTINGS}}, told)
    code: int = options.speech.answer(answer)
    return code


def shown(settings: Settings, name: str) -> dict[str, Any]:
    """A setting with the place it came from."""
    value = getattr(settings, name)
    return {"value": without_secrets(value) if isinstance(value, str) else value, "origin": settings.origin(name)}
