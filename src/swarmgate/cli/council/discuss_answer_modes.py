"""The three sources of the user's answers in `swarm discuss`: none, the given options, or the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.cli.council.discuss_interactive import Reread, TerminalAnswers, edited, typed
from swarmgate.config import nearest
from swarmgate.council.discussion.model import Cast, Choice, ChoiceKind, Discussion, DiscussionRecord, Mode, Step
from swarmgate.council.discussion.personas import text_of
from swarmgate.council.discussion.user_choices import FOLLOWING, Confirmed, People
from swarmgate.domain.progress import Progress
from swarmgate.errors import UsageError, WaitingForUser

if TYPE_CHECKING:
    from swarmgate.engine.swarm import Swarm
    from swarmgate.terminal.terminal import Terminal

HELP = "What can be given: swarm discuss hold --help, swarm discuss resume --help"


class WaitForUser:
    """Nobody is there: the cast waits for the user; after that the moderator is followed."""

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
        """Waits.

        Raises:
            WaitingForUser: always.
        """
        del cast
        raise WaitingForUser(
            f"The cast of discussion {discussion.id} waits for you.", hint=f"swarm discuss resume {discussion.id} --yes"
        )

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        """Nothing."""
        return await FOLLOWING.speak(record, after)

    async def choose(self, record: DiscussionRecord) -> Choice:
        """As the moderator recommends."""
        return await FOLLOWING.choose(record)


class GivenAnswers:
    """Answers that stand on the command line, each once; then `people` are asked.

    Args:
        people: who is asked for everything else.
        reread: gives a cast as a text has it.
        mode: another mode for a cast that waits.
        personas: a file of the cast to take in its place.
        choices: what is chosen after this round, after the next one, and so on; each is taken out when it is made.
    """

    def __init__(
        self,
        people: People,
        reread: Reread,
        *,
        mode: Mode | None = None,
        personas: Path | None = None,
        choices: list[Choice] | None = None,
    ) -> None:
        self._people = people
        self._reread = reread
        self._mode = mode
        self._personas = personas
        self._choices = [] if choices is None else choices

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
        """The mode first, then the file.

        Raises:
            CouncilRefused: the file is wrong.
        """
        mode, self._mode = self._mode, None
        if mode is not None and mode is not discussion.mode:
            return mode
        path, self._personas = self._personas, None
        if path is not None:
            return self._reread(cast, text_of(path), str(path), discussion.mode)
        return await self._people.confirm(discussion, cast)

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        """As `people` do."""
        return await self._people.speak(record, after)

    async def choose(self, record: DiscussionRecord) -> Choice:
        """The next one that was given."""
        if not self._choices:
            return await self._people.choose(record)
        return self._choices.pop(0).model_copy(update={"after": len(record.rounds)})


def choices_of(choose: Sequence[str], constraint: str | None) -> list[Choice]:
    """The choices as they stand on the command line; the constraint joins the first, and holds from then on.

    Where the first one lets no round come, a round with the constraint comes before it.

    Raises:
        UsageError: there is no such choice.
    """
    made = [_choice(each) for each in choose]
    if not constraint:
        return made
    if not made or made[0].kind in (ChoiceKind.SYNTHESIZE, ChoiceKind.PAUSE):
        return [Choice(after=0, kind=ChoiceKind.INJECT, text=constraint), *made]
    return [made[0].model_copy(update={"constraint": constraint}), *made[1:]]


def written(choice: Choice) -> str:
    """A choice as it stands on the command line."""
    if choice.kind is ChoiceKind.INJECT:
        return f'--constraint "{choice.text}"'
    constraint = f' --constraint "{choice.constraint}"' if choice.constraint else ""
    return f"--choose {choice.kind}{f'={choice.text}' if choice.text else ''}{constraint}"


def _choice(given: str) -> Choice:
    """`deep-dive`, or `deep-dive=TEXT`.

    Raises:
        UsageError: there is no such choice; names the nearest.
    """
    kind, _, text = (part.strip() for part in given.partition("="))
    known = [str(each) for each in ChoiceKind if each is not ChoiceKind.INJECT]
    if kind not in known:
        close = nearest(kind, known)
        hint = f"did you mean {close}?" if close else f"it is one of {', '.join(known)}"
        raise UsageError(f"--choose {kind[:60]!r}: there is no such choice; {hint}", hint=HELP)
    return Choice(after=0, kind=ChoiceKind(kind), text=text)


def check(record: DiscussionRecord, answers: dict[str, Any]) -> None:
    """Refuses answers to what is not asked any more.

    Raises:
        UsageError: the cast is confirmed already, or the discussion is over.
    """
    if record.status != "prepared" and (answers["mode"] or answers["personas"]):
        raise UsageError(
            "--mode and --personas come too late: the cast is confirmed, and part of the record",
            hint="Hold a new discussion: swarm discuss hold --help",
        )
    if record.status == "complete" and answers["choices"]:
        raise UsageError(f"{record.discussion.id} is over: there is nothing to choose", hint=HELP)


def at_terminal(terminal: Terminal) -> bool:
    """Whether a person is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not terminal.as_json


def people_for(terminal: Terminal, swarm: Swarm | None, *, yes: bool, interactive: bool) -> People:
    """Who answers for the user; without a project only whether the options fit.

    Raises:
        UsageError: to take part needs a terminal, and somebody who is asked.
    """
    there = at_terminal(terminal)
    if interactive and (yes or not there):
        why = "--yes asks nobody" if yes else "that needs a terminal, and no --json"
        raise UsageError(f"--interactive has you speak, and {why}", hint="Leave out one of the two.")
    if yes:
        return FOLLOWING
    if not there or swarm is None:
        return WaitForUser()
    listener = swarm.project.listener

    def hush() -> None:
        listener(Progress(kind="question", text="the user is asked"))

    async def ask(question: str) -> str | None:
        hush()
        return await typed(question)

    def say(line: str) -> None:
        hush()
        terminal.note(line)

    reread = swarm.council.edited_cast
    return TerminalAnswers(ask=ask, say=say, edit=edited, reread=reread, speaks=interactive)
