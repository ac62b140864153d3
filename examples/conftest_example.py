"""How a stranger tells the kit where stores come from: put this into your own `conftest.py`.

Only needed when a URL on the command line is not enough, for instance because each run wants a database of its own.
The kit empties the store before every test by its `wipe`.
"""

import pytest


@pytest.fixture(scope="session")
def fresh_store_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"dbm:{tmp_path_factory.mktemp('kit') / 'graph'}"
