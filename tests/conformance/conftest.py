from pathlib import Path

import pytest

from tests.conformance.stranger import Stranger


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    return Stranger(tmp_path)
