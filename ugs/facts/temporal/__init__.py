"""Valid time of facts: instants, the timeline of a single-valued predicate, and past versions."""
