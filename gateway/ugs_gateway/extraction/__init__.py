"""Extraction of facts in a running process: the extractor for OpenAI-compatible addresses, and the workers."""
