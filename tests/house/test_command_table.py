"""Every command of the table leads to a module that has what the command needs."""

from importlib import import_module

import pytest

from ugs_gateway.cli.command_table import COMMANDS, Entry


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_a_command_can_be_loaded(entry: Entry) -> None:
    module = import_module(entry.module)
    wanted = (entry.function,) if entry.usage else ("arguments", "run")
    assert all(callable(getattr(module, name)) for name in wanted)
