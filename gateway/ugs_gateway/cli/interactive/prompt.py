"""The prompt: history, completion, continuation lines, and a status line with the target."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.target import Target
from ugs_gateway.cli.input.tokenizer import IncompleteLine, split_line
from ugs_gateway.cli.interactive import is_incomplete
from ugs_gateway.cli.interactive.completion import Vocabulary, complete, load_vocabulary
from ugs_gateway.cli.output.streams import Output, say

HISTORY_VARIABLE = "UGS_HISTORY"
WELCOME = "UGS, the graph in a terminal. `help` lists the commands, Tab completes, `exit` leaves."
HUMAN_HINT = "Answers are JSON for programs; `ugs --human`, or `add-node _user_prefs prefs actor=human`, gives tables."


async def read_typed_lines(client: GraphClient, output: Output, target: Target) -> AsyncIterator[str]:
    """The commands that a person types, until the end of input."""
    say(WELCOME if output.voice.mode == "human" else f"{WELCOME}\n{HUMAN_HINT}")
    session = prompt_session(client, output, target)
    while True:
        try:
            line = await session.prompt_async("ugs> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        yield line
        forget_vocabulary(session)


def prompt_session(client: GraphClient, output: Output, target: Target) -> PromptSession[str]:
    """A prompt for one graph."""
    return PromptSession(
        history=_history(),
        completer=GraphCompleter(client),
        complete_while_typing=False,
        multiline=True,
        prompt_continuation="...> ",
        key_bindings=_keys(),
        bottom_toolbar=lambda: (
            f" {target.url or target.options.get('store') or 'the default store'} · {output.voice.mode} "
        ),
    )


def forget_vocabulary(session: PromptSession[str]) -> None:
    """Discard the completion vocabulary, because the graph may have changed."""
    if isinstance(session.completer, GraphCompleter):
        session.completer.known = None


def _history() -> History:
    path = history_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


def history_file() -> Path:
    """The file of typed commands: UGS_HISTORY, else in the user's state folder."""
    named = os.environ.get(HISTORY_VARIABLE)
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(named) if named else Path(state) / "ugs" / "history"


def _keys() -> KeyBindings:
    """Key bindings: Enter runs a complete command and breaks the line of an incomplete one."""
    keys = KeyBindings()

    @keys.add("enter")
    def send_or_break(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_incomplete(buffer.text):
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    return keys


class GraphCompleter(Completer):
    """Completes names of the graph, which are loaded on first use."""

    def __init__(self, client: GraphClient) -> None:
        self.port = client
        self.known: Vocabulary | None = None

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Candidates for the word before the cursor."""
        before, word = words_before(document.text_before_cursor)
        if self.known is None:
            self.known = await load_vocabulary(self.port)
        for candidate in complete(before, word, self.known):
            yield Completion(candidate, start_position=-len(word))

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> list[Completion]:
        """Empty: completion needs the event loop."""
        return []


def words_before(text: str) -> tuple[list[str], str]:
    """The complete words, and the one being typed."""
    try:
        words = split_line(text)
    except IncompleteLine:
        return [""], ""
    if not text or text[-1].isspace():
        return words, ""
    return words[:-1], words[-1]
