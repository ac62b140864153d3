"""The actor types of seed 003: tasks, knowledge, artifacts, and the messages that all of them answer."""
