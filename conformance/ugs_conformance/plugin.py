"""The pytest plugin of the kit: loads the rest of it in runs that name `ugs_conformance`, and nothing in any other run.

pytest imports this module in every project whose environment has the distribution, so it imports neither `hypothesis`
nor the kit; options, marks and fixtures appear only in runs of the kit, so other people's `--backend` stays theirs.
"""

from __future__ import annotations

import pytest

PACKAGE = "ugs_conformance"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Turn the run into one of the kit when its command line names the kit."""
    if not any(PACKAGE in word for word in args):
        return
    try:
        from ugs_conformance.support.pytest_plugin import begin
    except ModuleNotFoundError as error:
        raise pytest.UsageError(f"the kit needs {error.name}: pip install 'ugs-gateway[conformance]'") from error
    begin(early_config, parser)
