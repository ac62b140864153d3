"""Physical operators: rows in, rows out. Only `planner` makes them."""
