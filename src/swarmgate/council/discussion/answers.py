"""What experts, contrarian and cross-domain answer, as typed fields: positions, arguments with links, responses.

Each reader gives a `Part`: the fields of the message that an answer makes. What the form asks for and the answer does
not have is asked for once more (`Unread`); where the answer still says something, it is kept without that, noted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from swarmgate.agents.participant import Unread
from swarmgate.council.discussion.argument import link_problem, steel_manned
from swarmgate.council.discussion.fields import Fields, fields
from swarmgate.council.discussion.model import Link, Position, Relation, Shift, ShiftKind
from swarmgate.council.discussion.values import (
    ID_KEYS,
    first_of,
    known,
    message_ids,
    number_of,
    prose_of,
    said_of,
    text_of,
    texts_of,
)
from swarmgate.council.objects import objects_of, squeezed
from swarmgate.domain.debate import MESSAGE_ID

Part = dict[str, Any]
"""Fields of a `Message`."""

_POSITION = ("position", "confidence", "conditions", "wouldChangeIf", "keyRisk")
POSITION_FORM = "Answer with one JSON object: " + json.dumps(
    {
        "position": "where you stand",
        "confidence": 0.7,
        "conditions": ["holds if"],
        "wouldChangeIf": "what would change your mind",
        "keyRisk": "the risk if you are wrong",
    }
)
_LINKS = ("links", "relations", "references", "cites", "steelMan")
LINKS_FORM = "Answer in prose, then one JSON object: " + json.dumps(
    {"links": [{"to": "r1-msg-002", "kind": "counters", "steelMan": "the strongest form of what you counter"}]}
)
_REASONS, _CITES = ("shiftReason", "reason"), ("shiftCites", "cites", "cite")
_SHIFT = ("shift", "positionShift", *_REASONS, *_CITES, *_POSITION)
RESPONSE_FORM = "Answer in prose, then one JSON object: " + json.dumps(
    {
        "links": [{"to": "r1-msg-002", "kind": "supports"}],
        "shift": {"kind": "minor", "reason": "why", "cites": ["r1-msg-002"]},
        "position": "where you stand now",
        "confidence": 0.6,
    }
)
_KINDS = {squeezed(each): each for each in Relation}
_SHIFTS = {squeezed(each): each for each in ShiftKind}
_DISSENT = (Relation.COUNTERS, Relation.QUESTIONS)
_NO_CONFIDENCE = "`confidence` must be a JSON number of 0 to 1, no word, no string and no percentage."


@dataclass(slots=True)
class _Read:
    """What is found in an answer: links, ids that were not shown, and what is wrong, a sentence each."""

    links: dict[tuple[str, Relation], Link] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the answers of `author`. `seen` are the authors of the messages that it was shown, by id."""

    author: str
    seen: Mapping[str, str]

    def position(self, text: str) -> Part:
        """A position declaration.

        Raises:
            Unread: it has no position; or no confidence that is a number of 0 to 1, then it is kept without, noted.
        """
        found, noted = fields(text, _POSITION, POSITION_FORM, required=("position",))
        if not text_of(found["position"]):
            raise Unread("`position` must be a text.", POSITION_FORM)
        position, problems = _position(found)
        part: Part = {"text": prose_of(text) or position.position, "position": position, "noted": noted}
        return _kept(part, problems, POSITION_FORM)

    def argument(self, text: str) -> Part:
        """An argument: prose and links.

        Raises:
            Unread: it links to nothing, a link is none, or a counter has no steel-man; kept without, asked once more.
        """
        part, problems = self._linked(text, *_optional(text, _LINKS))
        return _kept(part, problems or _uncited(part), LINKS_FORM)

    def attack(self, text: str) -> Part:
        """An attack: an argument that counters or questions something.

        Raises:
            Unread: as `argument`, or it neither counters nor questions; kept as it is, asked once more.
        """
        part, problems = self._linked(text, *_optional(text, _LINKS))
        if not any(each.kind in _DISSENT for each in part["links"]):
            problems.append("It neither counters nor questions any message that you were shown.")
        return _kept(part, problems, LINKS_FORM)

    def response(self, text: str) -> Part:
        """A response: prose, links, and how far the position shifted; a position that it states is kept with both.

        Raises:
            Unread: as `argument`, or the shift is none of the form, gives no reason, or cites nothing that moved it;
                then it is none.
        """
        read, conflict = _optional(text, (*_LINKS, *_SHIFT))
        part, problems = self._linked(text, read, conflict)
        shift, unresolved, wrong = self._shift(read.found)
        problems += [wrong] if wrong else []
        part["shift"] = shift
        part["unresolved"] = tuple(dict.fromkeys((*part["unresolved"], *unresolved)))
        if text_of(read.found.get("position")) and not shift.refused:
            part["position"], wrongs = _position(read.found)
            problems += wrongs
        return _kept(part, problems or _uncited(part), RESPONSE_FORM)

    # --- links ---

    def _linked(self, text: str, answer: Fields, conflict: str) -> tuple[Part, list[str]]:
        """Text and links of an answer, and what is wrong with them, a sentence each."""
        said, cut = said_of(text)
        if not said:
            raise Unread("Your answer has no prose.", LINKS_FORM)
        found, read = answer.found, _Read(problems=[conflict] if conflict else [])
        strong = text_of(found.get("steelman"))
        listed = _listed(first_of(found, "links", "relations"))
        counters = [each for each in listed if isinstance(each, Mapping) and _kind(each) is Relation.COUNTERS]
        for each in listed:
            if isinstance(each, Mapping):
                self._link(each, read, strong if len(counters) == 1 else "")
            else:
                self._mentioned(message_ids(each), read, typed=True)
        for key in ("references", "cites"):
            self._mentioned(message_ids(found.get(key)), read, typed=True)
        if read.unresolved:
            read.problems.append(f"You were shown no message {', '.join(read.unresolved[:5])}.")
        self._mentioned(MESSAGE_ID.findall(said), read, typed=False)
        noted = (*answer.noted, *([cut] if cut else []), *_weak(read.links.values()))
        part: Part = {"text": said, "links": tuple(read.links.values()), "noted": noted}
        return part | {"unresolved": tuple(dict.fromkeys(read.unresolved))}, read.problems

    def _link(self, each: Mapping[str, Any], read: _Read, strong: str) -> None:
        """A link as it was asked for."""
        to = next(iter(message_ids(first_of(each, *ID_KEYS))), "")
        kind = _kind(each)
        if not to or kind is None:
            read.problems.append(f"A link has a message id as `to` and a `kind` of {', '.join(Relation)}.")
            return
        steel_man = (text_of(each.get("steelman")) or strong) if kind is Relation.COUNTERS else ""
        link = Link(to=to, kind=kind, steel_man=steel_man)
        if to not in self.seen:
            read.unresolved.append(to)
        elif wrong := link_problem(link, self.author, self.seen):
            read.problems.append(f"{wrong}.")
        else:
            read.links.setdefault((to, kind), link)
            if kind is Relation.COUNTERS and not steel_man:
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

    def _shift(self, found: Mapping[str, Any]) -> tuple[Shift, tuple[str, ...], str]:
        """The shift of an answer, ids in it that were not shown, and what is wrong with it."""
        value = first_of(found, "shift", "positionshift")
        inner = value if isinstance(value, Mapping) else {"kind": value}
        kind = _SHIFTS.get(squeezed(text_of(first_of(inner, "kind", "shift", "positionshift", "type", "level"))))
        if kind is None:
            return Shift(), (), f"`shift` must have a `kind` of {', '.join(ShiftKind)}."
        fields_ = {**found, **inner} if isinstance(value, Mapping) else found
        reason = text_of(first_of(inner, "reason") or first_of(fields_, *map(squeezed, _REASONS)))
        cited = first_of(inner, "cites", "cite") or first_of(fields_, *map(squeezed, _CITES))
        cites, unresolved = known(message_ids(cited), self.seen)
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


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _kind(link: Mapping[str, Any]) -> Relation | None:
    return _KINDS.get(squeezed(text_of(first_of(link, "kind", "type", "relation"))))


