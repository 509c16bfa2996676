"""Parses answers of experts, contrarian and cross-domain expert: positions, arguments with links, responses.

Each form comes to a `Part`: the fields of the message that an answer makes. What the form asks for and the answer does
not have is asked for once more (`Unread`); where the answer still says something, it is kept without that, noted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swarmgate.agents.tools.answer_text import Unread, squeezed
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.council.discussion.answers.values import (
    ID_KEYS,
    Ids,
    Number,
    Spoken,
    Text,
    Texts,
    first_of,
    known,
    message_ids,
    text_of,
)
from swarmgate.council.discussion.argument.structure import link_problem, steel_manned
from swarmgate.council.discussion.model import Link, Position, Relation, Shift, ShiftKind
from swarmgate.council.participants.answer_prose import prose_of, shortened, text_under
from swarmgate.domain.review.votes import MESSAGE_ID

Part = dict[str, Any]
"""Fields of a `Message`."""

_KINDS = {squeezed(each): each for each in Relation}
_SHIFTS = {squeezed(each): each for each in ShiftKind}
_DISSENT = (Relation.COUNTERS, Relation.QUESTIONS)
_NO_CONFIDENCE = "`confidence` must be a JSON number of 0 to 1, no word, no string and no percentage."

Kind = Annotated[Relation | None, BeforeValidator(lambda value: _KINDS.get(squeezed(text_of(value))))]
Moved = Annotated[ShiftKind | None, BeforeValidator(lambda value: _SHIFTS.get(squeezed(text_of(value))))]


class Standing(Spoken):
    """Where a participant stands."""

    position: Text = Field("", description="Where you stand.")
    confidence: Number = Field(None, description="How often you would be right, from 0 to 1.")
    conditions: Texts = Field((), description="What it holds under.")
    would_change_if: Text = Field("", description="What would change your mind.")
    key_risk: Text = Field("", description="The risk if you are wrong.")

    def stand(self) -> tuple[Position, list[str]]:
        """The position, and what is wrong with its confidence: it is unknown then."""
        good = self.confidence is not None and 0 <= self.confidence <= 1
        position = Position(
            position=self.position,
            confidence=self.confidence if good else None,
            conditions=self.conditions,
            would_change_if=self.would_change_if,
            key_risk=self.key_risk,
        )
        return position, [] if good else [_NO_CONFIDENCE]


class Declaration(Standing):
    """A position declaration."""

    position: Text = Field(min_length=1, description="Where you stand.")


class Reference(Answer):
    """A link as an answer has it; `kind` is None where it is none of the known ones."""

    to: Ids = called(*ID_KEYS, default=(), description="The id of the message, such as r1-msg-002.")
    kind: Kind = called("kind", "type", "relation", default=None)
    steel_man: Text = Field("", description="Of a counter: the strongest form of what it counters.")


class Argument(Spoken):
    """An argument: prose and links."""

    text: Text = Field(description="What you say, in prose.")
    links: tuple[Reference, ...] = called("links", "relations", default=(), description="To messages of others.")
    references: Ids = Field((), description="Ids of further messages that you answer.")
    cites: Ids = ()
    steel_man: Text = Field("", description="That of the only counter, where it has none of its own.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; links that are ids alone are references."""
        read = super().fields_in(found)
        given = read.get("links", ())
        listed = given if isinstance(given, list) else [given] if given else []
        ids = [each for one in listed if not isinstance(one, Mapping) for each in message_ids(one)]
        read["links"] = [each for each in listed if isinstance(each, Mapping)]
        read["references"] = (*ids, *message_ids(read.get("references")))
        return read


class Movement(Answer):
    """A shift as an answer has it."""

    kind: Moved = called("kind", "shift", "positionShift", "type", "level", default=None)
    reason: Text = called("reason", "shiftReason", default="", description="Why you moved.")
    cites: Ids = called("cites", "cite", "shiftCites", default=(), description="Ids of the messages that moved you.")


