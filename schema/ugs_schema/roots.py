"""The root types, merged from the root fields of each feature. Only this module knows all of them."""

from __future__ import annotations

from strawberry.tools import merge_types

from ugs_schema.actors.root_fields import ActorsMutation, ActorsQuery
from ugs_schema.api_keys import KeysMutation, KeysQuery
from ugs_schema.cypher import CypherQuery
from ugs_schema.facts.mutations import FactsMutation
from ugs_schema.facts.proposals import ProposalsMutation, ProposalsQuery
from ugs_schema.facts.queries import FactsQuery, FactsSubscription
from ugs_schema.graph.changes import ChangesQuery, UndoMutation
from ugs_schema.graph.mutations import ChangingMutation
from ugs_schema.graph.queries import ReadingQuery
from ugs_schema.graph.search import SearchingQuery
from ugs_schema.graph.subscriptions import WatchingSubscription
from ugs_schema.graph.traversal import WalkingQuery
from ugs_schema.ontologies.root_fields import OntologyMutation, OntologyQuery
from ugs_schema.programs.root_fields import ProgramsMutation, ProgramsQuery, ProgramsSubscription
from ugs_schema.recall.root_fields import RecallQuery
from ugs_schema.system import SystemQuery, SystemSubscription
from ugs_schema.viewer import ViewerQuery
from ugs_schema.webhooks import WebhooksMutation, WebhooksQuery

Query = merge_types(
    "Query",
    (
        ReadingQuery,
        WalkingQuery,
        SearchingQuery,
        SystemQuery,
        ChangesQuery,
        FactsQuery,
        OntologyQuery,
        CypherQuery,
        ActorsQuery,
        ProgramsQuery,
        KeysQuery,
        WebhooksQuery,
        RecallQuery,
        ProposalsQuery,
        ViewerQuery,
    ),
)
Mutation = merge_types(
    "Mutation",
    (
        *(ChangingMutation, UndoMutation, FactsMutation, ProposalsMutation, OntologyMutation, ActorsMutation),
        *(ProgramsMutation, KeysMutation, WebhooksMutation),
    ),
)
Subscription = merge_types(
    "Subscription", (WatchingSubscription, FactsSubscription, ProgramsSubscription, SystemSubscription)
)
