"""Debates over a review: whether one is held, the debate itself, and its effect on the verdict (`[review] mode`).

`single`: the ordinary judge alone. `debate`: advocate against challenger. `auto`: the judge, then a cheap first look by
the challenger's model; where both speak of the same verdict and are sure, or nothing speaks for it, there is no debate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from swarmgate.agents.briefs.brief import Section
from swarmgate.council.context import CouncilContext
from swarmgate.council.debate.first_look import first_look
from swarmgate.council.debate.model import Debate, DebateRecord, Speech
from swarmgate.council.debate.rules import RULES
from swarmgate.council.debate.steps import DEBATING
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.run import run
from swarmgate.council.views.events import CouncilEvent
from swarmgate.council.views.progress import progress_line
from swarmgate.council.views.stream import RoundStarted
from swarmgate.domain.events.event import DebateWeighed
from swarmgate.domain.review.evidence import Review
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.spending.budget import Account
from swarmgate.domain.task.debate_rules import Weighed, expected_tokens, weigh
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.engine.context import Context
from swarmgate.engine.debaters import are_two, challenger
from swarmgate.engine.steps.review.debate_record import LoopRecord, OnRecord
from swarmgate.engine.steps.review.debate_verdict import review_of
from swarmgate.errors import BudgetExhausted, CouncilFailed, CouncilRefused, EndpointFailed, LedgerError, Owner, Stopped
from swarmgate.ledger.evidence.evidence import DEBATE
from swarmgate.llm.budget import require_room

_READINGS = 5
"""Calls of one voice in one round, roughly: each sends the material anew, on top of `[council] tokens`."""
_LEAST = 500
"""Characters of a section that is cut no further."""
_CHARS = 4
"""Characters of a token, roughly."""


@dataclass(frozen=True)
class Case:
    """The case under review: the change of an attempt, or the plan (`task` empty, `attempt` 0).

    `judge` is the role whose verdict it is, `seats` those who would debate, `mode` that of `[review]`. `sections`
    are what the judge gets, `triggers` what speaks for a debate before anybody has looked. `names` are the ids that its
    debate may have, the newest first; `identity` is what makes it this case and no other: a debate that was cut short
    goes on only where it is the same. `why` says what asks for a debate in the mode `debate`.
    """

    judge: str
    seats: tuple[Seat, ...]
    mode: Literal["single", "debate", "auto"]
    question: str
    sections: Sequence[Section]
    triggers: tuple[str, ...]
    names: tuple[str, ...]
    identity: tuple[str, ...]
    why: str = '[review] mode = "debate"'
    task: str = ""
    attempt: int = 0
    rounds: int = 0
    """Of a debate; 0: as `[council] rounds` says."""
    needed: int = 0
    """Characters of the longest section that have to be seen before anybody approves."""


@dataclass(frozen=True)
class Judged:
    """The outcome of a case. `review` is None where a debate decided nothing, and `problem` says why."""

    review: Review | None
    events: tuple[DebateWeighed, ...] = ()
    problem: str = ""


async def judged(ctx: Context, case: Case, ordinary: Callable[[], Awaitable[Review]]) -> Judged:
    """The verdict on a case, by `ordinary` alone or by a debate.

    Raises:
        Stopped: the user asked for it between two rounds; the debate goes on with the next run.
        EndpointFailed: no voice, or not the parent, could be reached; it goes on with the next run, too.
        SwarmError: as `ordinary`; BudgetExhausted also where `[council]` allows no more.
    """
    if case.mode == "single" or (case.mode == "auto" and not are_two(case.seats)):
        return Judged(await ordinary())
    if case.mode == "auto" and ctx.worth is not None and ctx.worth.decision == "defer":
        message = ctx.worth.description([seat.model for seat in case.seats])
        noted = DebateWeighed(task=case.task, attempt=case.attempt, mode="auto", held=False, why=message, deferred=True)
        return Judged(await ordinary(), () if ctx.ledger.state.debates.deferral == message else (noted,))
    return await _Contest(ctx, case).judged(ordinary)


@dataclass(frozen=True)
class _Contest:
    """One case in the modes `debate` and `auto`, on its way to a verdict."""

    ctx: Context
    case: Case
    _spent: list[Usage] = field(default_factory=list)

    async def judged(self, ordinary: Callable[[], Awaitable[Review]]) -> Judged:
        begun = next(self._begun(), None)
        if begun is not None:
            return await self._debated(Weighed(self.case.triggers, held=True, why="it was begun before"), begun=begun)
        if self.case.mode == "debate":
            why = Weighed(self.case.triggers, held=True, why=self.case.why)
            if self.case.needed <= self._cut[1]:
                return await self._debated(why)
            # No voice was shown all that has to be seen: the judge, which is, has to approve it first.
            review = await ordinary()
            return await self._debated(why, first=review) if review.approved else Judged(review)
        review = await ordinary()
        self.ctx.notify("step", f"a first look by {challenger(self.ctx.config).model}: is a debate worth it?")
        look = await first_look(
            self._voices.agent(challenger(self.ctx.config)),
            question=self.case.question,
            material=self._material,
            task=self.case.task,
            attempt=self.case.attempt,
        )
        weighed = weigh(
            self.case.triggers,
            judge=self.case.judge,
            approved=review.approved,
            look=look.ballot,
            sure=self.ctx.config.review.sure,
            failed=look.failed,
        )
        if weighed.held:
            return await self._debated(weighed, first=review, look=look)
        tokens = look.usage.tokens
        saved = max(0, self._expected(tokens) - tokens) if weighed.triggers else 0
        event = self._weighed(weighed, first=review, look=look).model_copy(update={"saved": saved})
        return Judged(review, (event,))

    async def _debated(
        self,
        weighed: Weighed,
        *,
        first: Review | None = None,
        look: Speech | None = None,
        begun: LoopRecord | None = None,
    ) -> Judged:
        debate = begun.standing.own.debate if begun else self._new()
        if begun:
            self._spent.append(begun.standing.usage)
        problem = "" if begun and begun.standing.over else await self._held(debate, begun)
        stored = self._store.load(debate.id).standing if debate.id in self._store.ids() else None
        record = RULES.record(stored) if stored else DebateRecord(debate=debate, failed=problem)
        review = None if problem else review_of(record)
        used = stored.usage.tokens if stored else 0
        event = self._weighed(weighed, first=first, look=look, record=record, debated=used)
        undecided = problem or "a voice failed, and no other speaks against it: its side was not heard"
        return Judged(review, (event,), "" if review else undecided)

    async def _held(self, debate: Debate, record: LoopRecord | None) -> str:
        """Holds a debate, or goes on with it; gives why nothing came of it.

        Raises:
            EndpointFailed, BudgetExhausted, Stopped: as `judged`; the debate goes on with the next run.
        """
        context = CouncilContext(self._voices, self.ctx.records, self._report, own={})
        try:
            DEBATING.check(debate, context, lambda _: "")
            if record is None:
                needed = DEBATING.needs(debate, context)
                require_room(self._accounts(), needed, "its first round (the prompts alone)")
                record = self._store.begin(debate)
            await run(DEBATING, record, context)
        except CouncilRefused as error:  # too much for the window of a voice
            return error.message
        except CouncilFailed as error:
            if record and record.standing.own.unreached:
                raise EndpointFailed(error.message, hint="the debate goes on where it was with: swarm run") from error
            return error.message
        except BudgetExhausted as error:
            if not error.is_of(Owner("debate")):
                raise
            hint = "raise `usd` or `total_tokens` in [council] of .swarm/config.toml, then: swarm run"
            raise error.with_hint(hint) from error
        return ""

    def _weighed(
        self,
        weighed: Weighed,
        *,
        first: Review | None = None,
        look: Speech | None = None,
        record: DebateRecord | None = None,
        debated: int = 0,
    ) -> DebateWeighed:
        case, outcome = self.case, record.outcome if record else None
        proof = ""
        if record is not None and case.task:
            text = record.model_dump_json(indent=1).encode()
            proof = self.ctx.evidence.write(case.task, case.attempt, DEBATE, text)
        return DebateWeighed(
            task=case.task,
            attempt=case.attempt,
            mode="debate" if case.mode == "debate" else "auto",
            triggers=weighed.triggers,
            held=weighed.held,
            why=weighed.why,
            first=first.verdict if first else None,
            look=look.ballot if look else None,
            look_failed=look.failed if look else "",
            model=look.model if look else "",
            debate=record.debate.id if record else "",
            verdict=outcome.verdict if outcome else None,
            tally=outcome.tally if outcome else None,
            decided_by=outcome.decided_by if outcome else None,
            tokens=debated + (look.usage.tokens if look else 0),
            debated=debated,
            evidence=proof,
        )

    # --- the debate ---

    def _new(self) -> Debate:
        case, council = self.case, self.ctx.config.council
        name, number = case.names[0], 1
        while (free := name if number == 1 else f"{name}-{number}") in self._store.ids():
            number += 1
        return Debate(
            id=free,
            question=case.question,
            material=self._material,
            seats=self.case.seats,
            rounds=self._rounds,
            order=council.order,
            tokens=self._tokens,
            timeout_s=council.timeout_s,
            similarity=council.similarity,
            task=case.task,
            attempt=case.attempt,
            about=self._about,
        )

    @property
    def _store(self) -> OnRecord:
        return OnRecord(self.ctx, self.case.task, self.case.attempt)

    def _begun(self) -> Iterator[LoopRecord]:
        """Debates of this very case that an earlier run could not bring to an end, or not onto the ledger.

        One whose journal is not what the ledger has on record counts for nothing.
        """
        known = self._store.ids()
        for name in self.case.names:
            for debate_id in reversed(known):
                if debate_id != name and debate_id.rpartition("-")[0] != name:
                    continue
                try:
                    record = self._store.load(debate_id)
                except (LedgerError, CouncilRefused) as error:
                    self.ctx.notify("notice", f"{error.message}; that debate counts for nothing")
                    continue
                state, failed = record.standing.own, record.standing.status == "failed"
                if state.debate.about == self._about and not (failed and not state.unreached):
                    yield record

    @cached_property
    def _about(self) -> str:
        """The case in words, and the hash of all that makes it this one."""
        rules = (*(f"{seat.id} {seat.model}" for seat in self.case.seats), str(self._rounds))
        digest = hashlib.sha256("\0".join((*self.case.identity, *rules)).encode()).hexdigest()[:16]
        return f"{f'task {self.case.task}' if self.case.task else 'the plan'}, {digest}"

    @property
    def _rounds(self) -> int:
        return self.case.rounds or self.ctx.config.council.rounds

    @property
    def _material(self) -> str:
        """What the judge gets; long sections are cut until all of it fills half of the smallest window at the table."""
        return self._cut[0]

    @cached_property
    def _cut(self) -> tuple[str, int]:
        """The material, and how many characters of one section it holds at most."""
        voices = self.ctx.debate_contexts(self.ctx.config.council.tokens, self._accounts)
        agents = [*(voices.agent(seat) for seat in self.case.seats), voices.parent()]
        smallest = min((agent.limits for agent in agents if agent), key=lambda limits: limits.context_tokens)
        size, room = smallest.section_chars, smallest.context_tokens * _CHARS // 2
        while len(text := _rendered(self.case.sections, size)) > room and size > _LEAST:
            size //= 2
        return text, size

    @cached_property
    def _tokens(self) -> int:
        """What one voice may use in one round: a large change must not use up what is meant for thinking."""
        return self.ctx.config.council.tokens + _READINGS * (len(self._material) // _CHARS)

    def _expected(self, tokens: int) -> int:
        """What a debate would use; a first look over the same material took `tokens` tokens."""
        once = max(tokens, len(self._material) // _CHARS)
        counts = self.ctx.ledger.state.debates
        return expected_tokens(counts, once=once, seats=len(self.case.seats), rounds=self._rounds)

    @cached_property
    def _voices(self) -> ContextFactory:
        return self.ctx.debate_contexts(self._tokens, self._accounts)

    def _accounts(self) -> Iterator[Account]:
        """What `[council]` allows this debate, with what it used in earlier runs and uses now."""
        council, ctx = self.ctx.config.council, self.ctx
        limits = Allowance(usd=council.usd, tokens=council.total_tokens)
        now = (meter.pending for name, meter in ctx.meters.items() if " " in name)  # `participant local/senior`
        if limits.limited:
            yield Account(Owner("debate"), limits, sum((*self._spent, *now), Usage()))

    def _report(self, event: CouncilEvent) -> None:
        if progress := progress_line(event):
            self.ctx.notify(*progress)
        if isinstance(event, RoundStarted) and event.number > 1 and self.ctx.stop.requested:
            raise Stopped("Stopped between two rounds of a debate, as asked.", hint="Go on with: swarm run")


def _rendered(sections: Sequence[Section], size: int) -> str:
    return "\n\n".join(each.render(size) for each in sections if each.text.strip())
