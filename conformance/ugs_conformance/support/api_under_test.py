"""Through which face a test sees a system: the Python API, unless a door puts its own in front of it.

A face is a subclass of the Python API that sends what it is asked through a door (GraphQL over HTTP, say) and builds
the same answers from what comes back. Then every test of the kit also proves the door.
"""

from __future__ import annotations

from ugs.actors.api import ActorGraph
from ugs.facts.api import Facts
from ugs.graph.api import Graph
from ugs.identity import LOCAL, Principal
from ugs.ontology.api import Memory
from ugs.ontology.errors import DEFAULT
from ugs.programs.api import Programs
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.system import System


class Inexpressible(Exception):
    """The protocol of a face has no way to send this request, so nothing was sent and nothing changed."""


class Faces:
    """The faces in use; a run through a door replaces them before the first test."""

    graph: type[Graph] = Graph
    facts: type[Facts] = Facts
    memory: type[Memory] = Memory
    actors: type[ActorGraph] = ActorGraph
    programs: type[Programs] = Programs
    keeps_order: bool = True
    """Whether requests made together arrive in their order; through a door nobody promises that."""
    tells_repetition: bool = True
    """Whether an answer says that it repeats an earlier one under the same key."""


def graph_of(system: System) -> Graph:
    return Faces.graph(system)


def facts_of(system: System, principal: Principal = LOCAL.principal) -> Facts:
    return Faces.facts(system, principal)


def memory_of(system: System, ontology: str = DEFAULT) -> Memory:
    return Faces.memory(system, ontology=ontology)


def actors_of(system: System, principal: Principal = LOCAL.principal) -> ActorGraph:
    return Faces.actors(system, principal)


def programs_of(system: System, principal: Principal = LOCAL.principal, bounds: Bounds = BOUNDS) -> Programs:
    return Faces.programs(system, principal, bounds)
