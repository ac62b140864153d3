"""The further tools of the profile `extended`: each feature brings some, and this list puts them together."""

from __future__ import annotations

from gateway.mcp.asking import ASKING
from gateway.mcp.describing import DESCRIBING
from gateway.mcp.finding import FINDING
from gateway.mcp.knowing import KNOWING
from gateway.mcp.programming import PROGRAMMING
from gateway.mcp.sending import SENDING
from gateway.mcp.tool import MemoryTool

EXTENDED: tuple[MemoryTool, ...] = (*DESCRIBING, *FINDING, *KNOWING, *ASKING, *PROGRAMMING, *SENDING)
