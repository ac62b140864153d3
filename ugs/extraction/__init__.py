"""Extraction of facts from notes by a model of one's own: a durable queue, extractors by name, and what is believed.

`model`, `events`, `commands` and `feature` declare the queue; `extractors` finds an extractor, `pattern_extractor`
needs no model; `api` asks for extraction, and `worker` works the queue off.
"""
