"""The node and edge types of seed 003 as an ontology, for those who want the plain graph to obey it."""

from __future__ import annotations

from ugs.actors.types.artifacts import REFERENCES
from ugs.actors.types.task_relations import BLOCKS, DEPENDS_ON, PRODUCES, SPAWNED_BY
from ugs.ontology.commands.ontologies import CreateOntology
from ugs.ontology.definition import ConnectionType
from ugs.ontology.model import Enforcement

NODE_TYPES = ("task", "knowledge", "artifact", "pattern")
ENDS = {
    DEPENDS_ON: (("task",), ("task",)),
    "requires_knowledge": (("task",), ("knowledge",)),
    PRODUCES: (("task",), ("artifact",)),
    SPAWNED_BY: (("task",), ("task",)),
    BLOCKS: (("task",), ("task",)),
    REFERENCES: (NODE_TYPES, NODE_TYPES),
}


def tasks_ontology(name: str = "tasks", enforcement: Enforcement = Enforcement.OFF) -> CreateOntology:
    """The command that makes the ontology; nothing is enforced unless asked."""
    types = tuple(ConnectionType(type, source, target) for type, (source, target) in ENDS.items())
    return CreateOntology(name=name, node_types=NODE_TYPES, connection_types=types, enforcement=enforcement)
