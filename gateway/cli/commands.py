"""Every command in one table, so that help and completion need to load none of them."""

from __future__ import annotations

from typing import NamedTuple

ELEMENTS, QUESTIONS, WHOLE, PAST, STORE, DATA, GATEWAY, ABOUT = (
    "nodes and edges",
    "questions",
    "the graph as a whole",
    "what happened",
    "the store",
    "data in and out",
    "serving",
    "about ugs",
)


class Entry(NamedTuple):
    """One command.

    An operation has a usage line: its function answers through a port, on a store or a gateway, and works in the
    interactive mode. A tool has none: its module has `arguments(parser)` and `run(options) -> int`.
    """

    name: str
    summary: str
    module: str
    group: str
    usage: str = ""
    examples: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """The operation's function; `list` and `import` are words of Python's own."""
        return f"{self.name}_" if self.name in ("list", "import") else self.name.replace("-", "_")

    @property
    def is_operation(self) -> bool:
        return bool(self.usage)


OPERATIONS = "gateway.cli.operations."
TOOLS = "gateway.cli."


def _operation(usage: str, summary: str, module: str, group: str, *examples: str) -> Entry:
    return Entry(usage.partition(" ")[0], summary, OPERATIONS + module, group, usage, examples)


def _tool(name: str, summary: str, group: str, module: str | None = None) -> Entry:
    return Entry(name, summary, TOOLS + (module or name), group)


