"""Planning: clauses become operators."""
