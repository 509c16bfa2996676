"""Facade of discussions: start, resume, list and read them.

record = await Swarm(path).council.discuss("How should sessions be kept?", mode="lightweight")
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither participants nor models

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

from swarmgate.council.discussion.argument.graph import graph
from swarmgate.council.discussion.model import Cast, Discussion, DiscussionRecord, Expert, Mode, ProblemDefinition
from swarmgate.council.discussion.personas import changed, given
from swarmgate.council.discussion.request import as_agents, mode_of
from swarmgate.council.discussion.rules import RULES, DiscussionSummary, completed
from swarmgate.council.discussion.state import State
from swarmgate.council.discussion.user_choices import FOLLOWING, People
from swarmgate.council.discussion.view.page import page
from swarmgate.council.discussion.view.phrases import all_rounds
from swarmgate.council.records.record import Record
from swarmgate.council.shared import Shared, new_id
from swarmgate.council.views.stream import PatternEvent, Started
from swarmgate.domain.usage import Usage
from swarmgate.errors import ConfigError, CouncilRefused
from swarmgate.journal.documents import JOURNAL


class Discussions:
    """Discussions of one project."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._project = shared, shared.project
        self._agents = partial(as_agents, shared.project)

    async def discuss(
        self,
        topic: str,
        *,
        mode: Mode | str | None = None,
        rounds: int | None = None,
        personas: Cast | Path | Sequence[Expert | Mapping[str, Any]] = (),
        models: Mapping[str, str] | None = None,
        problem_definition: ProblemDefinition | Mapping[str, Any] | None = None,
        material: str = "",
        files: Sequence[str] = (),
        diff: str = "",
        people: People | None = None,
        user: bool = False,
        cache: bool | None = None,
        id: str = "",  # noqa: A002 - the field's name
        tokens: int | None = None,
        usd: float | None = None,
        timeout_s: float | None = None,
        on_event: Callable[[PatternEvent], None] | None = None,
    ) -> DiscussionRecord:
        """Holds a discussion to its synthesis, or until its user pauses it.

        Args:
            topic: what is discussed, 1 to 10,000 characters.
            mode: `deep`, `standard` or `lightweight`; None: `[council.discussion] mode`.
            rounds: the most rounds, 1 to 10; None: `[council.discussion] rounds`, else as the mode has it.
            personas: the experts: a file of them, a cast with tensions, or experts; none: generated from the topic.
            models: `provider/model` by fixed role, or by the id of a given expert.
            problem_definition: what is to be solved: statement, scope, success criteria; None: as `personas` or the
                moderator has it.
            material: what it is about.
            files: paths whose text is added to the material.
            diff: a revision; what the work tree changes against it is added to the material.
            people: who answers for the user; None: the cast is taken, and the moderator followed.
            user: whether `people` may speak in it.
            cache: whether a request that was answered before is answered from its record; None: `[council] cache`.
            id: its name; empty: the time and four letters.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.
            timeout_s: the longest time of one participant in one step, 1 to 900; None: `[council] timeout_s`.
            on_event: told of everything that happens.

        Raises:
            CouncilRefused: it cannot be held as asked; the message names the parameter and its limit.
            ConfigError, MissingRequirement: a participant has no model or no key.
            WaitingForUser: `people` want to be asked later; the cast is on record.
            CouncilFailed: nobody gave anything that counts.
            BudgetExhausted: a budget is used up; `resume_discussion` goes on.
        """
        from swarmgate.council.discussion.pattern import DISCUSSION, Session
        from swarmgate.council.discussion.request import discussion_of
        from swarmgate.council.participants.material import gathered

        settings = self._project.config.council
        given_cast, roles = given(personas, models or {}, self._agents)
        discussion = discussion_of(
            id=id or new_id(),
            topic=topic,
            mode=mode_of(mode or settings.discussion.mode),
            rounds=settings.discussion.rounds if rounds is None else rounds,
            personas=[each.model_copy(update={"name": self._project.redact(each.name)}) for each in given_cast.experts],
            tensions=given_cast.tensions,
            problem_definition=problem_definition or given_cast.problem_definition,
            models=roles,
            material=gathered(self._project.folder.root, material, files=files, diff=diff),
            tokens=settings.tokens,
            timeout_s=settings.timeout_s if timeout_s is None else timeout_s,
            whole_s=settings.whole_s,
            user=user,
        )
        seat_models = self._models(discussion)
        if not user and (known := self._shared.cached(DISCUSSION, discussion, seat_models, cache=cache)):
            return self._again(known, on_event)
        held = await self._shared.hold(
            DISCUSSION,
            discussion,
            allowance=self._shared.allowance.but(usd=usd, tokens=tokens),
            models=seat_models,
            own=Session(people or FOLLOWING, agents=self._agents),
            on_event=cast("Callable[..., None] | None", on_event),
        )
        return _there(held)

    async def resume_discussion(
        self,
        id: str,  # noqa: A002 - the field's name
        *,
        people: People | None = None,
        tokens: int | None = None,
        usd: float | None = None,
        on_event: Callable[[PatternEvent], None] | None = None,
    ) -> DiscussionRecord:
        """Resumes a discussion that was prepared, paused or interrupted; returns one that is over at once.

        Args:
            id: of the discussion.
            people: who answers for the user; None: nobody is asked.
            tokens: what all of it may use, in tokens, with what it used before; None: as it was begun with.
            usd: the same in US dollars.
            on_event: told of everything that happens.

        Raises:
            CouncilRefused: there is no such discussion, or it goes on in another process.
            LedgerError: its record is damaged, or was changed by hand.
            SwarmError: as `discuss`.
        """
        from swarmgate.council.discussion.pattern import DISCUSSION, Session

        state = self._shared.record(DISCUSSION, id).standing.own
        models: dict[str, str] = {}
        with suppress(ConfigError):  # a model that is asked for, and that nobody of its cast needs, may be gone
            models = self._models(state.discussion)
        own, listener = (
            Session(people or FOLLOWING, state, self._agents),
            cast("Callable[..., None] | None", on_event),
        )
        held = await self._shared.resume(
            DISCUSSION, id, tokens=tokens, usd=usd, models=models, own=own, on_event=listener
        )
        return _there(held)

    def edited_cast(self, cast: Cast, text: str, name: str, mode: Mode) -> Cast:
        """A cast as an edited text has it, called `name`, for a discussion of that mode: what `People.confirm` gives.

        Raises:
            CouncilRefused: a key is missing, unknown or wrong, there is no such agent, or there are too many experts or
                too few; names file, line and key.
        """
        return changed(cast, text, name, mode, self._agents)

    # --- look ---

    def discussions(self, *, parts: bool = False) -> tuple[DiscussionSummary, ...]:
        """Every discussion, the newest first; `parts`: those that were held as a part of another record, too."""
        return tuple(self._shared.rows(RULES, parts=parts))

    def discussion_record(self, id: str) -> DiscussionRecord:  # noqa: A002 - the field's name
        """All that is kept of a discussion, checked; a cast that waits as its text has it.

        Raises:
            CouncilRefused: there is no such discussion.
            LedgerError: its record is damaged, or was changed by hand; the message names what.
        """
        return RULES.outcome(self._shared.standing(RULES, id))

    def discussion_documents(self, id: str) -> dict[str, str]:  # noqa: A002 - the field's name
        """Every text of a discussion's record by its name, such as `artifacts/synthesis.md`.

        Raises:
            SwarmError: as `discussion_record`.
        """
        documents = self._shared.records.documents
        texts = {name: documents.get(id, name) or "" for name in documents.names(self._shared.record(RULES, id).id)}
        return texts | {JOURNAL: documents.lines(id).whole_lines().decode()}

    def discussion_page(self, id: str) -> str:  # noqa: A002 - the field's name
        """A discussion as one HTML page that loads nothing: who countered whom, and positions over the rounds.

        Raises:
            SwarmError: as `discussion_record`.
        """
        record = self.discussion_record(id)
        return page(record, graph(all_rounds(record)))

    def discussion_places(self, id: str) -> dict[str, str]:  # noqa: A002 - the field's name
        """The file of each of those texts; or where in the database it is."""
        root, documents = self._project.folder.root, self._shared.records.documents
        places = {name: documents.place(id, name) for name in documents.names(id)}
        return {name: str(root / place) if (root / place).exists() else place for name, place in places.items()}

    def answers(self, id: str) -> bool:  # noqa: A002 - the field's name
        """Whether it answers the same request again, as the project is now.

        Raises:
            SwarmError: as `discussion_record`.
        """
        return self._shared.answers(RULES, id, self._models)

    # --- inside ---

    def _again(
        self, known: Record[Discussion, State, DiscussionRecord], on_event: Callable[[PatternEvent], None] | None
    ) -> DiscussionRecord:
        """A record in the place of a new discussion of the same request: nothing was asked, and nothing used."""
        record = RULES.outcome(known.standing)
        if on_event is not None:
            state, asked = known.standing.own, record.discussion
            common = {"pattern": RULES.name, "id": known.id}
            on_event(Started(**common, title=asked.topic, who=RULES.who(state), most=asked.rounds, resumed=True))
            on_event(completed(record).model_copy(update={"usage": Usage(), "seconds": 0.0}))
        text = f"answered from the record of {known.id}: the same was discussed before, and nothing has changed since"
        self._project.notice(text)
        return record

    def _models(self, discussion: Discussion) -> dict[str, str]:
        """The model of every participant, by its name; of experts that are yet to be made, under an empty one."""
        own = {role: discussion.models.get(role, "") for role in discussion.extent.roles}
        own |= {each.id: each.model for each in discussion.experts} or {"": ""}
        return {name: self._model(name, model) for name, model in own.items()}

    def _model(self, name: str, model: str) -> str:
        """The name of the model that a participant has after all settings.

        Raises:
            ConfigError: it has none, or none that can be; names the participant.
        """
        from swarmgate.agents.context_factory import PARTICIPANT, seat_config
        from swarmgate.domain.review.votes import Seat

        try:
            return seat_config(self._project.config, Seat(id=name or "expert", model=model)).role(PARTICIPANT).model
        except ConfigError as error:
            raise ConfigError(f"{name or 'the experts'}: {error.message}", hint=error.hint) from error


def _there(record: DiscussionRecord | None) -> DiscussionRecord:
    """What was held: a discussion has a record from its beginning on."""
    if record is None:
        raise CouncilRefused("There is no such discussion.")
    return record