class Response(Argument, Standing):
    """A response: prose, links, how far the position shifted, and where the participant stands now."""

    shift: Movement = called("shift", "positionShift", description="Whether it moved you: none, minor or major.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; reason and ids of a shift may stand beside it, and it may be its kind alone."""
        read = super().fields_in(found)
        shift = read.get("shift")
        inner = dict(shift) if isinstance(shift, Mapping) else {"kind": shift}
        inner["reason"] = first_of(inner, "reason") or first_of(found, "shiftreason", "reason")
        inner["cites"] = first_of(inner, "cites", "cite") or first_of(found, "shiftcites", "cites", "cite")
        return {**read, "shift": inner}

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """Those of its fields, and of what may stand beside a shift."""
        return (*super().spellings(), "shiftreason", "reason", "shiftcites", "cite")


@dataclass(slots=True)
class _Read:
    """What is found in an answer: links, ids that were not shown, and what is wrong, a sentence each."""

    links: dict[tuple[str, Relation], Link] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reader:
    """The forms of the answers of `author`. `seen` are the authors of the messages that it was shown, by id."""

    author: str
    seen: Mapping[str, str]

    @property
    def position(self) -> Form[Declaration, Part]:
        """A position declaration; without a confidence that is a number of 0 to 1 it is kept without, noted."""
        return Form(Declaration, _declared, prose=prose_of)

    @property
    def argument(self) -> Form[Argument, Part]:
        """An argument. One that links to nothing, or counters without a steel-man, is kept, asked once more."""
        return Form(Argument, self._argued, prose=text_under, optional=True)

    @property
    def attack(self) -> Form[Argument, Part]:
        """An attack: an argument that counters or questions something; one that does not is kept, asked once more."""
        return Form(Argument, self._attacked, prose=text_under, optional=True)

    @property
    def response(self) -> Form[Response, Part]:
        """A response; a shift without a reason, or that cites nothing that moved it, is none, asked once more."""
        return Form(Response, self._responded, prose=text_under, optional=True)

    # --- what answers come to ---

    def _argued(self, given: Argument) -> Part:
        part, problems = self._linked(given)
        return _checked_part(part, problems or _uncited(part))

    def _attacked(self, given: Argument) -> Part:
        part, problems = self._linked(given)
        if not any(each.kind in _DISSENT for each in part["links"]):
            problems.append("It neither counters nor questions any message that you were shown.")
        return _checked_part(part, problems)

    def _responded(self, given: Response) -> Part:
        part, problems = self._linked(given)
        shift, unresolved, wrong = self._shift(given.shift)
        problems += [wrong] if wrong else []
        part["shift"] = shift
        part["unresolved"] = tuple(dict.fromkeys((*part["unresolved"], *unresolved)))
        if given.position and not shift.refused:
            part["position"], wrongs = given.stand()
            problems += wrongs
        return _checked_part(part, problems or _uncited(part))

    # --- links ---

    def _linked(self, given: Argument) -> tuple[Part, list[str]]:
        """Text and links of an answer, and what is wrong with them, a sentence each."""
        text, cut = shortened(given.text)
        if not text:
            raise Unread("Your answer has no prose.")
        read = _Read(problems=[given.conflict] if given.conflict else [])
        alone = sum(each.kind is Relation.COUNTERS for each in given.links) == 1
        for each in given.links:
            self._link(each, read, given.steel_man if alone else "")
        self._mentioned((*given.references, *given.cites), read, typed=True)
        if read.unresolved:
            read.problems.append(f"You were shown no message {', '.join(read.unresolved[:5])}.")
        self._mentioned(MESSAGE_ID.findall(text), read, typed=False)
        noted = (*given.noted, *([cut] if cut else []), *_weak(read.links.values()))
        part: Part = {"text": text, "links": tuple(read.links.values()), "noted": noted}
        return part | {"unresolved": tuple(dict.fromkeys(read.unresolved))}, read.problems

    def _link(self, each: Reference, read: _Read, strong: str) -> None:
        """A link as it was asked for."""
        to = next(iter(each.to), "")
        if not to or each.kind is None:
            read.problems.append(f"A link has a message id as `to` and a `kind` of {', '.join(Relation)}.")
            return
        steel_man = (each.steel_man or strong) if each.kind is Relation.COUNTERS else ""
        link = Link(to=to, kind=each.kind, steel_man=steel_man)
        if to not in self.seen:
            read.unresolved.append(to)
        elif wrong := link_problem(link, self.author, self.seen):
            read.problems.append(f"{wrong}.")
        else:
            read.links.setdefault((to, each.kind), link)
            if each.kind is Relation.COUNTERS and not steel_man:
                read.problems.append(f"You counter {to} without a `steelMan`, the strongest form of what it says.")

    def _mentioned(self, ids: Collection[str], read: _Read, *, typed: bool) -> None:
        """Ids without a kind: those that nothing else links to are answered; an own one is no link."""
        linked = {to for to, _ in read.links}
        for to in ids:
            if to not in self.seen:
                # What is listed and is no id at all says where something was read, not which message.
                read.unresolved += [to] if not typed or MESSAGE_ID.fullmatch(to) else []
            elif to not in linked and self.seen[to] != self.author:
                link = Link(to=to, kind=Relation.RESPONDS_TO)
                read.links.setdefault((to, link.kind), link)

    # --- shifts ---

    def _shift(self, given: Movement) -> tuple[Shift, tuple[str, ...], str]:
        """The shift of an answer, ids in it that were not shown, and what is wrong with it."""
        kind, reason = given.kind, given.reason
        if kind is None:
            return Shift(), (), f"`shift` must have a `kind` of {', '.join(ShiftKind)}."
        cites, unresolved = known(given.cites, self.seen)
        moved_by = tuple(each for each in cites if self.seen[each] != self.author)
        if kind is ShiftKind.NONE:
            return Shift(reason=reason, cites=moved_by), unresolved, ""
        if not moved_by:
            why = f"a claimed {kind} shift was refused: it cites no message that moved it"
            problem = f"A {kind} shift must cite, in `shift.cites`, a message of another voice that moved you."
            return Shift(reason=reason, refused=why), unresolved, problem
        if not reason:
            why = f"a claimed {kind} shift was refused: it gives no reason"
            return Shift(refused=why), unresolved, f"A {kind} shift must say why, in `shift.reason`."
        return Shift(kind=kind, reason=reason, cites=moved_by), unresolved, ""


def _declared(given: Declaration) -> Part:
    position, problems = given.stand()
    text = shortened(given.text)[0] or position.position
    return _checked_part({"text": text, "position": position, "noted": given.noted}, problems)


def _weak(links: Collection[Link]) -> tuple[str, ...]:
    weak = [each.to for each in links if each.steel_man and not steel_manned(each)]
    return (f"a steel-man of fewer than three words counts as none: {', '.join(weak)}",) if weak else ()


def _uncited(part: Part) -> list[str]:
    return [] if part["links"] else ["It links to no message that you were shown: answer one of them."]


def _checked_part(part: Part, problems: list[str]) -> Part:
    """The part, if nothing is wrong with it.

    Raises:
        Unread: something is; asked once more, it is kept with that noted.
    """
    if not problems:
        return part
    listed = tuple(dict.fromkeys(problems))
    raise Unread(" ".join(listed), otherwise={**part, "noted": (*part.get("noted", ()), *listed)})
