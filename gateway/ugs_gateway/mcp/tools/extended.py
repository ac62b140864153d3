"""The tools of the profile `extended`, collected from all features."""

from __future__ import annotations

from ugs_gateway.mcp.tools.actors import ACTOR_TOOLS
from ugs_gateway.mcp.tools.base import MemoryTool
from ugs_gateway.mcp.tools.core import CONTENT_TOOLS
from ugs_gateway.mcp.tools.cypher import CYPHER_TOOLS
from ugs_gateway.mcp.tools.facts import FACT_TOOLS
from ugs_gateway.mcp.tools.graph import GRAPH_TOOLS
from ugs_gateway.mcp.tools.knowledge import KNOWLEDGE_TOOLS
from ugs_gateway.mcp.tools.memory import MEMORY_TOOLS
from ugs_gateway.mcp.tools.ontologies import ONTOLOGY_TOOLS
from ugs_gateway.mcp.tools.programs import PROGRAM_TOOLS
from ugs_gateway.mcp.tools.proposals import PROPOSAL_TOOLS

EXTENDED: tuple[MemoryTool, ...] = (
    *CONTENT_TOOLS,
    *ONTOLOGY_TOOLS,
    *GRAPH_TOOLS,
    *FACT_TOOLS,
    *KNOWLEDGE_TOOLS,
    *MEMORY_TOOLS,
    *PROPOSAL_TOOLS,
    *CYPHER_TOOLS,
    *PROGRAM_TOOLS,
    *ACTOR_TOOLS,
)
