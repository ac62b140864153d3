"""The file mirror: registry, ontology and content of a system as files that people can read (seed 004)."""