COMMANDS = (
    _operation(
        "add-node <id> [type] [props...] [--data JSON]",
        "create a node",
        "elements",
        ELEMENTS,
        'add-node alice person name="Alice Johnson"',
        "add-node user:profile config theme=dark sizes:='[1,2]' boss='@(bob)'",
    ),
    _operation(
        "add-edge <id> <from> <to> [type] [weight] [props...]",
        "create an edge",
        "elements",
        ELEMENTS,
        "add-edge e1 alice task_1 assigned_to",
        "add-edge e2 a b 2.5",
    ),
    _operation("get <id> [--all]", "show a node or an edge", "elements", ELEMENTS, "get alice"),
    _operation(
        "update <id> [props...] [--type T] [--data JSON] [--weight W] [--expected-version N]",
        "change a node or an edge",
        "elements",
        ELEMENTS,
        "update alice role=manager +tags=new -draft",
    ),
    _operation("delete <id>", "remove a node with its edges, or an edge", "elements", ELEMENTS, "delete task_3"),
    _operation(
        "resolve <address>", "follow an address", "past", ELEMENTS, "resolve '@(alice)'", "resolve '@(task_1:2)'"
    ),
    _operation(
        "search <query> [more...] [--mode M] [--type T] [--scope S] [--near ID] [--limit N]",
        "find nodes by words or by likeness",
        "finding",
        QUESTIONS,
        "search login",
        "search signing in --mode hybrid --near alice",
    ),
    _operation(
        "list <type> [of]",
        "list nodes of a type or a scope",
        "finding",
        QUESTIONS,
        "list person",
        "list 'user:*'",
    ),
    _operation(
        "find-by-property <key> <value>",
        "find nodes by a property",
        "finding",
        QUESTIONS,
        "find-by-property status pending",
    ),
    _operation(
        "neighbors <id> [direction] [--type T]", "nodes next to a node", "walking", QUESTIONS, "neighbors bob incoming"
    ),
    _operation(
        "traverse <id> [--depth N] [--direction D] [--strategy S] [--type T]",
        "walk from a node",
        "walking",
        QUESTIONS,
        "traverse alice --depth 2 --direction both",
    ),
    _operation("path <from> <to>", "the cheapest way between nodes", "walking", QUESTIONS, "path alice auth_proj"),
    _operation(
        "cypher <query> [params...]",
        "ask in openCypher",
        "asking",
        QUESTIONS,
        "cypher 'MATCH (p:person)-->(t:task) RETURN p.name, t.title'",
        "cypher - limit:=5 < question.cypher",
    ),
    _operation(
        "facts <subject> [--as-of TIME] [--all]",
        "what is believed about a subject",
        "asking",
        QUESTIONS,
        "facts Alice",
        "facts Alice --as-of 2026-01-31T12:00:00Z",
    ),
    _operation(
        "program <action> [program] [params...] [--name N] [--search S]",
        "validate, run, save or list programs",
        "programs",
        QUESTIONS,
        "program validate steps.gp",
        "program run steps.json limit:=5",
        "program save steps.gp --name steps",
        "program list",
    ),
    _operation(
        "send <id> <message> [payload]",
        "ask the actor of a node to do something",
        "sending",
        ELEMENTS,
        "send task_1 start",
        'send task_1 update \'{"title":"Login"}\'',
    ),
    _operation("stats", "count nodes, edges, types and property keys", "counting", WHOLE, "stats"),
    _operation("hubs [N]", "nodes with the most edges", "counting", WHOLE, "hubs 3"),
    _operation("roots", "nodes at which no edge arrives", "counting", WHOLE, "roots"),
    _operation("properties", "all property keys", "counting", WHOLE, "properties"),
    _operation("scopes", "the scopes in use", "counting", WHOLE, "scopes"),
    _operation(
        "clear-scope <scope> [--force]", "delete everything in a scope", "counting", WHOLE, "clear-scope scratch"
    ),
    _operation("history [N] [--element ID]", "the last events", "past", PAST, "history 5", "history --element alice"),
    _operation("versions <id>", "every state of a node or an edge", "past", PAST, "versions alice"),
    _operation("watch [--after N] [--count N]", "events as they happen", "past", PAST, "watch", "watch --after 0"),
    _operation("snapshot", "write a snapshot, so that opening is quick", "storing", STORE, "snapshot"),
    _operation("load-demo [--force]", "fill a store with the demonstration graph", "storing", STORE, "load-demo"),
    _operation("verify", "check that the state is what the log says", "storing", STORE, "verify"),
    _tool("rebuild", "throw the tables away and write what the log says", STORE),
    _tool("doctor", "look a store over, and repair it", STORE),
    _tool("copy", "replay one store into another and prove them equal", STORE),
    _operation(
        "export [file] [--format F] [--scope S]",
        "write the graph to a file",
        "exporting",
        DATA,
        "export graph.json",
        "export --format csv > graph.csv",
    ),
    _operation(
        "import <file> [--format F] [--on-conflict C] [--prefix P]",
        "add the graph of a file",
        "importing",
        DATA,
        "import graph.graphml --on-conflict skip",
        "import - --format ndjson < graph.ndjson",
    ),
    _operation(
        "ingest <file> [--scope S] [--unsupported]",
        "keep notes and the facts they state",
        "ingesting",
        DATA,
        "ingest notes.ndjson",
        "ingest - --scope agent_private < notes.ndjson",
    ),
    _tool("serve", "serve a store over HTTP", GATEWAY),
    _tool("health", "ask a running gateway whether it can serve", GATEWAY),
    _tool("mcp", "serve typed memory to an agent over MCP", GATEWAY),
    _tool("mirror", "write registry, ontology and content as files", STORE),
    _operation(
        "key <action> [name] [--role R] [--user U] [--tenant T] [--project P] [--agent A] [--expires TIME]",
        "make, list or revoke API keys of the store",
        "keys",
        GATEWAY,
        "key add ci --role writer",
        "key add guest --user jo --tenant acme --expires 2027-01-31T12:00:00Z",
        "key list",
        "key revoke 5f2a9c01e7b3d846",
    ),
    _tool("token", "make an API key for a user, in a file", GATEWAY),
    _tool("info", "version, backends and where the data is", ABOUT),
    _tool("config", "show the settings and where they come from", ABOUT),
    _tool("plugins", "what is installed beside the kernel", ABOUT),
    _tool("completion", "let bash, zsh or fish complete commands", ABOUT),
    _tool("complete", "what may come next (asked by the shell's completion)", ABOUT),
    _tool("conformance", "run the conformance kit on a store", ABOUT),
)

NOW_ONLY = (
    *("add-node", "add-edge", "update", "delete", "send", "clear-scope", "snapshot", "load-demo", "import", "ingest"),
    *("verify", "history", "versions", "watch", "key"),
)
"""Commands that change something or tell of all time: a place in time (--at) means nothing to them."""

NAMES = tuple(entry.name for entry in COMMANDS)


def find_command(name: str) -> Entry | None:
    """The command of a name."""
    return next((entry for entry in COMMANDS if entry.name == name), None)
