"""Commands that define ontologies, change typed memory, and import one.

Only `ugs.ontology` and its clients that send commands import from here.
"""
