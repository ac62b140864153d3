"""Caches with a bound on entries and on bytes.

Every cache that clients can fill is a `BoundedCache`: least recently used entries are evicted first, and a value larger
than the whole cache is not kept. Callers pass size estimates, on the high side. All instances are registered in
`BoundedCache.instances`, for tests and metrics, and share a limit (`limit_all`): above it the largest cache evicts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from functools import update_wrapper
from math import inf
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, overload
from weakref import WeakSet

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
D = TypeVar("D")
P = ParamSpec("P")

_MISSING: Any = object()
ENTRY_BYTES = 512
"""Overhead of an entry besides its text: key, tuple, slot in the hash table."""
CHECK_INTERVAL_BYTES = 1 << 20
"""After so many added bytes the limit of all caches is checked again."""


class BoundedCache(Generic[K, V]):
    """An LRU mapping. A read costs a look-up and a move to the end."""

    instances: ClassVar[WeakSet[BoundedCache[Any, Any]]] = WeakSet()
    max_total_bytes: ClassVar[float] = inf
    unchecked_bytes: ClassVar[int] = 0
    """Bytes that were added since the limit of all caches was checked."""

    def __init__(self, max_entries: int, max_bytes: int) -> None:
        if max_entries < 1 or max_bytes < 1:
            raise ValueError("a cache holds at least one entry of at least one byte")
        self.max_entries, self.max_bytes = max_entries, max_bytes
        self.bytes = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self.instances.add(self)

    @classmethod
    def limit_all(cls, max_bytes: float) -> None:
        """Set the bytes that all caches of the process may hold together."""
        cls.max_total_bytes = max_bytes
        cls._check_total()

    @classmethod
    def _check_total(cls) -> None:
        # Summed, not counted along: threads share the caches, and a counter would drift.
        cls.unchecked_bytes, caches = 0, list(cls.instances)
        while caches and sum(cache.bytes for cache in caches) > cls.max_total_bytes:
            if not max(caches, key=lambda cache: cache.bytes)._evict():
                return

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._entries))

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: Any = None) -> Any:
        """The cached value, marked as most recently used."""
        entry = self._entries.get(key)
        if entry is None:
            return default
        try:  # noqa: SIM105 - `suppress` would cost more than the lookup
            self._entries.move_to_end(key)
        except KeyError:
            pass  # another thread has just removed it
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Cache a value of about `size` bytes and evict others as needed; one larger than the cache is not kept."""
        self.pop(key)
        if size > self.max_bytes:
            return
        self._entries[key] = (value, size)
        self.bytes += size
        while (len(self._entries) > self.max_entries or self.bytes > self.max_bytes) and self._evict():
            pass
        BoundedCache.unchecked_bytes += size
        if BoundedCache.unchecked_bytes > CHECK_INTERVAL_BYTES:
            self._check_total()

    def _evict(self) -> bool:
        """Remove the least recently used entry; false when there is none."""
        try:
            _, (_, freed) = self._entries.popitem(last=False)
        except KeyError:
            return False
        self.bytes -= freed
        return True

    def pop(self, key: K) -> V | None:
        """Remove a key; returns its value, if any."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self.bytes -= entry[1]
        return entry[0]

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()
        self.bytes = 0


def text_bytes(value: object) -> int:
    """Approximate bytes of the texts in an argument."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, tuple | list):
        return sum(map(text_bytes, value))
    return 0


class CachedFunction(Generic[P, V]):
    """A memoised function; the size of a result is estimated as the text of its positional arguments times a factor."""

    def __init__(self, function: Callable[P, V], cache: BoundedCache[Any, V], factor: int) -> None:
        self.cache, self._function, self._factor = cache, function, factor
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> V:
        key: Any = (args, tuple(kwargs.items())) if kwargs else args
        found = self.cache.get(key, _MISSING)
        if found is _MISSING:
            found = self._function(*args, **kwargs)
            self.cache.put(key, found, ENTRY_BYTES + self._factor * text_bytes(args))
        return found

    def is_cached(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Whether a call with these positional arguments is only a look-up."""
        return args in self.cache

    def cache_clear(self) -> None:
        """Drop all cached results."""
        self.cache.clear()


def bounded_cache(
    max_entries: int, max_bytes: int, factor: int = 4
) -> Callable[[Callable[P, V]], CachedFunction[P, V]]:
    """As `functools.lru_cache`, bounded by bytes as well.

    `factor`: estimated bytes of the result per character of the arguments.
    """

    def wrap(function: Callable[P, V]) -> CachedFunction[P, V]:
        return CachedFunction(function, BoundedCache(max_entries, max_bytes), factor)

    return wrap
