"""Schemas of the answers of experts, contrarian and cross-domain expert: positions, arguments, responses.

An argument may come as prose beside its fields, or in fields alone: a stance with its reasoning, proposals,
counterpoints and questions. Then its prose is put together from these, and nothing that was said is lost.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swarmgate.agents.tools.answer_text import squeezed
from swarmgate.agents.tools.answers import TEXT, Answer, called
from swarmgate.council.discussion.answers.values import (
    ID_KEYS,
    Ids,
    Number,
    Spoken,
    Text,
    Texts,
    first_of,
    message_ids,
    one_of,
    text_of,
    texts_of,
)
from swarmgate.council.discussion.model import Position, Relation, ShiftKind

NO_CONFIDENCE = "`confidence` must be a JSON number of 0 to 1, no word, no string and no percentage."
NO_CONDITION = "`wouldChangeIf` must name what one could find out that would change your mind."

_DENIAL = re.compile(
    r"\W*(?:no|none|nothing|never|nobody)(?:\W+(?:all|anything|argument|at|can|change|convince|could|ever|evidence|i|it|me"
    r"|mind|move|my|of|one|persuade|position|really|stance|sway|that|think|this|view|whatsoever|will|would))*\W*",
    re.IGNORECASE,
)
"""A text that names no condition: it denies, and has none but the words of a denial."""

_BLANK = frozenset(("na", "null", "false", "tbd", "unknown"))
"""What stands for nothing at all, as `squeezed`."""

_KINDS = {squeezed(each).rstrip("s"): each for each in Relation} | {"reference": Relation.RESPONDS_TO}

_RELATION = ("kind", "type", "relation")
_WHY, _BY = ("reason", "shiftreason", "reasoning"), ("cites", "cite", "trigger")
_WHOLE = ("argument", "content", "message", "response", "reply", "statement", "claim", "analogy")
"""Keys under which an answer has all that it says, the likeliest first."""

_PARTS = {
    "reasoning": "",
    "proposals": "Proposals:",
    "counterpoints": "Counterpoints:",
    "questions": "Questions:",
    "codeordiagrams": "",
}
"""Keys under which it has a part of that, and what stands above."""

Kind = Annotated[Relation | None, BeforeValidator(lambda value: _KINDS.get(squeezed(text_of(value)).rstrip("s")))]
Moved = Annotated[ShiftKind | None, one_of(ShiftKind)]


class Standing(Spoken):
    """Where a participant stands."""

    position: Text = Field("", description="Where you stand.")
    confidence: Number = Field(None, description="How often you would be right, from 0 to 1.")
    conditions: Texts = Field((), description="What it holds under.")
    would_change_if: Text = Field("", description="What one could find out that would change your mind.")
    key_risk: Text = Field("", description="The risk if you are wrong.")

    def stand(self) -> tuple[Position, list[str]]:
        """The position, and what is wrong with its confidence: it is unknown then."""
        good = self.confidence is not None and 0 <= self.confidence <= 1
        position = Position(
            position=self.position,
            confidence=self.confidence if good else None,
            conditions=self.conditions,
            would_change_if=condition(self.would_change_if),
            key_risk=self.key_risk,
        )
        return position, [] if good else [NO_CONFIDENCE]


class Declaration(Standing):
    """A position declaration. One that nothing could change is asked for once more."""

    position: Text = Field(min_length=1, description="Where you stand.")


class Reference(Answer):
    """A link as an answer has it; `kind` is None where it is none of the known ones."""

    to: Ids = called(*ID_KEYS, default=(), description="The id of the message, such as r1-msg-002.")
    kind: Kind = called(*_RELATION, default=None)
    steel_man: Text = Field("", description="Of a counter: the strongest form of what it counters.")
    comment: Text = Field("", description="Why.")


class Argument(Spoken):
    """An argument: prose and links."""

    text: Text = Field(description="What you say, in prose.")
    links: tuple[Reference, ...] = called("links", "relations", default=(), description="To messages of others.")
    references: Ids = Field((), description="Ids of further messages that you answer.")
    cites: Ids = ()
    steel_man: Text = Field("", description="That of the only counter, where it has none of its own.")
    would_change_if: Text = Field("", description="What one could find out that would change your mind.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; references with a relation are links, and links that are ids alone are references."""
        found = _unfolded(found, cls.spellings())
        read = super().fields_in(found)
        links: list[Any] = []
        ids: list[Any] = []
        for key in ("links", "references"):
            for each in _listed(read.get(key)):
                is_link = isinstance(each, Mapping) and (key == "links" or first_of(each, *_RELATION) is not None)
                (links if is_link else ids).append(each)
        stance = "" if "position" in cls.model_fields else text_of(found.get("position"))
        said = "\n\n".join(_said(text_of(read.get(TEXT)), stance, found))
        return {**read, "links": links, "references": message_ids(ids), **({TEXT: said} if said else {})}

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """Those of its fields, and of what its prose may stand under."""
        return (*super().spellings(), *_WHOLE, *_PARTS, "position", "reason")


