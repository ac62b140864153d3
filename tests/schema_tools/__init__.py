"""Tools of others on our schema: the composition of Apollo Federation, the compiler of Relay."""
