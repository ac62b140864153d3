"""ugs info: version, known backends, every setting with its origin, and where the data is. Opens nothing.

examples:
  ugs info
  UGS_STORE=sqlite:///graph.db ugs info
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import ugs
from ugs.connect import backend_names, storage_for
from ugs.errors import UgsError
from ugs_gateway.cli.open_store import add_store_options, settings_of
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.cli.output.streams import NotOpened
from ugs_gateway.defaults import memory_folder
from ugs_gateway.observability.redaction import mask_url, mask_value, without_secrets
from ugs_gateway.settings import SETTINGS, Settings


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_store_options(parser)


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    settings = settings_of(options)
    try:
        storage = storage_for(settings.store)
        place = storage.describe()
    except UgsError as error:
        raise NotOpened(settings.store) from error
    told = {
        "version": ugs.__version__,
        "python": sys.version.split()[0],
        "store": mask_url(settings.store),
        "place": without_secrets(place, settings.store),
        **storage.properties(),
        "memory": str(memory_folder(Path.home())),
        "backends": backend_names(),
    }
    # People have `config show` for the settings.
    answer = Answer(
        "success", {**told, "settings": {name: describe_setting(settings, name) for name in SETTINGS}}, told
    )
    code: int = options.speech.answer(answer)
    return code


def describe_setting(settings: Settings, name: str) -> dict[str, Any]:
    """A setting with its source."""
    return {"value": mask_value(getattr(settings, name)), "origin": settings.origin(name)}