class Movement(Answer):
    """A shift as an answer has it."""

    kind: Moved = called("kind", "shift", "positionShift", "type", "level", default=None)
    reason: Text = called("reason", "shiftReason", "reasoning", default="", description="Why you moved.")
    cites: Ids = called(
        "cites", "cite", "shiftCites", "trigger", default=(), description="Ids of the messages that moved you."
    )
    previous_position: Text = Field("", description="Where you stood before.")


class Response(Argument, Standing):
    """A response: prose, links, how far the position shifted, and where the participant stands now."""

    position: Text = Field("", description="Where you stand now.")
    shift: Movement = called("shift", "positionShift", description="Whether it moved you: none, minor or major.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; what belongs to a shift may stand beside it, and it may be its kind alone."""
        found = _unfolded(found, cls.spellings())
        shift = first_of(found, "shift", "positionshift")
        inner = dict(shift) if isinstance(shift, Mapping) else {"kind": shift}
        inner["reason"] = first_of(inner, *_WHY) or first_of(found, "shiftreason", "reason")
        inner["cites"] = first_of(inner, *_BY) or first_of(found, "shiftcites", *_BY)
        inner["previousposition"] = first_of({**found, **inner}, "previousposition") or inner.get("from")
        position = first_of({**found, **inner}, "currentposition", "position") or inner.get("to")
        return super().fields_in({**found, "shift": inner, "position": position})

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """Those of its fields, and of what may stand beside a shift."""
        beside = ("shiftreason", "shiftcites", "cite", "trigger", "currentposition", "previousposition")
        return (*super().spellings(), *beside)


def condition(text: str) -> str:
    """What would change a mind, as it is named; empty where that is nothing."""
    names_none = not re.search(r"\w", text) or squeezed(text) in _BLANK or _DENIAL.fullmatch(text)
    return "" if names_none else text


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _unfolded(found: Mapping[str, Any], known: Collection[str]) -> Mapping[str, Any]:
    """The fields of an answer with those of objects that stand where its prose may; one without known ones is prose."""
    for key in _WHOLE:
        inner = found.get(key)
        if isinstance(inner, Mapping):
            beside = {name: value for name, value in found.items() if name != key}
            found = {**inner, **beside} if inner.keys() & set(known) else {**beside, key: text_of(inner)}
    return found


def _said(prose: str, stance: str, found: Mapping[str, Any]) -> Iterator[str]:
    """What an answer says: its stance and prose, and each of its parts that does not stand in that; else why."""
    whole = next((text_of(found[key]) for key in _WHOLE if isinstance(found.get(key), str | list)), "")
    parts = [(head, texts_of(found.get(key))) for key, head in _PARTS.items()]
    told = ["\n".join([head, *(f"- {each}" for each in texts)] if head else texts) for head, texts in parts if texts]
    said: list[str] = []
    for each in (prose, whole, *told):
        said += [each] if each and not any(each in other for other in said) else []
    said = said or [text_of(first_of(found, "position", "reason"))]
    yield from filter(None, [*([] if any(stance in each for each in said) else [stance]), *said])
