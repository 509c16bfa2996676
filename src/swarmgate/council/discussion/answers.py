"""What experts, contrarian and cross-domain answer, as typed fields: positions, arguments with links, responses.

Each reader gives a `Part`: the fields of the message that an answer makes. What the form asks for and the answer does
not have is asked for once more (`Unread`); where the answer still says something, it is kept without that, noted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from swarmgate.agents.participant import Unread
from swarmgate.council.discussion.values import (
    dicts_of,
    first_of,
    ids_of,
    known,
    number_of,
    prose_of,
    shortened,
    text_of,
    texts_of,
)
from swarmgate.council.objects import fields_of, objects_of, squeezed
from swarmgate.domain.argument import link_problem
from swarmgate.domain.discussion import Link, Position, Relation, Shift, ShiftKind

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
_LINKS = ("text", "argument", "links", "relations")
LINKS_FORM = "Answer in prose, then one JSON object: " + json.dumps(
    {"links": [{"to": "r1-msg-002", "kind": "counters", "steelMan": "the strongest form of what you counter"}]}
)
_SHIFT = ("shift", "positionShift", "position", "confidence", "conditions", "wouldChangeIf", "keyRisk")
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


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the answers of `author`. `seen` are the authors of the messages that it was shown, by id."""

    author: str
    seen: Mapping[str, str]

    def position(self, text: str) -> Part:
        """A position declaration.

        Raises:
            Unread: it has no position, or no confidence that is a number of 0 to 1.
        """
        found = fields_of(text, _POSITION, POSITION_FORM, required=("position", "confidence"))
        position = _position(found)
        if position is None:
            raise Unread(
                "`position` must be a text and `confidence` a JSON number of 0 to 1, no word and no string.",
                POSITION_FORM,
            )
        return {"text": prose_of(text) or position.position, "position": position}

    def argument(self, text: str) -> Part:
        """An argument: prose and links.

        Raises:
            Unread: it links to nothing, a link is none, or a counter has no steel-man; kept without, asked once more.
        """
        part, problems = self._linked(text, _optional(text, _LINKS))
        return _kept(part, problems or _uncited(part), LINKS_FORM)

    def attack(self, text: str) -> Part:
        """An attack: an argument that counters or questions something.

        Raises:
            Unread: as `argument`, or it neither counters nor questions; kept as it is, asked once more.
        """
        part, problems = self._linked(text, _optional(text, _LINKS))
        if not any(each.kind in _DISSENT for each in part["links"]):
            problems.append("It neither counters nor questions any message that you were shown.")
        return _kept(part, problems, LINKS_FORM)

    def response(self, text: str) -> Part:
        """A response: prose, links, and how far the position shifted.

        Raises:
            Unread: as `argument`, or the shift is none of the form, or cites nothing that moved it; then it is none.
        """
        found = _optional(text, (*_LINKS, *_SHIFT))
        part, problems = self._linked(text, found)
        shift, unresolved, wrong = self._shift(found)
        problems += [wrong] if wrong else []
        part["shift"] = shift
        part["unresolved"] = tuple(dict.fromkeys((*part["unresolved"], *unresolved)))
        if shift.kind is not ShiftKind.NONE and text_of(found.get("position")):
            part["position"] = _position(found)
            if part["position"] is None:
                problems.append("`confidence` must be a JSON number of 0 to 1, beside the new `position`.")
        return _kept(part, problems or _uncited(part), RESPONSE_FORM)

    def _linked(self, text: str, found: Mapping[str, Any]) -> tuple[Part, list[str]]:
        """Text and links of an answer, and what is wrong with them, a sentence each."""
        said, cut = shortened(prose_of(text) or text_of(first_of(found, "text", "argument")))
        if not said:
            raise Unread("Your answer has no prose.", LINKS_FORM)
        links: dict[tuple[str, Relation], Link] = {}
        problems: list[str] = []
        unresolved: list[str] = []
        for each in dicts_of(first_of(found, "links", "relations")):
            to = next(iter(ids_of(first_of(each, "to", "target", "id", "messageid", "message"))), "")
            kind = _KINDS.get(squeezed(text_of(first_of(each, "kind", "type", "relation"))))
            if not to or kind is None:
                problems.append(f"A link has a message id as `to` and a `kind` of {', '.join(Relation)}.")
                continue
            steel_man = text_of(each.get("steelman")) if kind is Relation.COUNTERS else ""
            link = Link(to=to, kind=kind, steel_man=steel_man)
            if to not in self.seen:
                unresolved.append(to)
            elif wrong := link_problem(link, self.author, self.seen):
                problems.append(f"{wrong}.")
            else:
                links.setdefault((to, kind), link)
                if kind is Relation.COUNTERS and not steel_man:
                    problems.append(f"You counter {to} without a `steelMan`, the strongest form of what it says.")
        if unresolved:
            problems.append(f"You were shown no message {', '.join(unresolved[:5])}.")
        part: Part = {"text": said, "links": tuple(links.values()), "unresolved": tuple(dict.fromkeys(unresolved))}
        return part | ({"noted": (cut,)} if cut else {}), problems

    def _shift(self, found: Mapping[str, Any]) -> tuple[Shift, tuple[str, ...], str]:
        """The shift of an answer, ids in it that were not shown, and what is wrong with it."""
        value = first_of(found, "shift", "positionshift")
        fields = value if isinstance(value, Mapping) else {"kind": value}
        kind = _SHIFTS.get(squeezed(text_of(first_of(fields, "kind", "shift", "type"))))
        if kind is None:
            return Shift(), (), f"`shift` must have a `kind` of {', '.join(ShiftKind)}."
        reason = text_of(fields.get("reason"))
        cites, unresolved = known(ids_of(fields.get("cites")), self.seen)
        moved_by = tuple(each for each in cites if self.seen[each] != self.author)
        if kind is ShiftKind.NONE:
            return Shift(reason=reason, cites=moved_by), unresolved, ""
        if not moved_by:
            why = f"a {kind} shift that cites no message that moved it"
            problem = f"A {kind} shift must cite, in `shift.cites`, a message of another voice that moved you."
            return Shift(reason=reason, refused=why), unresolved, problem
        return Shift(kind=kind, reason=reason, cites=moved_by), unresolved, ""


def _optional(text: str, wanted: Collection[str]) -> Mapping[str, Any]:
    """The fields of an answer; prose alone has none.

    Raises:
        Unread: two objects say different things.
    """
    keys = set(map(squeezed, wanted))
    return fields_of(text, wanted, LINKS_FORM) if any(keys & each.keys() for each in objects_of(text)) else {}


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


def _position(found: Mapping[str, Any]) -> Position | None:
    """The position of an answer; None: it has none, or its confidence is no number of 0 to 1."""
    position, confidence = found.get("position"), number_of(found.get("confidence"))
    if not isinstance(position, str) or not position.strip() or confidence is None or not 0 <= confidence <= 1:
        return None
    return Position(
        position=position,
        confidence=confidence,
        conditions=texts_of(found.get("conditions")),
        would_change_if=text_of(found.get("wouldchangeif")),
        key_risk=text_of(found.get("keyrisk")),
    )
