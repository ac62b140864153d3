"""Errors about proposed facts."""

from __future__ import annotations

from ugs.errors import Forbidden, UgsError


class ProposalNotFound(UgsError):
    """No proposal has this id, or the caller may not see it."""

    code = "PROPOSAL_NOT_FOUND"
    summary = "No such proposal"

    def __init__(self, id: str) -> None:
        super().__init__(f"There is no proposal {id[:80]!r}.", proposal_id=id[:80])


class ProposalDecided(UgsError):
    """Somebody has approved or rejected the proposal already."""

    code = "PROPOSAL_DECIDED"
    summary = "The proposal was decided already"

    def __init__(self, id: str, state: str) -> None:
        super().__init__(f"The proposal {id} is {state} already.", proposal_id=id, state=state)


def own_proposal(id: str) -> Forbidden:
    """The refusal to let somebody decide about what they proposed."""
    return Forbidden("whoever proposed a fact may not edit, approve or reject it: somebody else has to", proposalId=id)
