"""The event log in use: ids, idempotency, replay, snapshots, time travel, and the reader that applies access rules.

`ugs.events` has the events themselves; how they are stored is up to a store.
"""
