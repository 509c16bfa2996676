"""Facade of decisions: start, resume, list and read them.

outcome = await Swarm(path).council.decide("Do we drop Python 3.11?", participants=["ops", "dev"], strategy="unanimous")
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither participants nor models

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.council.decision.model import Decision, DecisionOutcome, DecisionRecord, DecisionSummary, Strategy
from swarmgate.council.decision.request import Participant, decision_of, facilitator_of, seats, weighed
from swarmgate.council.decision.rules import RULES
from swarmgate.council.decision.view import record_of
from swarmgate.council.shared import Shared, new_id
from swarmgate.errors import ConfigError, CouncilFailed, CouncilRefused, WaitingForUser

if TYPE_CHECKING:
    from swarmgate.council.decision.user_choices import People, PersonalVote
    from swarmgate.council.pattern import Where
    from swarmgate.council.views.events import CouncilEvent


class Decisions:
    """Decisions of one project."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._project = shared, shared.project

    async def decide(
        self,
        question: str,
        *,
        participants: Sequence[Participant] | None = None,
        strategy: Strategy | str | None = None,
        threshold: float | None = None,
        options: Sequence[str] = (),
        facilitator: str | None = None,
        humans: Sequence[str] = (),
        people: People | None = None,
        weights: Mapping[str, float] | None = None,
        rounds: int | None = None,
        material: str = "",
        files: Sequence[str] = (),
        diff: str = "",
        cache: bool | None = None,
        id: str = "",  # noqa: A002 - the field's name
        tokens: int | None = None,
        usd: float | None = None,
        timeout_s: float | None = None,
        whole_s: float | None = None,
        facilitator_system: str = "",
        on_event: Callable[[CouncilEvent], None] | None = None,
        where: Where = lambda _: "",
        default_id: str = "",
    ) -> DecisionOutcome:
        """Has several decide on a question, in rounds, to a consensus or honestly to none.

        Args:
            question: what is decided, 1 to 10,000 characters.
            participants: 1 to 10: seats, agents of the settings, or roles; None: a builder, an operator and a user.
            strategy: unanimous, majority, supermajority, weighted, facilitator, approval or ranked; None: as
                `[council.decision]` says.
            threshold: above 0, to 1, for unanimous, supermajority and weighted; None: 0.5, 2/3 and 0.7.
            options: 2 to 10, what approval and ranked choose among.
            facilitator: `ID` or `ID=provider/model`: the participant that decides (strategy facilitator), else who
                synthesises each round; None: a participant of its own.
            humans: the ids of people who take part, beside the participants.
            people: who answers for them; None: nobody is there, and the decision waits.
            weights: 0 to 1 by participant, over those that they have.
            rounds: 1 to 10; None: as `[council.decision]` says.
            material: what the question is about.
            files: paths whose text is added to the material: from the root of the repository, or absolute and inside.
            diff: a revision; what the work tree changes against it is added to the material.
            cache: whether the same request may be answered from its record; None: as `[council] cache` says.
            id: its name, under which it is never answered from another record; empty: the time and four letters.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.
            timeout_s: the longest time of one participant in one step, 1 to 900; None: `[council] timeout_s`.
            whole_s: the longest time of all of it in one session, 1 to 1,800; None: `[council] whole_s`.
            facilitator_system: further words for a facilitator that is no participant.
            on_event: told of everything that happens.
            where: how messages about an argument begin.
            default_id: its name where it has none, for callers that must know it beforehand (`new_id`).

        Raises:
            CouncilRefused: it cannot be held as asked; the message names the parameter and its limit.
            ConfigError, MissingRequirement: a participant has no model or no key.
            CouncilFailed: nobody said anything that counts in a round; `resume_decision` asks that round anew.
            WaitingForUser: a person is to speak, and nobody is there; `resume_decision` goes on.
            BudgetExhausted: a budget is used up; `resume_decision` goes on.
        """
        from swarmgate.council.decision.steps import DECISION
        from swarmgate.council.participants.material import gathered

        settings = self._project.config.council
        try:
            decision = decision_of(
                id=id or default_id or new_id(),
                question=question,
                participants=weighed(seats(participants, humans, self._project), weights or {}),
                strategy=strategy or settings.decision.strategy,
                threshold=threshold,
                options=tuple(options),
                **facilitator_of(facilitator, self._project, facilitator_system),
                rounds=settings.decision.rounds if rounds is None else rounds,
                settled=settings.decision.settled,
                tokens=settings.tokens,
                timeout_s=settings.timeout_s if timeout_s is None else timeout_s,
                whole_s=settings.whole_s if whole_s is None else whole_s,
            )
        except CouncilRefused as error:
            raise _placed(error, where) from None
        self._notice_weights(decision)
        gather = gathered(self._project.folder.root, material, files=files, diff=diff, where=where)
        decision = decision.model_copy(update={"material": gather.strip()})
        models = self._models_of(decision, where)
        personal = any(each.human for each in decision.participants)  # who may think otherwise today
        if not (id or personal) and (known := self._shared.cached(DECISION, decision, models, cache=cache)):
            return _whole(known.outcome)
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        held: dict[str, Any] = {
            "allowance": allowance,
            "models": None if personal else models,
            "own": self._preparation(people),
            "on_event": on_event,
        }
        outcome = await self._shared.hold(DECISION, decision, where=where, **held)
        return self._with_people(outcome)

    async def decide_file(self, path: Path, **options: Any) -> DecisionOutcome:
        """Has decided what a TOML file describes; `options` are arguments of `decide` that win over the file.

        Raises:
            CouncilRefused: the file cannot be read, or a key is wrong; the message names file, line and key.
            SwarmError: as `decide`.
        """
        from swarmgate.council.decision import file

        in_file = file.FILE.places(path)
        given = file.read(path) | options
        return await self.decide(**given, where=lambda place: "" if place[0] in options else in_file(place))

    async def resume_decision(
        self,
        id: str,  # noqa: A002 - the field's name
        *,
        tokens: int | None = None,
        usd: float | None = None,
        people: People | None = None,
        on_event: Callable[[CouncilEvent], None] | None = None,
    ) -> DecisionOutcome:
        """Resumes a decision after its last complete step; returns the outcome at once where it is over.

        Where the project has changed since it began, the record answers no other request: it was made of both.

        Args:
            id: of the decision.
            tokens: what all of it may use, in tokens, with what it used before; None: as it was begun with.
            usd: the same in US dollars.
            people: who answers for the people who take part; None: nobody is there.
            on_event: told of everything that happens.

        Raises:
            WaitingForUser: a person is to speak, and nobody is there.
            CouncilRefused: there is no such decision, or it goes on in another process.
            LedgerError: its record is damaged, or was altered.
            SwarmError: as `decide`.
        """
        from swarmgate.council.decision.steps import DECISION

        record = self._shared.record(DECISION, id)
        if record.standing.over:
            return _whole(record.outcome)
        personal = any(each.human for each in record.request.participants)
        models = None if personal else self._models_of(record.request, lambda _: "")
        more: dict[str, Any] = {"models": models, "own": self._preparation(people), "on_event": on_event}
        outcome = await self._shared.resume(DECISION, id, tokens=tokens, usd=usd, **more)
        return self._with_people(outcome)

    async def answer_decision(
        self,
        id: str,  # noqa: A002 - the field's name
        vote: PersonalVote,
        *,
        who: str = "",
        people: People | None = None,
        **more: Any,
    ) -> DecisionOutcome:
        """Gives the vote of a person that a decision waits for, and goes on with it.

        Args:
            id: of the decision.
            vote: of the person, in the round that waits.
            who: the person; empty: the only one that is waited for.
            people: who answers for the people from then on; None: nobody is there.
            more: as of `resume_decision`.

        Raises:
            CouncilRefused: nobody is waited for, or not that person; or it is no vote.
            SwarmError: as `resume_decision`.
        """
        from swarmgate.council.decision.user_choices import ABSENT, GivenVotes, counted

        standing = self._shared.record(RULES, id).standing
        waiting = () if standing.over else standing.own.people_missing
        if not waiting or (who and who not in waiting):
            raise CouncilRefused(
                f"The decision {id} does not wait for {who or 'a person'}.",
                hint=f"It waits for {', '.join(waiting)}." if waiting else f"Look at it: swarm decide show {id}",
            )
        if not who and len(waiting) > 1:
            raise CouncilRefused(
                f"The decision {id} waits for {', '.join(waiting)}: say who you are.", hint="--as NAME"
            )
        counted(vote, standing.own.decision)
        votes = GivenVotes({who or waiting[0]: vote}, people or ABSENT)
        return await self.resume_decision(id, people=votes, **more)

    def decisions(self, *, parts: bool = False) -> tuple[DecisionSummary, ...]:
        """Every decision, the newest first; `parts`: those that were held as a part of another record, too."""
        return tuple(self._shared.rows(RULES, parts=parts))

    def decision_record(self, id: str) -> DecisionRecord:  # noqa: A002 - the field's name
        """All that is kept of a decision, checked.

        Raises:
            CouncilRefused: there is no such decision.
            LedgerError: its record is damaged, or was altered; the message names the line.
        """
        return record_of(self._shared.record(RULES, id).standing)

    def answers(self, id: str) -> bool:  # noqa: A002 - the field's name
        """Whether it answers the same request again, as the project is now.

        Raises:
            SwarmError: as `decision_record`.
        """
        return self._shared.answers(RULES, id, lambda asked: self._models_of(asked, lambda _: ""))

    # --- inside ---

    def _with_people(self, outcome: DecisionOutcome | None) -> DecisionOutcome:
        """The outcome, where no person is missing in it.

        Raises:
            CouncilFailed: there is none.
            WaitingForUser: the time was up before a person had spoken, without whom it does not end.
        """
        found = _whole(outcome)
        if found.ended_by == "waiting":
            who = self._shared.record(RULES, found.id).standing.own.people_missing
            raise WaitingForUser(
                f"The time of decision {found.id} is up, and it waits for {', '.join(who)}.",
                hint=f"swarm decide resume {found.id}, or: swarm decide answer {found.id} --as {who[0]} ...",
            )
        return found

    def _preparation(self, people: People | None) -> Any:
        """What participants need beside their models."""
        from swarmgate.council.decision.preparation import Preparation
        from swarmgate.council.decision.user_choices import ABSENT

        drafts = self._project.config.council.critique
        return Preparation(threshold=drafts.threshold, stop=drafts.stop, people=people or ABSENT)

    def _notice_weights(self, decision: Decision) -> None:
        """Tells of weights that the strategy does not read."""
        weighed = [each.id for each in decision.participants if each.weight != 1]
        if weighed and decision.strategy is not Strategy.WEIGHTED:
            text = f"the weight of {', '.join(weighed)} does not count: the strategy {decision.strategy} reads none"
            self._project.notice(text)

    def _models_of(self, decision: Decision, where: Where) -> dict[str, str]:
        """The model of every participant, by its name.

        Raises:
            ConfigError: one has none.
        """
        from swarmgate.agents.context_factory import PARTICIPANT, seat_config
        from swarmgate.council.decision.brief import voices_of

        found: dict[str, str] = {}
        for seat, place in voices_of(decision):
            try:
                found[seat.id] = seat_config(self._project.config, seat).role(PARTICIPANT).model
            except ConfigError as error:
                raise ConfigError(f"{where(place)}{seat.id}: {error.message}", hint=error.hint) from error
        return found


# --- inside ---


def _whole(outcome: DecisionOutcome | None) -> DecisionOutcome:
    """The outcome that every decision has that came to its end, or to that of its time.

    Raises:
        CouncilFailed: it has none.
    """
    if outcome is None:
        raise CouncilFailed("the decision ended without an outcome")
    return outcome


def _placed(error: CouncilRefused, where: Where) -> CouncilRefused:
    """The refusal with where the key stands that it names first, in backticks: `participants.2.weight`."""
    from swarmgate.council.decision.file import place_in

    place = place_in(error.message)
    return CouncilRefused(f"{where(place) if place else ''}{error.message}", hint=error.hint)
