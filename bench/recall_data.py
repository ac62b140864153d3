"""A synthetic memory for `bench.recall`: people, facts with the notes that state them, and questions about them.

Everything follows from one seed. Notes and questions use different words for the same predicate, and half of the facts
are replaced by newer ones, so that old notes mislead a search that does not know what holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

GIVEN = [
    "Ada",
    "Ben",
    "Cleo",
    "Dan",
    "Eva",
    "Finn",
    "Gina",
    "Hugo",
    "Iris",
    "Jon",
    "Kira",
    "Leo",
    "Mia",
    "Nils",
    "Olga",
    "Pia",
    "Quinn",
    "Rosa",
    "Sven",
    "Tara",
]
FAMILY = [
    "Abbott",
    "Becker",
    "Castro",
    "Duarte",
    "Egger",
    "Fischer",
    "Garcia",
    "Hansen",
    "Ivanov",
    "Jensen",
    "Keller",
    "Larsen",
    "Moreau",
    "Novak",
    "Okafor",
    "Petrov",
    "Quist",
    "Rossi",
    "Silva",
    "Tanaka",
    "Ueda",
    "Vogel",
    "Weber",
    "Xu",
    "Young",
]
ADJECTIVES = [
    "amber",
    "blue",
    "coastal",
    "dusty",
    "early",
    "faint",
    "gentle",
    "hollow",
    "icy",
    "jolly",
    "keen",
    "lucid",
    "mellow",
    "northern",
    "old",
    "pale",
]
NOUNS = [
    "anchor",
    "bridge",
    "cedar",
    "delta",
    "ember",
    "falcon",
    "garden",
    "harbor",
    "island",
    "jasmine",
    "kettle",
    "lantern",
    "meadow",
    "nectar",
    "orchid",
    "pepper",
    "quarry",
    "river",
    "saddle",
    "timber",
    "valley",
    "willow",
]


DEFAULT_ROUNDS = 4
"""How often each person changes each of their topics at the default size."""


class Topic(NamedTuple):
    """One predicate: its name, how notes state it, and how questions ask for it."""

    predicate: str
    note: str
    questions: tuple[str, str, str]
    is_single: bool = True


TOPICS = (
    Topic(
        "lives in",
        "{s} has moved and now lives in {o}.",
        ("Where does {s} live?", "In which town is {s} living now?", "What is the home of {s}?"),
    ),
    Topic(
        "works for",
        "{s} works for {o} these days.",
        ("Who does {s} work for?", "Where is {s} working?", "What company employs {s}?"),
    ),
    Topic(
        "drinks",
        "In the morning {s} drinks {o}.",
        ("What does {s} drink?", "Which drink does {s} have?", "What beverage does {s} prefer?"),
    ),
    Topic(
        "drives",
        "{s} drives a car called {o}.",
        ("What car does {s} drive?", "What is {s} driving?", "Which vehicle belongs to {s}?"),
    ),
    Topic(
        "studies",
        "{s} studies {o} in the evening.",
        ("What does {s} study?", "Which subject is {s} studying?", "What is {s} learning about?"),
    ),
    Topic(
        "supports",
        "{s} supports the team {o}.",
        ("Which team does {s} support?", "Who is {s} supporting?", "What club is {s} a fan of?"),
    ),
    Topic(
        "plays",
        "On weekends {s} plays the {o}.",
        ("What does {s} play?", "What is {s} playing on weekends?", "Which instrument does {s} practice?"),
    ),
    Topic(
        "manages",
        "{s} manages the project {o}.",
        ("Which project does {s} manage?", "What is {s} managing?", "What project is {s} responsible for?"),
    ),
    Topic(
        "reads",
        "{s} reads a novel named {o}.",
        ("What novel does {s} read?", "What is {s} reading?", "Which book is on the table of {s}?"),
    ),
    Topic(
        "trains at",
        "{s} trains at the gym {o}.",
        ("Where does {s} train?", "Which gym does {s} use for training?", "Where does {s} do sports?"),
    ),
)


class Statement(NamedTuple):
    """A fact with its note; `holds` is whether no later statement replaces it."""

    subject: str
    topic: Topic
    object: str
    text: str
    day: int
    holds: bool


class Question(NamedTuple):
    """A question, and the number of the statement that answers it."""

    text: str
    answer: int


def build_statements(people: int, facts: int, seed: int = 1) -> list[Statement]:
    """The statements in the order they are made; each person has several about each topic, the last one holds.

    No two about one person and topic begin on the same day, and however many there are, the last ones lie in the same
    weeks, so that none is of the future.
    """
    chance = Random(seed)
    names = [name_person(number) for number in range(people)]
    per_topic = max(1, facts // (people * len(TOPICS)))
    first_round = min(0, DEFAULT_ROUNDS - per_topic)
    statements = [
        statement
        for round in range(per_topic)
        for name in names
        for statement in _state_all(name, first_round + round, round == per_topic - 1, chance)
    ]
    return statements[:facts]


def name_person(number: int) -> str:
    """A name that no other number has; from the 500th on people have a second family name."""
    rest, given = divmod(number, len(GIVEN))
    second, family = divmod(rest, len(FAMILY))
    if second > len(FAMILY):
        raise ValueError(f"there are names for {len(GIVEN) * len(FAMILY) * (len(FAMILY) + 1)} people only")
    return " ".join([GIVEN[given], FAMILY[family], *([FAMILY[second - 1]] if second else [])])


def _state_all(name: str, round: int, holds: bool, chance: Random) -> Iterator[Statement]:
    for topic in TOPICS:
        thing = f"{chance.choice(ADJECTIVES)} {chance.choice(NOUNS)} {chance.choice(NOUNS)}"
        text = topic.note.format(s=name, o=thing)
        yield Statement(name, topic, thing, text, round * 20 + chance.randint(0, 19), holds)


def build_questions(statements: list[Statement], count: int, seed: int = 2) -> list[Question]:
    """Questions about statements that hold, in all their paraphrases."""
    chance = Random(seed)
    numbers = [number for number, statement in enumerate(statements) if statement.holds]
    return [
        Question(chance.choice(statements[number].topic.questions).format(s=statements[number].subject), number)
        for number in chance.choices(numbers, k=count)
    ]
