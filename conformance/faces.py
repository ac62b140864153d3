"""Through which face a test sees a system: the Python API, unless a door puts its own in front of it.

A face is a subclass of the Python API that sends what it is asked through a door (GraphQL over HTTP, say) and builds
the same answers from what comes back. Then every test of the kit also proves the door.
"""

from __future__ import annotations

from ugs.api import Graph
from ugs.facts.api import Facts
from ugs.identity import LOCAL, Principal
from ugs.system import System


class Faces:
    """The faces in use; a run through a door replaces them before the first test."""

    graph: type[Graph] = Graph
    facts: type[Facts] = Facts
    keeps_order: bool = True
    """Whether requests made together arrive in their order; through a door nobody promises that."""


def graph_of(system: System) -> Graph:
    return Faces.graph(system)


def facts_of(system: System, principal: Principal = LOCAL.principal) -> Facts:
    return Faces.facts(system, principal)
