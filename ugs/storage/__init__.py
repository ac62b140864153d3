"""The storage port: what a store must do, what it may do better, and nothing about what is stored.

A store keeps the event log and the rows of the catalog's tables, both in one transaction, and answers `fetch`.
Everything else has a default here or in `ugs.reads`, so a complete store is a handful of methods; overriding a
default makes an answer faster and never different, which the conformance kit proves with native paths on and off.

`SessionCore` and `StorageCore` are the methods that a store must have; `session_capabilities` and
`storage_capabilities` group the optional ones by what they make faster.
"""

from __future__ import annotations

from ugs.storage.event_query import EventQuery
from ugs.storage.session import Session
from ugs.storage.session_core import SessionCore
from ugs.storage.storage import RowVersion, Storage
from ugs.storage.storage_core import Capabilities, StorageCore

__all__ = ["Capabilities", "EventQuery", "RowVersion", "Session", "SessionCore", "Storage", "StorageCore"]
