"""The query planner: clauses become operators."""
