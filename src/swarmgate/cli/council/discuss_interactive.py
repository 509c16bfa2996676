"""Asks the user at the terminal in `swarm discuss`: to confirm the cast, to speak, to choose the next step."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from swarmgate.council.discussion import personas
from swarmgate.council.discussion.model import Cast, Choice, ChoiceKind, Discussion, DiscussionRecord, Mode, Step
from swarmgate.council.discussion.user_choices import Confirmed, Pause
from swarmgate.council.discussion.view import terminal
from swarmgate.errors import CouncilRefused, MissingRequirement, UsageError
from swarmgate.workspace.process import temporary
from swarmgate.workspace.programs import trusted

Ask = Callable[[str], Awaitable[str | None]]
"""Puts a question on the terminal and gives the line that is typed; None: the end of the input."""

Reread = Callable[[Cast, str, str, Mode], Cast]
"""Gives a cast as an edited text of that name has it, for a discussion of that mode."""

_LETTERS = {
    "f": ChoiceKind.FOLLOW,
    "d": ChoiceKind.DEEP_DIVE,
    "a": ChoiceKind.DIFFERENT_ANGLE,
    "i": ChoiceKind.INJECT,
    "s": ChoiceKind.SYNTHESIZE,
    "p": ChoiceKind.PAUSE,
}
_CHOICES = {**_LETTERS, **{str(each): each for each in ChoiceKind}, "": ChoiceKind.FOLLOW}
_TEXTS = {
    ChoiceKind.DEEP_DIVE: "Into what? (Enter: what the moderator names) ",
    ChoiceKind.DIFFERENT_ANGLE: "From which angle? (Enter: the moderator finds one) ",
    ChoiceKind.INJECT: "Which constraint holds from now on? ",
}


class TerminalAnswers:
    """The person at the terminal.

    Args:
        ask: puts a question and gives the line typed.
        say: prints a line.
        edit: gives a text as it was edited.
        reread: gives a cast as such a text has it.
        speaks: whether it is asked after each step, too.
    """

    def __init__(
        self,
        *,
        ask: Ask,
        say: Callable[[str], None],
        edit: Callable[[str], Awaitable[str]],
        reread: Reread,
        speaks: bool,
    ) -> None:
        self._ask = ask
        self._say = say
        self._edit = edit
        self._reread = reread
        self._speaks = speaks

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
        """Shows the cast with its tensions; takes it, an edited one, or another mode.

        Raises:
            Pause: the user goes on later.
        """
        self._show(terminal.cast_lines(discussion, cast))
        while True:
            match reply := (await self._line("Discuss with these? [Y]es, [e]dit, another [m]ode, [p]ause: ")).lower():
                case "" | "y" | "yes":
                    return Confirmed()
                case "e" | "edit":
                    edited = await self._edited(discussion, cast)
                    if edited is not None:
                        return edited
                case "m" | "mode":
                    mode = await self._line("deep, standard or lightweight? ")
                    if mode.lower() in list(Mode):
                        return Mode(mode.lower())
                    self._none_of(mode, Mode)
                case "p" | "pause":
                    raise Pause
                case _:
                    self._none_of(reply, "yemp")

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        """Shows what was said; what is typed, if the user is to speak.

        Raises:
            Pause: `/pause`.
        """
        if not self._speaks:
            return ""
        self._show(terminal.last_step_lines(record, after))
        reply = await self._line(f"You, after {after} (Enter: nothing, /pause): ")
        if reply == "/pause":
            raise Pause
        return reply

    async def choose(self, record: DiscussionRecord) -> Choice:
        """Shows what the round came to, counted beside the moderator's scores, and what comes next.

        Raises:
            Pause: the input ended.
        """
        came_to = terminal.round_lines(record.rounds[-1], record.discussion.extent)
        self._show([*came_to, *terminal.reopening_lines(record)])
        asked = (
            "Next? [F]ollow the moderator, [d]eep dive, other [a]ngle, [i]nject a constraint, [s]ynthesise, [p]ause: "
        )
        while True:
            reply = (await self._line(asked)).lower()
            kind = _CHOICES.get(reply)
            if kind is None:
                self._none_of(reply, _LETTERS)
                continue
            text = await self._line(_TEXTS[kind]) if kind in _TEXTS else ""
            if text or kind is not ChoiceKind.INJECT:
                return Choice(after=len(record.rounds), kind=kind, text=text)

    async def _edited(self, discussion: Discussion, cast: Cast) -> Cast | None:
        """The cast from the editor; a mistake is shown and the same text edited again. None: nothing was changed."""
        before = text = personas.written(cast)
        while True:
            try:
                text = await self._edit(text)
                changed = self._reread(cast, text, "the personas", discussion.mode)
            except (CouncilRefused, UsageError) as error:
                self._show(["", error.message, *([f"  -> {error.hint}"] if error.hint else [])])
                if await self._dropped():
                    return None
            else:
                return changed if text != before else None

    async def _dropped(self) -> bool:
        while True:
            match reply := (await self._line("[E]dit it again, or [d]rop the changes: ")).lower():
                case "" | "e" | "edit":
                    return False
                case "d" | "drop":
                    return True
                case _:
                    self._none_of(reply, "ed")

    async def _line(self, question: str) -> str:
        typed = await self._ask(question)
        if typed is None:
            self._say("")  # what comes next does not stand behind the question
            raise Pause
        return typed.strip()

    def _none_of(self, reply: str, known: Iterable[str]) -> None:
        self._say(f"{reply[:60] or 'nothing'} is none of these: {', '.join(known)}")

    def _show(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._say(line)


# --- the terminal itself ---


async def typed(question: str) -> str | None:
    """Puts a question on stderr and gives the line that is typed on stdin; Ctrl-C is not held up."""
    sys.stderr.write(question)
    sys.stderr.flush()
    loop, place, there = asyncio.get_running_loop(), sys.stdin.fileno(), asyncio.Event()
    loop.add_reader(place, there.set)
    try:
        await there.wait()
    finally:
        loop.remove_reader(place)
    line = os.read(place, 65_536)
    return line.decode("utf-8", "replace").rstrip("\r\n") if line else None


async def edited(text: str) -> str:
    """The text as the user's editor leaves it: `$VISUAL`, `$EDITOR`, or vi.

    Raises:
        UsageError: the editor cannot be started, failed, or left no text.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with temporary.folder("personas") as folder:
        path = folder / "personas.toml"
        path.write_text(text, encoding="utf-8")
        try:
            words = shlex.split(editor)
            words[:1] = [trusted.named(words[0], Path.cwd())] if words else []
            process = await asyncio.create_subprocess_exec(*words, str(path), stdout=sys.stderr)
            code = await process.wait()
            after = path.read_text(encoding="utf-8-sig")
        except (OSError, ValueError, TypeError, MissingRequirement) as error:
            raise UsageError(
                f"The editor {editor!r} did not work: {error}", hint="Set $EDITOR, then try again."
            ) from None
    if code:
        raise UsageError(f"The editor {editor!r} ended with {code}: nothing was changed.")
    return after
