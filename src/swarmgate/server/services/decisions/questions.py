"""Questions to people as the faces ask for them: what is asked, and what is answered."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from swarmgate.domain.next_step import open_questions
from swarmgate.domain.text.cleaning import cleaned
from swarmgate.errors import IllegalMove, SwarmError
from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.runs.model import Goal, Verb
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.goals.runs import Runs
from swarmgate.server.services.reading.access import Access, unknown
from swarmgate.server.services.reading.ids import QuestionId, question_id
from swarmgate.server.services.reading.paging import page
from swarmgate.server.services.reading.readings import Reading, Readings
from swarmgate.server.services.views.decision import QuestionView
from swarmgate.server.services.views.view import Page


def questions_of(reading: Reading) -> tuple[QuestionView, ...]:
    """All questions of a goal, in the order in which they were asked."""
    state = reading.state
    waiting = {each.number for each in open_questions(state)}
    found = (
        QuestionView(
            id=str(QuestionId(reading.goal.id, each.number)),
            goal=reading.goal.id,
            repo=reading.goal.repo,
            number=each.number,
            text=each.text,
            role=each.role,
            task=each.task,
            attempt=each.attempt,
            options=each.options,
            why=each.why,
            assumption=each.assumption,
            open=each.number in waiting,
            answer=each.answer,
            declined=each.declined,
            by=each.by,
            time=each.time,
            seq=state.seq,
        )
        for each in state.questions
    )
    return tuple(cleaned(each, reading.clean) for each in found)


@dataclass(frozen=True)
class Questions:
    """Questions to people on a server.

    Attributes:
        access: who may see what.
        readings: what is kept of goals.
        acting: decides, in the name of who asks.
        runs: the work on them.
    """

    access: Access
    readings: Readings
    acting: Acting
    runs: Runs

    async def list(
        self, who: Principal, *, goal: str = "", open_only: bool = True, after: str = "", limit: int = 100
    ) -> Page[QuestionView]:
        """Questions, by goal and number.

        Args:
            who: asks.
            goal: only those of this one; empty: of all that may be seen.
            open_only: only those that wait for an answer.
            after: the id of the last one of the part before.
            limit: as many at most.
        """
        goals = (self.access.goal(who, goal),) if goal else self.access.goals(who)
        found = await asyncio.gather(*map(self.of, goals))
        rows = [each for several in found for each in several if each.open or not open_only]
        return page(rows, after=after, limit=limit, key=lambda row: row.id)

    async def get(self, who: Principal, id: str) -> QuestionView:  # noqa: A002 - the field's name
        """One question.

        Raises:
            NotFound: there is none.
        """
        named, goal = self._named(who, id, Role.VIEWER)
        found = next((each for each in await self.of(goal) if each.number == named.number), None)
        if found is None:
            raise unknown("question")
        return found

    async def answer(
        self,
        who: Principal,
        id: str,  # noqa: A002 - the field's name
        *,
        text: str = "",
        option: int = 0,
        decline: bool = False,
        if_match: int | None = None,
        go_on: bool = True,
    ) -> QuestionView:
        """Answers a question; keys in the answer are masked.

        Args:
            who: answers; an approver.
            id: of the question.
            text: the answer, or what is to be said to an option.
            option: which of its options, from 1; 0: none.
            decline: leave it to whoever asked.
            if_match: the ledger position that was looked at.
            go_on: whether the work goes on at once where nothing else is asked; in a checkout it does not.

        Raises:
            Stale: the ledger is not at `if_match`.
            UsageError: nothing is said, or both an answer and that there is none.
            IllegalMove: it is not open any more.
        """
        named, goal = self._named(who, id, Role.APPROVER)
        before = await self.get(who, id)
        if not before.open:
            raise IllegalMove("That question is not open any more.")
        left = [each for each in await self.of(goal) if each.open and each.number != named.number]
        verb = Verb.RUN if before.task else Verb.PLAN
        async with self.runs.following(who, goal, verb, go_on=go_on and not left):
            await self.acting.decide(
                who,
                goal,
                lambda swarm: swarm.answer(named.number, text, option=option, decline=decline),
                expect=if_match,
            )
        return await self.get(who, id)

    # --- for other services ---

    async def of(self, goal: Goal) -> tuple[QuestionView, ...]:
        """All questions of a goal; none where it cannot be read."""
        try:
            return await self.readings.view(goal, "questions", questions_of)
        except SwarmError:  # the list of goals says why
            return ()

    def _named(self, who: Principal, id: str, role: Role) -> tuple[QuestionId, Goal]:  # noqa: A002 - the field's name
        named = question_id(id)
        if named is None:
            raise unknown("question")
        return named, self.access.goal(who, named.goal, role)
