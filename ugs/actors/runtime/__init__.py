"""What handles one message: queues per node, the context of a handler, and the transaction it writes to."""
