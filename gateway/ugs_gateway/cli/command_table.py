"""All commands in one table, so that help and completion need not import them."""

from __future__ import annotations

from typing import NamedTuple

from ugs_gateway.cli.output.mode import FLAGS

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

    An operation has a usage line: its function works through a client, on a store or a gateway, and in the interactive
    mode. An argparse command has none: its module has `arguments(parser)` and `run(options) -> int`. `help`, `exit` and
    `quit` concern the session itself and need neither (`is_session`).
    """

    name: str
    summary: str
    module: str
    group: str
    usage: str = ""
    examples: tuple[str, ...] = ()
    own_options: tuple[str, ...] = ()
    """Options with a value whose names are flags of the output elsewhere (`--agent`)."""

    @property
    def function(self) -> str:
        """The name of the operation's function; with an underscore where Python has the name (`list`, `import`,
        `help`).
        """
        own = ("list", "import", "help", "exit", "quit")
        return f"{self.name}_" if self.name in own else self.name.replace("-", "_")

    @property
    def is_session(self) -> bool:
        """Whether it concerns the session itself, not a graph."""
        return self.module == SESSION

    @property
    def is_operation(self) -> bool:
        return bool(self.usage) and not self.is_session


OPERATIONS = "ugs_gateway.cli.operations."
TOOLS = "ugs_gateway.cli.commands."
SESSION = "ugs_gateway.cli.session_commands"


def _operation(usage: str, summary: str, module: str, group: str, *examples: str) -> Entry:
    own = tuple(flag for flag in FLAGS if f"[{flag} " in usage)
    return Entry(usage.partition(" ")[0], summary, OPERATIONS + module, group, usage, examples, own)


def _tool(name: str, summary: str, group: str, own_options: tuple[str, ...] = ()) -> Entry:
    return Entry(name, summary, TOOLS + name, group, own_options=own_options)


def _session(usage: str, summary: str, *examples: str) -> Entry:
    return Entry(usage.partition(" ")[0], summary, SESSION, ABOUT, usage, examples)


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
        "resolve <address>", "follow an address", "history", ELEMENTS, "resolve '@(alice)'", "resolve '@(task_1:2)'"
    ),
    _operation(
        "search <query> [more...] [--mode M] [--type T] [--scope S] [--near ID] [--limit N]",
        "find nodes by words or by likeness",
        "search",
        QUESTIONS,
        "search login",
        "search signing in --mode hybrid --near alice",
    ),
    _operation(
        "list <type> [of]",
        "list nodes of a type or a scope",
        "search",
        QUESTIONS,
        "list person",
        "list 'user:*'",
    ),
    _operation(
        "find-by-property <key> <value>",
        "find nodes by a property",
        "search",
        QUESTIONS,
        "find-by-property status pending",
    ),
    _operation(
        "neighbors <id> [direction] [--type T]",
        "nodes next to a node",
        "traversal",
        QUESTIONS,
        "neighbors bob incoming",
    ),
    _operation(
        "traverse <id> [--depth N] [--direction D] [--strategy S] [--type T]",
        "walk from a node",
        "traversal",
        QUESTIONS,
        "traverse alice --depth 2 --direction both",
    ),
    _operation("path <from> <to>", "the cheapest way between nodes", "traversal", QUESTIONS, "path alice auth_proj"),
    _operation(
        "cypher <query> [params...]",
        "ask in openCypher",
        "queries",
        QUESTIONS,
        "cypher 'MATCH (p:person)-->(t:task) RETURN p.name, t.title'",
        "cypher - limit:=5 < question.cypher",
    ),
    _operation(
        "facts <subject> [--as-of TIME] [--all]",
        "what is believed about a subject",
        "queries",
        QUESTIONS,
        "facts Alice",
        "facts Alice --as-of 2026-01-31T12:00:00Z",
    ),
    _operation(
        "correct <fact> <action> [--reason R] [--value V] [--object O] [--when TIME] [--leave-ended]",
        "end, replace or retract a fact",
        "corrections",
        QUESTIONS,
        "correct 01890a5d-ac96-774b-bcce-b302099a8057 end --reason 'she has left'",
        "correct 01890a5d-ac96-774b-bcce-b302099a8057 replace --value Rome --reason 'she has moved'",
        "correct 01890a5d-ac96-774b-bcce-b302099a8057 retract --reason 'a misprint'",
    ),
    _operation(
        "entity <action> [entity] [other] [--preview]",
        "list duplicates, merge and unmerge entities, or keep two apart",
        "entities",
        QUESTIONS,
        "entity duplicates",
        "entity merge 'Alice Johnson' 'A. Johnson' --preview",
        "entity unmerge 01890a5d-ac96-774b-bcce-b302099a8057",
        "entity apart 'Jon Doe' 'Joan Doe'",
    ),
    _operation(
        "proposals <action> [id] [--state S] [--reason R] [--subject S] [--predicate P] [--value V] [--object O]",
        "list, approve, reject or edit proposed facts",
        "proposals",
        QUESTIONS,
        "proposals list",
        "proposals approve 01890a5d-ac96-774b-bcce-b302099a8057",
        "proposals reject 01890a5d-ac96-774b-bcce-b302099a8057 --reason 'not what the note says'",
    ),
    _operation(
        "recall <question> [more...] [--budget N] [--limit N] [--as-of TIME] [--scope S] [--kind K]",
        "what the memory holds about a question",
        "recall",
        QUESTIONS,
        "recall what tea does Alice like",
        "recall where did Alice live --as-of 2025-06-30T00:00:00Z --budget 500",
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
        "messages",
        ELEMENTS,
        "send task_2 start",
        'send task_1 update \'{"properties":{"title":"Login"}}\'',
    ),
    _operation("stats", "count nodes, edges, types and property keys", "statistics", WHOLE, "stats"),
    _operation("hubs [N]", "nodes with the most edges", "statistics", WHOLE, "hubs 3"),
    _operation("roots", "nodes at which no edge arrives", "statistics", WHOLE, "roots"),
    _operation("properties", "all property keys", "statistics", WHOLE, "properties"),
    _operation("scopes", "the scopes in use", "statistics", WHOLE, "scopes"),
    _operation(
        "clear-scope <scope> [--force]", "delete everything in a scope", "statistics", WHOLE, "clear-scope scratch"
    ),
    _operation(
        "history [N] [--element ID]", "the last events", "history", PAST, "history 5", "history --element alice"
    ),
    _operation("versions <id>", "every state of a node or an edge", "history", PAST, "versions alice"),
    _operation(
        "diff <from> [to] [--element ID]",
        "what changed between two places in time",
        "history",
        PAST,
        "diff 10",
        "diff 2026-01-31T12:00:00Z 250 --element alice",
    ),
    _operation(
        "undo <position> [more...] [--transaction] [--after] [--preview] [--key K]",
        "reverse events by new ones",
        "history",
        PAST,
        "undo 12 --preview",
        "undo 12 13",
        "undo 10 --after",
    ),
    _operation("watch [--after N] [--count N]", "events as they happen", "history", PAST, "watch", "watch --after 0"),
    _operation("snapshot", "write a snapshot, so that opening is quick", "maintenance", STORE, "snapshot"),
    _operation("load-demo [--force]", "fill a store with the demonstration graph", "maintenance", STORE, "load-demo"),
    _operation("verify", "check that the state is what the log says", "maintenance", STORE, "verify"),
    _tool("rebuild", "throw the tables away and write what the log says", STORE),
    _tool("doctor", "look a store over, and repair it", STORE),
    _operation(
        "backup <file>", "write the whole history to a file, with a proof", "backups", STORE, "backup graph.wal"
    ),
    _operation(
        "restore <file> [--until PLACE]",
        "read a backup into an empty store",
        "backups",
        STORE,
        "restore graph.wal",
        "restore graph.wal --until 250",
        "restore graph.wal --until 2026-01-31T12:00:00Z",
    ),
    _tool("copy", "replay one store into another and prove them equal", STORE),
    _operation(
        "export [file] [--format F] [--scope S]",
        "write the graph to a file",
        "export_file",
        DATA,
        "export graph.json",
        "export --format csv > graph.csv",
    ),
    _operation(
        "import <file> [--format F] [--on-conflict C] [--prefix P]",
        "add the graph of a file",
        "import_file",
        DATA,
        "import graph.graphml --on-conflict skip",
        "import - --format ndjson < graph.ndjson",
    ),
    _operation(
        "ingest <file> [--format F] [--scope S] [--unsupported] [--propose]",
        "keep notes and the facts they state",
        "ingestion",
        DATA,
        "ingest notes.ndjson",
        "ingest - --scope agent_private < notes.ndjson",
        "ingest answers.ndjson --propose",
        "ingest memory.json --format mcp-memory",
        "ingest ~/vault --format markdown",
        "ingest neo4j://user:password@localhost:7687 --format graphiti",
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
    _operation(
        "webhook <action> [target] [--name N] [--filter JSON] [--after P] [--user U] [--project P] [--agent A]",
        "send events to an address: add, list, pause, resume, rewind, redeliver or delete webhooks",
        "webhooks",
        GATEWAY,
        "webhook add https://hooks.example/ugs",
        """webhook add https://hooks.example/people --after 0 --filter '{"nodes": {"type": "Person"}}'""",
        "webhook list",
        "webhook rewind 5f2a9c01e7b3d846 --after 250",
    ),
    _tool("token", "make an API key for a user, in a file", GATEWAY, ("--agent",)),
    _tool("info", "version, backends and where the data is", ABOUT),
    _tool("config", "show the settings and where they come from", ABOUT),
    _tool("plugins", "what is installed beside the kernel", ABOUT),
    _tool("completion", "let bash, zsh or fish complete commands", ABOUT),
    _tool("complete", "what may come next (asked by the shell's completion)", ABOUT),
    _tool("conformance", "run the conformance kit on a store", ABOUT),
    _session("help [topic]", "this list, or all about a command or a topic", "help", "help traverse"),
    _session("exit", "leave the interactive mode", "exit"),
    _session("quit", "leave the interactive mode", "quit"),
)

NOW_ONLY = (
    *("add-node", "add-edge", "update", "delete", "send", "clear-scope", "snapshot", "load-demo", "import", "ingest"),
    *("correct", "entity"),
    *("verify", "history", "versions", "diff", "undo", "watch", "key", "webhook", "backup", "restore"),
)
"""Commands that change something or report on the whole history, and therefore refuse `--at`."""

NAMES = tuple(entry.name for entry in COMMANDS)


def find_command(name: str) -> Entry | None:
    """The command with this name, or None."""
    return next((entry for entry in COMMANDS if entry.name == name), None)
