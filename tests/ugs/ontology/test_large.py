"""Content as large as the seed thinks of: about a hundred megabytes in one node."""

import base64
from hashlib import sha256
from pathlib import Path

import pytest

from ugs.errors import LimitExceeded
from ugs.graph.api import Graph
from ugs.ontology.api import Memory
from ugs.system import System

UTMOST = 100 << 20


@pytest.mark.parametrize("store", ["file:{}/data", "sqlite:///{}/memory.db"])
@pytest.mark.clause("ONT-189")
async def test_a_hundred_mebibytes_come_back_whole_and_no_more_is_taken(store: str, tmp_path: Path) -> None:
    url, whole = store.format(tmp_path), base64.b64encode(bytes(range(256)) * (UTMOST // 256)).decode()
    wanted = sha256(whole.encode()).digest()
    async with System.at_url(url) as system:
        memory = Memory(system)
        await memory.create_ontology(["Film"])
        # More than the utmost can be wished for, and is not given.
        await Graph(system).add_node("_system_config", properties={"max_content_bytes": 2 * UTMOST})
        with pytest.raises(LimitExceeded):
            await memory.create_node("Film", base64.b64encode(bytes(UTMOST + 1)).decode(), "mp4", "base64")
        film = await memory.create_node("Film", whole, "mp4", "base64")
    async with System.at_url(url) as system:
        assert await Memory(system).query_nodes("Film") == [film]
        assert sha256((await Memory(system).get_node_content(film)).encode()).digest() == wanted
