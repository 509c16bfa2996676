"""Asks people at the terminal in `swarm decide`: for their stand or ballot, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from swarmgate.cli.council.discuss_answer_modes import at_terminal
from swarmgate.cli.council.discuss_interactive import Ask, typed
from swarmgate.council.decision.model import VOTING, Decision, DecisionRound, DecisionSeat, Strategy
from swarmgate.council.decision.user_choices import ABSENT, People, PersonalVote, counted
from swarmgate.council.decision.view import ballot_lines
from swarmgate.domain.progress import Progress
from swarmgate.errors import CouncilRefused

if TYPE_CHECKING:
    from swarmgate.engine.swarm import Swarm
    from swarmgate.terminal.terminal import Terminal

_LETTERS = {"a": "agree", "d": "disagree", "b": "abstain"}
_STANDS = {**_LETTERS, **{each: each for each in _LETTERS.values()}}


class _Later(Exception):
    """The person goes on later."""


class AskedAtTerminal:
    """The people at the terminal, one after the other.

    Args:
        ask: puts a question and gives the line typed; None: the end of the input.
        say: prints a line.
    """

    def __init__(self, *, ask: Ask, say: Callable[[str], None]) -> None:
        self._ask, self._say = ask, say

    async def vote(self, decision: Decision, seat: DecisionSeat, rounds: Sequence[DecisionRound]) -> PersonalVote:
        """Shows what is decided, and asks until it is a vote.

        Raises:
            WaitingForUser: `/pause`, or the end of the input.
        """
        for line in ballot_lines(decision, rounds):
            self._say(line)
        try:
            return await self._vote(decision, seat)
        except _Later:
            return await ABSENT.vote(decision, seat, rounds)

    async def _vote(self, decision: Decision, seat: DecisionSeat) -> PersonalVote:
        ask = self._ballot if decision.strategy in VOTING else self._stand
        while True:
            given = await ask(decision, seat)
            vote = given.model_copy(update={"reason": await self._line("Why? (Enter: nothing) ")})
            try:
                counted(vote, decision)
            except CouncilRefused as error:
                self._say(error.message)
            else:
                return vote

    async def _stand(self, _: Decision, seat: DecisionSeat) -> PersonalVote:
        while True:
            reply = await self._line(f"{seat.id}: [a]gree, [d]isagree, a[b]stain, or /pause? ")
            stand = _STANDS.get(reply.lower(), "")
            if not stand:
                self._say(f"{reply[:60] or 'nothing'} is none of these: {', '.join(_LETTERS)}")
                continue
            usual = "not at all" if stand == "disagree" else "fully"
            level = "" if stand == "abstain" else await self._line(f"How far do you agree, 0 to 1? (Enter: {usual}) ")
            try:
                return PersonalVote(stand=stand, level=float(level) if level else None)
            except ValueError:
                self._say(f"{level[:60]!r} is no number.")

    async def _ballot(self, decision: Decision, seat: DecisionSeat) -> PersonalVote:
        asked = "which are good enough" if decision.strategy is Strategy.APPROVAL else "which, the best first"
        reply = await self._line(f"{seat.id}: {asked}, such as A, B? (Enter: none, /pause) ")
        options = tuple(filter(None, (each.strip() for each in reply.split(","))))
        return PersonalVote(options=options, stand="" if options else "abstain")

    async def _line(self, question: str) -> str:
        reply = await self._ask(question)
        if reply is None or reply.strip() == "/pause":
            raise _Later
        return reply.strip()


def people_at(terminal: Terminal, swarm: Swarm) -> People:
    """Who answers for people: whoever is at the terminal, else nobody."""
    if not at_terminal(terminal):
        return ABSENT

    def hush() -> None:
        swarm.project.listener(Progress(kind="question", text="the user is asked"))

    async def ask(question: str) -> str | None:
        hush()
        return await typed(question)

    def say(line: str) -> None:
        hush()
        terminal.note(line)

    return AskedAtTerminal(ask=ask, say=say)
