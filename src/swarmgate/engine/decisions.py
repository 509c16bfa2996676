"""The facade of the council: decisions by several.

outcome = await Swarm(path).council.decide("Do we drop Python 3.11?", participants=["ops", "dev"], strategy="unanimous")
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither voices nor models

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from swarmgate.domain.base import Frozen
from swarmgate.domain.consensus import Decision, DecisionOutcome, DecisionRecord, Strategy
from swarmgate.engine.decision_seats import Participant, named, seats, weighed
from swarmgate.engine.in_project import InProject, new_id
from swarmgate.errors import BudgetExhausted, ConfigError, CouncilFailed, CouncilRefused, MissingRequirement, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.records import Manifest
    from swarmgate.council.stream import PatternEvent
    from swarmgate.council.voices import Voices

PATTERN: Literal["decision"] = "decision"

Where = Callable[[tuple[int | str, ...]], str]
"""How a message about a key begins, such as `decision.toml, line 3: `; a place in a list counts from 0."""


class DecisionSummary(Frozen):
    """One decision of the list. `status` is `consensus`, `none`, that of its record, or `damaged`: see `question`.

    `began` is in UTC, as ISO 8601 has it.
    """

    id: str
    began: str
    status: str
    strategy: str
    question: str


class Decisions:
    """Decisions of one project."""

    def __init__(self, shared: InProject) -> None:
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
        on_event: Callable[[PatternEvent], None] | None = None,
        where: Where = lambda _: "",
        minted: str = "",
    ) -> DecisionOutcome:
        """Has several decide on a question, in rounds, to a consensus or honestly to none.

        Args:
            question: what is decided, 1 to 4,000 characters.
            participants: 1 to 10; None: a builder, an operator and a user.
            strategy: unanimous, majority, supermajority, weighted, facilitator, approval or ranked; None: as
                `[council.decision]` says.
            threshold: above 0, to 1, for unanimous, supermajority and weighted; None: 0.5, 2/3 and 0.7.
            options: 2 to 10, what approval and ranked choose among.
            facilitator: `ID` or `ID=provider/model`: the participant that decides (strategy facilitator), else who
                synthesises each round; None: a voice of its own.
            weights: 0 to 1 by participant, over those that they have.
            rounds: 1 to 10; None: as `[council.decision]` says.
            material: what the question is about.
            files: paths whose text is added to the material: from the root of the repository, or absolute and inside.
            diff: a revision; what the work tree changes against it is added to the material.
            cache: whether the same request may be answered from its record; None: as `[council] cache` says.
            id: its name, under which it is never answered from another record; empty: the time and four letters.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.
            timeout_s: the longest time of one voice in one step, 1 to 900; None: `[council] timeout_s`.
            on_event: told of everything that happens.
            where: how messages about an argument begin.
            minted: of `new_id`, the name that it gets where it has none, for who must know it beforehand.

        Raises:
            CouncilRefused: it cannot be held as asked; the message names the parameter and its limit.
            ConfigError, MissingRequirement: a voice has no model or no key.
            CouncilFailed: nobody said anything that counts in a round; `resume_decision` asks that round anew.
            BudgetExhausted: a budget is used up; `resume_decision` goes on.
        """
        from swarmgate.council.consensus.outcome import manifest_of
        from swarmgate.council.consensus.preparing import check_records
        from swarmgate.council.consensus.request import decision_of
        from swarmgate.council.material import gathered

        settings = self._project.config.council
        chair, chair_model = named(facilitator or "", "facilitator")
        try:
            decision = decision_of(
                id=id or minted or new_id(),
                question=question,
                participants=weighed(seats(participants), weights or {}),
                strategy=strategy or settings.decision.strategy,
                threshold=threshold,
                options=tuple(options),
                facilitator=chair or None,
                facilitator_model=chair_model,
                rounds=settings.decision.rounds if rounds is None else rounds,
                settled=settings.decision.settled,
                tokens=settings.tokens,
                timeout_s=settings.timeout_s if timeout_s is None else timeout_s,
                whole_s=settings.whole_s,
            )
        except CouncilRefused as error:
            raise _placed(error, where) from None
        self._notice_weights(decision)
        gather = gathered(self._project.folder.root, material, files=files, diff=diff, where=where)
        decision = decision.model_copy(update={"material": gather.strip()})
        check_records(decision, self._shared.records)
        request = self._shared.request_hash(PATTERN, decision, self._models_of(decision, where))
        if not id and (known := self._shared.cached(PATTERN, request, cache=cache)):
            return self._decided_before(known)
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        begun = manifest_of(decision).model_copy(update={"request_hash": request, "allowance": allowance})
        return await self._decided(decision, begun, on_event, where)

    async def decide_file(self, path: Path, **options: Any) -> DecisionOutcome:
        """Has decided what a TOML file describes; `options` are arguments of `decide` that win over the file.

        Raises:
            CouncilRefused: the file cannot be read, or a key is wrong; the message names file, line and key.
            SwarmError: as `decide`.
        """
        from swarmgate.engine import decision_file

        in_file = decision_file.places(path)
        given = decision_file.read(path) | options
        return await self.decide(**given, where=lambda place: "" if place[0] in options else in_file(place))

    async def resume_decision(
        self,
        id: str,  # noqa: A002 - as above
        *,
        tokens: int | None = None,
        usd: float | None = None,
        on_event: Callable[[PatternEvent], None] | None = None,
    ) -> DecisionOutcome:
        """Goes on with a decision after what is whole; gives the outcome at once where it is over.

        Where the project has changed since it began, the record answers no other request: it was made of both.

        Args:
            id: of the decision.
            tokens: what all of it may use, in tokens, with what it used before; None: as it was begun with.
            usd: the same in US dollars.
            on_event: told of everything that happens.

        Raises:
            CouncilRefused: there is no such decision, or it goes on in another process.
            LedgerError: its record is damaged, or was changed by hand.
            SwarmError: as `decide`.
        """
        record = self.decision_record(id)
        manifest = self._shared.records.manifest(id, PATTERN)
        if record.outcome is not None and manifest.status == "complete":
            return record.outcome
        kept = manifest.allowance
        allowance = kept.but(usd=usd, tokens=tokens)
        if allowance != kept:
            manifest = self._shared.records.change(id, allowance=allowance)
        models = self._models_of(record.decision, lambda _: "")
        if manifest.request_hash and manifest.request_hash != self._shared.request_hash(
            PATTERN, record.decision, models
        ):
            manifest = self._shared.records.change(id, request_hash="")
        return await self._decided(record.decision, manifest, on_event)

    def decisions(self, *, parts: bool = False) -> tuple[DecisionSummary, ...]:
        """Every decision, the newest first; `parts`: those that were held as a part of another record, too."""
        ids = self._shared.records.ids(PATTERN)
        return tuple(self._summary_of(each) for each in ids if parts or not self._shared.belongs(each, PATTERN))

    def decision_record(self, id: str) -> DecisionRecord:  # noqa: A002 - as above
        """All that is kept of a decision, checked.

        Raises:
            CouncilRefused: there is no such decision.
            LedgerError: its record is damaged, or was changed by hand; the message names what.
        """
        from swarmgate.council.consensus.outcome import record_of

        try:
            self._shared.records.manifest(id, PATTERN)
        except CouncilRefused as error:
            raise self._shared.refused(PATTERN, id, error) from None
        return record_of(self._shared.records, id)

    # --- inside ---

    async def _decided(
        self,
        decision: Decision,
        begun: Manifest,
        on_event: Callable[[PatternEvent], None] | None,
        where: Where = lambda _: "",
    ) -> DecisionOutcome:
        from swarmgate.council.consensus.brief import prompt_tokens
        from swarmgate.council.consensus.deciding import decide
        from swarmgate.council.consensus.preparing import Good, preparation
        from swarmgate.council.progress import teller

        tell: Callable[[PatternEvent], None] = teller(self._project.listener, on_event)
        drafts = self._project.config.council.critique
        good = Good(threshold=drafts.threshold, stop=drafts.stop)
        goes_on = f"swarm decide resume {decision.id}"
        try:
            async with self._shared.sitting(PATTERN, decision.id, begun.allowance, goes_on) as voices:
                _check_desks(decision, voices, where)
                if not self._shared.records.names(decision.id):
                    try:
                        needed = prompt_tokens(decision, voices)
                        voices.budget.require_room(needed, "the first round (its prompts alone)")
                    except BudgetExhausted:
                        self._shared.records.begin(begun)  # so that it can go on with more
                        raise
                prepare = preparation(voices, self._shared.records, tell, good)
                return await decide(
                    decision,
                    voices=voices,
                    records=self._shared.records,
                    prepare=prepare,
                    manifest=begun,
                    on_event=tell,
                )
        except CouncilFailed as error:
            hint = f"{error.hint}. Go on with: {goes_on}" if error.hint else f"Go on with: {goes_on}"
            raise CouncilFailed(error.message, hint=hint) from error

    def _notice_weights(self, decision: Decision) -> None:
        """Tells of weights that the strategy does not read."""
        weighed = [each.id for each in decision.participants if each.weight != 1]
        if weighed and decision.strategy is not Strategy.WEIGHTED:
            text = f"the weight of {', '.join(weighed)} does not count: the strategy {decision.strategy} reads none"
            self._project.notice(text)

    def _decided_before(self, known: str) -> DecisionOutcome:
        """An outcome on record in the place of a new decision of the same request."""
        record = self.decision_record(known)
        if record.outcome is None:
            raise CouncilRefused(f"The decision {known} is complete and has no outcome.", hint="Take --no-cache.")
        return record.outcome

    def _models_of(self, decision: Decision, where: Where) -> dict[str, str]:
        """The model of every voice, by its name.

        Raises:
            ConfigError: one has none.
        """
        from swarmgate.agents.contexts import PARTICIPANT, seat_config
        from swarmgate.council.consensus.brief import facilitator_of, voice_of

        found: dict[str, str] = {}
        seats = [*(voice_of(each) for each in decision.participants), facilitator_of(decision)]
        for at, seat in enumerate(seats):
            place = ("participants", at, "model") if at < len(decision.participants) else ("facilitator",)
            try:
                found[seat.id] = seat_config(self._project.config, seat).role(PARTICIPANT).model
            except ConfigError as error:
                raise ConfigError(f"{where(place)}{seat.id}: {error.message}", hint=error.hint) from error
        return found

    def _summary_of(self, id: str) -> DecisionSummary:  # noqa: A002 - as above
        began = ""
        try:
            began = self._shared.records.manifest(id, PATTERN).created_at
            record = self.decision_record(id)
        except SwarmError as error:
            return DecisionSummary(id=id, began=began, status="damaged", strategy="", question=error.message)
        status: str = record.status
        if record.outcome and status == "complete":
            status = "consensus" if record.outcome.consensus else "none"
        decision = record.decision
        return DecisionSummary(
            id=id, began=began, status=status, strategy=decision.strategy, question=decision.question
        )


def text_lines(record: DecisionRecord) -> list[str]:
    """All of a decision for people: what came of it, who stood where in each round, what is open."""
    from swarmgate.council.consensus.page import record_lines

    return record_lines(record)


def outcome_lines(record: DecisionRecord) -> list[str]:
    """How a decision ended, who stood where in its last round, and why somebody did not count; last what it took."""
    from swarmgate.council.consensus.page import last_lines, result_lines

    told = result_lines(record.outcome) if record.outcome else []
    stood = last_lines(record.decision, record.rounds[-1]) if record.rounds else []
    return [*told[:1], *stood, *told[1:]]


# --- inside ---


def _placed(error: CouncilRefused, where: Where) -> CouncilRefused:
    """The refusal with where the key stands that it names first, in backticks: `participants.2.weight`."""
    from swarmgate.engine.decision_file import place_in

    place = place_in(error.message)
    return CouncilRefused(f"{where(place) if place else ''}{error.message}", hint=error.hint)


def _check_desks(decision: Decision, voices: Voices, where: Where) -> None:
    """Tells what a voice lacks before anybody is asked.

    Raises:
        ConfigError, CouncilRefused, MissingRequirement: a voice cannot be had.
    """
    from swarmgate.council.consensus.brief import facilitator_of, voice_of

    named: list[tuple[Any, tuple[int | str, ...]]] = [
        (voice_of(each), ("participants", at, "model")) for at, each in enumerate(decision.participants)
    ]
    for seat, place in [*named, (facilitator_of(decision), ("facilitator",))]:
        try:
            voices.desk(seat)
        except (ConfigError, CouncilRefused, MissingRequirement) as error:
            raise type(error)(f"{where(place)}{seat.id}: {error.message}", hint=error.hint) from error
