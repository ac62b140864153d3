"""Delivery of webhooks: which process delivers, what is sent, and the connection to the receiver."""
