"""The topics of the schema: each file brings its part of the roots, and no file knows them all but this list."""

from __future__ import annotations

from strawberry.tools import merge_types

from schema.actors import ActorsMutation, ActorsQuery
from schema.changing import ChangingMutation
from schema.cypher import CypherQuery
from schema.facts import FactsQuery, FactsSubscription
from schema.facts_changing import FactsMutation
from schema.keys import KeysMutation, KeysQuery
from schema.ontologies import OntologyMutation, OntologyQuery
from schema.programs import ProgramsMutation, ProgramsQuery, ProgramsSubscription
from schema.reading import ReadingQuery
from schema.searching import SearchingQuery
from schema.system import SystemQuery
from schema.walking import WalkingQuery
from schema.watching import WatchingSubscription

Query = merge_types(
    "Query",
    (
        ReadingQuery,
        WalkingQuery,
        SearchingQuery,
        SystemQuery,
        FactsQuery,
        OntologyQuery,
        CypherQuery,
        ActorsQuery,
        ProgramsQuery,
        KeysQuery,
    ),
)
Mutation = merge_types(
    "Mutation", (ChangingMutation, FactsMutation, OntologyMutation, ActorsMutation, ProgramsMutation, KeysMutation)
)
Subscription = merge_types("Subscription", (WatchingSubscription, FactsSubscription, ProgramsSubscription))
