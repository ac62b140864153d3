"""Walks through the store: `python try_store.py [URL of a gateway]`."""

from __future__ import annotations

import asyncio
import sys

from ugs_store import UgsStore


def without_asyncio(store: UgsStore) -> None:
    store.put(("users", "lena"), "tea", {"text": "prefers green tea", "cups": 3})
    store.put(("users", "lena"), "city", {"text": "lives in Bern", "cups": 0})
    store.put(("users", "ada"), "tea", {"text": "prefers black tea", "cups": 5})
    item = store.get(("users", "lena"), "tea")
    assert item is not None and item.value == {"text": "prefers green tea", "cups": 3}
    store.put(("users", "lena"), "tea", {"text": "prefers white tea", "cups": 1})
    changed = store.get(("users", "lena"), "tea")
    assert changed is not None and changed.value["cups"] == 1 and changed.created_at == item.created_at
    assert [found.key for found in store.search(("users", "lena"))] == ["city", "tea"]
    assert {found.namespace for found in store.search(("users",), query="tea")} == {("users", "lena"), ("users", "ada")}
    assert [found.key for found in store.search(("users",), filter={"cups": {"$gte": 2}})] == ["tea"]
    assert store.list_namespaces(prefix=("users",)) == [("users", "ada"), ("users", "lena")]
    assert store.list_namespaces(max_depth=1) == [("users",)]
    store.delete(("users", "lena"), "city")
    store.delete(("users", "lena"), "city")
    assert store.get(("users", "lena"), "city") is None


async def with_asyncio(store: UgsStore) -> None:
    await asyncio.gather(*(store.aput(("many", str(number % 3)), f"k_{number}", {"n": number}) for number in range(30)))
    assert len(await store.asearch(("many", "1"), limit=100)) == 10
    assert len(await store.asearch(("many",), limit=7, offset=28)) == 2
    found = await store.aget(("many", "2"), "k_5")
    assert found is not None and found.value == {"n": 5}
    await store.adelete(("many", "2"), "k_5")
    assert await store.aget(("many", "2"), "k_5") is None
    assert await store.alist_namespaces(suffix=("1",)) == [("many", "1")]


if __name__ == "__main__":
    url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
    without_asyncio(UgsStore(url))
    asyncio.run(with_asyncio(UgsStore(url)))
    print("the store of LangGraph works")
