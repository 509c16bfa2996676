"""What is kept of one discussion as it is held, and how it is read again."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from swarmgate.agents.brief import one_line
from swarmgate.council.discussion.artifacts import SUMMARY, artifacts, summary
from swarmgate.council.discussion.progress import HEAD, choice_text, round_text, step_text, synthesis_text
from swarmgate.council.discussion.words import all_rounds
from swarmgate.council.record_texts import canonical, digest
from swarmgate.council.records import Manifest, Records, Status
from swarmgate.domain.argument import integrity_problem, places, slots
from swarmgate.domain.discussion import (
    Cast,
    Choice,
    Conclusion,
    Discussion,
    DiscussionRecord,
    DiscussionRound,
    Step,
)
from swarmgate.domain.usage import Usage
from swarmgate.errors import LedgerError

CAST, PROPOSED, SYNTHESIS, PROGRESS = (
    "personas/cast.json",
    "personas/proposed.json",
    "artifacts/synthesis.json",
    "progress.md",
)


def record_of(records: Records, id: str) -> DiscussionRecord:  # noqa: A002 - the field's name
    """All that is kept of a discussion.

    Raises:
        CouncilRefused: there is none of that id.
        LedgerError: what is kept was changed by hand, or is damaged; the message names the file.
    """
    manifest = records.manifest(id, "discussion")
    try:
        discussion = Discussion.model_validate(manifest.request)
        choices = tuple(Choice.model_validate(each) for each in manifest.more.get("choices", ()))
    except ValidationError as error:
        raise LedgerError(
            f"{records.place(id, 'manifest.json')} is of no discussion: {error.errors()[0]['msg']}"
        ) from None
    rounds = records.rounds(id, DiscussionRound)
    record = DiscussionRecord(
        discussion=discussion,
        cast=records.sealed(id, CAST, Cast) or _proposed(records, id),
        status=manifest.status,
        why=manifest.why,
        rounds=rounds,
        partial=records.partial(id, len(rounds) + 1, DiscussionRound),
        choices=choices,
        conclusion=records.sealed(id, SYNTHESIS, Conclusion),
    )
    _check(record, records.place(id, "rounds"))
    return _counted(record)


def _check(record: DiscussionRecord, place: str) -> None:
    """Whether the rounds on record can have happened: every hash may fit, and the structure not.

    Raises:
        LedgerError: they cannot; the message names the law.
    """
    held = (*record.rounds, *([record.partial] if record.partial else []))
    if why := integrity_problem(record.cast or Cast(experts=()), held, extent=record.discussion.extent):
        raise LedgerError(f"{place} is of no discussion that was held: {why}")


class Chronicle:
    """One discussion on record: `record` is what stands there, and each of its methods keeps what is new.

    Args:
        records: where it is kept.
        discussion: what is held; a discussion of that id and request is taken up as it stands.

    Raises:
        CouncilRefused: another record has its id.
        LedgerError: what is kept was changed by hand; the message names the file.
    """

    def __init__(self, records: Records, discussion: Discussion) -> None:
        asked = Manifest(
            id=discussion.id, pattern="discussion", request=discussion.model_dump(mode="json"), status="prepared"
        )
        records.begin(asked)
        self._records, self._id = records, discussion.id
        self.record = record_of(records, discussion.id)
        self.resumed = self.record.cast is not None
        if self.record.status != "complete":
            self._records.put(self._id, PROGRESS, self._progress())

    def clean(self, value: Any) -> Any:
        """A JSON-ready value as it is kept: without secrets."""
        return self._records.plain(value)

    # --- the cast ---

    def propose(self, cast: Cast, *, generated: bool = False) -> None:
        """A cast that nobody has confirmed yet; `generated`: as it came, nobody has changed it."""
        if generated:
            self._more(proposed=_digest(cast))
        self._records.put(self._id, PROPOSED, cast)
        self._update(cast=cast)

    def forget_cast(self) -> None:
        """The proposed cast fits no more."""
        self._records.put(self._id, PROPOSED, "")
        self._update(cast=None)

    def change(self, discussion: Discussion) -> None:
        """The user wants it otherwise, before it begins."""
        self._records.change(self._id, request=discussion.model_dump(mode="json"))
        self._update(discussion=discussion)

    def confirm(self, cast: Cast) -> None:
        """The cast is final: its text is sealed, and one for each expert is made of it.

        Where it is not the one that was generated, the discussion answers no request but its own.
        """
        manifest = self._records.manifest(self._id)
        if manifest.request_hash and manifest.more.get("proposed", _digest(cast)) != _digest(cast):
            self._records.change(self._id, request_hash="")
        self._records.seal(self._id, CAST, cast)
        for expert in cast.experts:
            self._records.put(self._id, f"personas/{expert.id}.json", expert)
        self._update(cast=cast)

    @property
    def confirmed(self) -> bool:
        """Whether the cast is final."""
        return self._records.sealed(self._id, CAST, Cast) is not None

    # --- rounds ---

    def keep_step(self, held: DiscussionRound, step: Step | None = None) -> None:
        """A step ended (`step`), or the user said something after it (None)."""
        self._records.keep_partial(self._id, held.number, held, cleaned=True)
        before = self.record.partial.messages if self.record.partial else ()
        self.record = self.record.model_copy(update={"partial": held})  # counted with the round
        self._records.append(self._id, PROGRESS, step_text(held, held.messages[len(before) :], step))

    def keep_round(self, held: DiscussionRound) -> None:
        """A round is whole."""
        self._records.keep_round(self._id, held.number, held, cleaned=True)
        self._update(rounds=(*self.record.rounds, held), partial=None)
        self._records.change(self._id, usage=self.record.usage, seconds=self.record.seconds)
        self._records.append(self._id, PROGRESS, round_text(held))
        self._records.put(self._id, SUMMARY, summary(self.record), cleaned=True)

    def keep_choice(self, choice: Choice) -> None:
        """What comes next."""
        self._update(choices=(*self.record.choices, choice))
        self._more(choices=[each.model_dump(mode="json") for each in self.record.choices])
        self._records.append(self._id, PROGRESS, choice_text(choice))

    def conclude(self, conclusion: Conclusion) -> None:
        """It is concluded: the synthesis is sealed."""
        self._records.seal(self._id, SYNTHESIS, conclusion)
        self._update(conclusion=conclusion)
        self._records.append(self._id, PROGRESS, synthesis_text(conclusion))

    def complete(self) -> None:
        """It is over, and all of its files are written."""
        self._update(status="complete", why="")
        self._write_artifacts()
        usage, seconds = self.record.usage, self.record.seconds
        self._records.change(self._id, status="complete", why="", usage=usage, seconds=seconds)

    def stand(self, status: Status, why: str = "") -> None:
        """How it stands now, and why."""
        self._update(status=status, why=why)
        self._records.change(self._id, status=status, why=why, usage=self.record.usage, seconds=self.record.seconds)
        if status != "open" and all_rounds(self.record):
            self._write_artifacts()

    def _more(self, **fields: Any) -> None:
        self._records.change(self._id, more={**self._records.manifest(self._id).more, **fields})

    def _update(self, **fields: object) -> None:
        self.record = _counted(self.record.model_copy(update=fields))

    def _write_artifacts(self) -> None:
        for name, text in artifacts(self.record).items():
            self._records.put(self._id, name, text, cleaned=True)

    def _progress(self) -> str:
        """All of progress.md, from the record: a kill may have come between a step and its line."""
        rounds = [*self.record.rounds, *([self.record.partial] if self.record.partial else [])]
        parts = [HEAD.format(one_line(self.record.discussion.topic))]
        for held in rounds:
            at = list(zip(places(held), held.messages, strict=True))
            for slot, step in zip(slots(held.done), held.done, strict=True):
                spoken = [each for place, each in at if place[1] == slot]
                parts.append(step_text(held, [each for each in spoken if not each.human], step))
                parts += [step_text(held, [each], None) for each in spoken if each.human]
            parts += [round_text(held)] if held.measured else []
            parts += [choice_text(each) for each in self.record.choices if each.after == held.number]
        return "".join([*parts, *([synthesis_text(self.record.conclusion)] if self.record.conclusion else [])])


def _digest(cast: Cast) -> str:
    return digest(canonical(cast.model_dump(mode="json")))


def _proposed(records: Records, id: str) -> Cast | None:  # noqa: A002 - as above
    """The cast that nobody has confirmed yet.

    Raises:
        LedgerError: it was changed by hand, and is none any more.
    """
    text = records.get(id, PROPOSED)
    try:
        return Cast.model_validate_json(text) if text else None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise LedgerError(f"{records.place(id, PROPOSED)} is no cast: `{place}`: {first['msg']}") from None


def _counted(record: DiscussionRecord) -> DiscussionRecord:
    """The record with what all of it took."""
    rounds = [*record.rounds, *([record.partial] if record.partial else [])]
    used = [message.usage for held in rounds for message in held.messages]
    used += [each.usage for each in (record.cast, record.conclusion) if each]
    seconds = sum(each.seconds for each in rounds) + (record.conclusion.seconds if record.conclusion else 0)
    return record.model_copy(update={"usage": sum(used, Usage()), "seconds": round(seconds, 4)})