def _weak(links: Collection[Link]) -> tuple[str, ...]:
    weak = [each.to for each in links if each.steel_man and not steel_manned(each)]
    return (f"a steel-man of fewer than three words counts as none: {', '.join(weak)}",) if weak else ()


def _optional(text: str, wanted: Collection[str]) -> tuple[Fields, str]:
    """The fields of an answer, none of prose alone; and what is wrong where two objects say different things."""
    try:
        return fields(text, wanted, LINKS_FORM), ""
    except Unread as unread:
        keys = set(map(squeezed, wanted))
        named = any(keys & each.keys() for each in objects_of(text))
        return Fields({}, ()), unread.problem if named else ""


def _uncited(part: Part) -> list[str]:
    return [] if part["links"] else ["It links to no message that you were shown: answer one of them."]


def _kept(part: Part, problems: list[str], form: str) -> Part:
    """The part, if nothing is wrong with it.

    Raises:
        Unread: something is; asked once more, it is kept with that noted.
    """
    if not problems:
        return part
    listed = tuple(dict.fromkeys(problems))
    noted = {**part, "noted": (*part.get("noted", ()), *listed)}
    raise Unread(" ".join(listed), form, otherwise=noted)


def _position(found: Mapping[str, Any]) -> tuple[Position, list[str]]:
    """The position of an answer that has one, and what is wrong with its confidence: it is unknown then."""
    confidence = number_of(found.get("confidence"))
    good = confidence is not None and 0 <= confidence <= 1
    position = Position(
        position=text_of(found.get("position")),
        confidence=confidence if good else None,
        conditions=texts_of(found.get("conditions")),
        would_change_if=text_of(found.get("wouldchangeif")),
        key_risk=text_of(found.get("keyrisk")),
    )
    return position, [] if good else [_NO_CONFIDENCE]
