"""Reading: a filter algebra, plans made of it, and the executor that any store can use."""
