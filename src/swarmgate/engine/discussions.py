"""The facade of the council: discussions.

record = await Swarm(path).council.discuss("How should sessions be kept?", mode="lightweight")
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither voices nor models

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from swarmgate.council.discussion.people import FOLLOWING, Confirmed, Pause, People
from swarmgate.domain.base import Frozen
from swarmgate.domain.discussion import Cast, Discussion, DiscussionRecord, Expert, Mode
from swarmgate.engine.discussion_options import given, mode_of
from swarmgate.engine.in_project import InProject, new_id
from swarmgate.engine.steered import Steered
from swarmgate.errors import ConfigError, CouncilRefused, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.records import Manifest
    from swarmgate.council.stream import PatternEvent

__all__ = ["FOLLOWING", "Confirmed", "DiscussionSummary", "Discussions", "Pause", "People"]

PATTERN: Final = "discussion"


class DiscussionSummary(Frozen):
    """One discussion of the list. `status` is that of its record, or `damaged`: then `topic` says what is."""

    id: str
    began: str
    status: str
    topic: str


class Discussions:
    """Discussions of one project."""

    def __init__(self, shared: InProject) -> None:
        self._shared, self._project = shared, shared.project

    async def discuss(
        self,
        topic: str,
        *,
        mode: Mode | str | None = None,
        rounds: int | None = None,
        personas: Cast | Path | Sequence[Expert | Mapping[str, Any]] = (),
        models: Mapping[str, str] | None = None,
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
            topic: what is discussed, 1 to 4,000 characters.
            mode: `deep`, `standard` or `lightweight`; None: `[council.discussion] mode`.
            rounds: the most rounds, 1 to 10; None: `[council.discussion] rounds`, else as the mode has it.
            personas: the experts: a file of them, a cast with tensions, or experts; none: generated from the topic.
            models: `provider/model` by fixed role, or by the id of a given expert.
            material: what it is about.
            files: paths whose text is added to the material.
            diff: a revision; what the work tree changes against it is added to the material.
            people: who answers for the user; None: the cast is taken, and the moderator followed.
            user: whether `people` may speak in it.
            cache: whether a request that was answered before is answered from its record; None: `[council] cache`.
            id: its name; empty: the time and four letters.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.
            timeout_s: the longest time of one voice in one step, 1 to 900; None: `[council] timeout_s`.
            on_event: told of everything that happens.

        Raises:
            CouncilRefused: it cannot be held as asked; the message names the parameter and its limit.
            ConfigError, MissingRequirement: a voice has no model or no key.
            WaitingForUser: `people` want to be asked later; the cast is on record.
            CouncilFailed: nobody gave anything that counts.
            BudgetExhausted: a budget is used up; `resume_discussion` goes on.
        """
        from swarmgate.council.discussion.request import discussion_of
        from swarmgate.council.material import gathered
        from swarmgate.council.records import Manifest

        settings = self._project.config.council
        cast, roles = given(personas, models or {})
        discussion = discussion_of(
            id=id or new_id(),
            topic=topic,
            mode=mode_of(mode or settings.discussion.mode),
            rounds=settings.discussion.rounds if rounds is None else rounds,
            personas=[each.model_copy(update={"name": self._project.redact(each.name)}) for each in cast.experts],
            tensions=cast.tensions,
            models=roles,
            material=gathered(self._project.folder.root, material, files=files, diff=diff),
            tokens=settings.tokens,
            timeout_s=settings.timeout_s if timeout_s is None else timeout_s,
            whole_s=settings.whole_s,
            user=user,
        )
        request = self._shared.request_hash(PATTERN, discussion, self._models(discussion))
        known = "" if user else self._shared.cached(PATTERN, request, cache=cache)
        if known:
            return self._again(known, on_event)
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        manifest = Manifest(
            id=discussion.id,
            pattern=PATTERN,
            request=discussion.model_dump(mode="json"),
            request_hash=request,
            status="prepared",
            allowance=allowance,
        )
        return await self._discussed(discussion, manifest, people or FOLLOWING, on_event)

    async def resume_discussion(
        self,
        id: str,  # noqa: A002 - as above
        *,
        people: People | None = None,
        tokens: int | None = None,
        usd: float | None = None,
        on_event: Callable[[PatternEvent], None] | None = None,
    ) -> DiscussionRecord:
        """Goes on with a discussion that was prepared, paused or interrupted; gives one that is over at once.

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
        record = self.discussion_record(id)
        if record.status == "complete":
            return record
        manifest = self._manifest(id)
        kept = manifest.allowance
        allowance = kept.but(usd=usd, tokens=tokens)
        request = ""
        with suppress(ConfigError):  # a model that is asked for, and that nobody of its cast needs, may be gone
            request = self._shared.request_hash(PATTERN, record.discussion, self._models(record.discussion))
        manifest = manifest.model_copy(update={"allowance": allowance, "request_hash": request})
        return await self._discussed(record.discussion, manifest, people or FOLLOWING, on_event, record.cast)

    def discussions(self, *, parts: bool = False) -> tuple[DiscussionSummary, ...]:
        """Every discussion, the newest first; `parts`: those that were held as a part of another record, too."""
        ids = self._shared.records.ids(PATTERN)
        return tuple(self._summary(each) for each in ids if parts or not self._is_part(each))

    def discussion_record(self, id: str) -> DiscussionRecord:  # noqa: A002 - as above
        """All that is kept of a discussion, checked.

        Raises:
            CouncilRefused: there is no such discussion.
            LedgerError: its record is damaged, or was changed by hand; the message names what.
        """
        from swarmgate.council.discussion.chronicle import record_of

        self._check_proposed(self._manifest(id))
        return record_of(self._shared.records, id)

    def discussion_documents(self, id: str) -> dict[str, str]:  # noqa: A002 - as above
        """Every text of a discussion's record by its name, such as `artifacts/synthesis.md`.

        Raises:
            SwarmError: as `discussion_record`.
        """
        self._manifest(id)
        return {name: self._shared.records.get(id, name) or "" for name in self._shared.records.names(id)}

    def discussion_page(self, id: str) -> str:  # noqa: A002 - as above
        """A discussion as one HTML page that loads nothing: who countered whom, and positions over the rounds.

        Raises:
            SwarmError: as `discussion_record`.
        """
        from swarmgate.council.discussion.page import page
        from swarmgate.council.discussion.words import all_rounds
        from swarmgate.domain.argument_graph import graph

        record = self.discussion_record(id)
        return page(record, graph(all_rounds(record)))

    def discussion_places(self, id: str) -> dict[str, str]:  # noqa: A002 - as above
        """The file of each of those texts; or where in the database it is."""
        root, names = self._project.folder.root, self._shared.records.names(id)
        places = {name: self._shared.records.place(id, name) for name in names}
        return {name: str(root / place) if (root / place).exists() else place for name, place in places.items()}

    # --- inside ---

    async def _discussed(
        self,
        discussion: Discussion,
        manifest: Manifest,
        people: People,
        on_event: Callable[[PatternEvent], None] | None,
        cast: Cast | None = None,
    ) -> DiscussionRecord:
        from swarmgate.council.discussion.holding import hold
        from swarmgate.council.discussion.table import provisional, seated
        from swarmgate.council.progress import teller

        goes_on = f"swarm discuss resume {discussion.id}"
        tell = teller(self._project.listener, on_event)

        def steered() -> None:
            self._shared.records.change(discussion.id, request_hash="")

        async with self._shared.sitting(PATTERN, discussion.id, manifest.allowance, goes_on) as voices:
            # What a voice lacks is told before anything is kept.
            seated(discussion, cast or provisional(discussion), voices)
            there = self._shared.records.begin(manifest)
            if there.request_hash not in ("", manifest.request_hash):
                steered()  # models, settings or files are others than those that it began with
            if there.allowance != manifest.allowance:
                self._shared.records.change(discussion.id, allowance=manifest.allowance)
            watched = Steered(people, steered)
            return await hold(discussion, voices=voices, records=self._shared.records, people=watched, on_event=tell)

    def _manifest(self, id: str) -> Manifest:  # noqa: A002 - as above
        try:
            return self._shared.records.manifest(id, PATTERN)
        except CouncilRefused as error:
            raise self._shared.refused(PATTERN, id, error) from None

    def _check_proposed(self, manifest: Manifest) -> None:
        """Names a mistake in a cast that waits as one in a file of personas is named: it may be edited by hand."""
        from swarmgate.council.discussion.chronicle import PROPOSED
        from swarmgate.engine import personas_file

        text = self._shared.records.get(manifest.id, PROPOSED) if manifest.status == "prepared" else None
        if text:
            personas_file.check_proposed(text, self._shared.records.place(manifest.id, PROPOSED))

    def _again(self, known: str, on_event: Callable[[PatternEvent], None] | None) -> DiscussionRecord:
        """A record in the place of a new discussion of the same request."""
        from swarmgate.council.discussion.holding import told_again

        record = self.discussion_record(known)
        if on_event is not None:
            for event in told_again(record):
                on_event(event)
        text = f"answered from the record of {known}: the same was discussed before, and nothing has changed since"
        self._project.notice(text)
        return record

    def _models(self, discussion: Discussion) -> dict[str, str]:
        """The model of every voice, by its name; of experts that are yet to be made, under an empty one."""
        own = {role: discussion.models.get(role, "") for role in discussion.extent.roles}
        own |= {each.id: each.model for each in discussion.experts} or {"": ""}
        return {name: self._model(name, model) for name, model in own.items()}

    def _model(self, name: str, model: str) -> str:
        """The name of the model that a voice has after all settings.

        Raises:
            ConfigError: it has none, or none that can be; names the voice.
        """
        from swarmgate.agents.contexts import PARTICIPANT, seat_config
        from swarmgate.domain.debate import Seat

        try:
            return seat_config(self._project.config, Seat(id=name or "expert", model=model)).role(PARTICIPANT).model
        except ConfigError as error:
            raise ConfigError(f"{name or 'the experts'}: {error.message}", hint=error.hint) from error

    def _is_part(self, id: str) -> bool:  # noqa: A002 - as above
        """Whether a decision, or an orchestration, held it. What is damaged is listed as such."""
        from swarmgate.council.records import PART_OF

        with suppress(SwarmError):
            return PART_OF in self._shared.records.manifest(id, PATTERN).more
        return False

    def _summary(self, id: str) -> DiscussionSummary:  # noqa: A002 - as above
        began = ""
        try:
            began = self._shared.records.manifest(id, PATTERN).created_at
            record = self.discussion_record(id)
        except SwarmError as error:
            return DiscussionSummary(id=id, began=began, status="damaged", topic=error.message)
        return DiscussionSummary(id=id, began=began, status=record.status, topic=record.discussion.topic)
