"""The prompt: history, completion, several lines, a line at the bottom that says where one is."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from gateway.cli.interactive import is_unfinished
from gateway.cli.interactive.completing import Vocabulary, complete, learn
from gateway.cli.lines import Unfinished, split_line
from gateway.cli.outcome import Speech, say
from gateway.cli.places import Place
from gateway.cli.ports import Port

HISTORY_VARIABLE = "UGS_HISTORY"
WELCOME = "UGS, the graph in a terminal. `help` lists the commands, Tab completes, `exit` leaves."
HUMAN_HINT = "Answers are JSON for programs; `ugs --human`, or `add-node _user_prefs prefs actor=human`, gives tables."


async def typed_lines(port: Port, speech: Speech, place: Place) -> AsyncIterator[str]:
    """Commands as a person types them, until the end of input."""
    say(WELCOME if speech.voice.mode == "human" else f"{WELCOME}\n{HUMAN_HINT}")
    session = prompt_session(port, speech, place)
    while True:
        try:
            line = await session.prompt_async("ugs> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        yield line
        forget(session)


def prompt_session(port: Port, speech: Speech, place: Place) -> PromptSession[str]:
    """A prompt for one graph."""
    return PromptSession(
        history=_history(),
        completer=GraphCompleter(port),
        complete_while_typing=False,
        multiline=True,
        prompt_continuation="...> ",
        key_bindings=_keys(),
        bottom_toolbar=lambda: (
            f" {place.url or place.options.get('store') or 'the default store'} · {speech.voice.mode} "
        ),
    )


def forget(session: PromptSession[str]) -> None:
    """What the graph speaks of may have changed."""
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
    """Where typed commands are kept: UGS_HISTORY, else among the user's state."""
    named = os.environ.get(HISTORY_VARIABLE)
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(named) if named else Path(state) / "ugs" / "history"


def _keys() -> KeyBindings:
    """Enter sends a finished command and breaks the line of an unfinished one."""
    keys = KeyBindings()

    @keys.add("enter")
    def send_or_break(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_unfinished(buffer.text):
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    return keys


class GraphCompleter(Completer):
    """Completes from what the graph speaks of, which it learns when it is first asked."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self.known: Vocabulary | None = None

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Candidates for the word before the cursor."""
        before, word = words_before(document.text_before_cursor)
        if self.known is None:
            self.known = await learn(self.port)
        for candidate in complete(before, word, self.known):
            yield Completion(candidate, start_position=-len(word))

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> list[Completion]:
        """Without a loop nothing can be asked."""
        return []


def words_before(text: str) -> tuple[list[str], str]:
    """The words that are finished, and the one being typed."""
    try:
        words = split_line(text)
    except Unfinished:
        return [""], ""
    if not text or text[-1].isspace():
        return words, ""
    return words[:-1], words[-1]
