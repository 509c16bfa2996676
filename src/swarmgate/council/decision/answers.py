"""Parses answers in a decision: a participant's stance or vote, and the facilitator's synthesis of a round.

No number and no word is taken out of prose, and nothing is guessed: an `agreement` that is a text (`"85%"`, `"1/10"`),
a number beyond 0 to 1, a stand in other words than the few that are known, or an option that was never put is no
answer, nor is an object that does not end the text. The participant is asked once more, told what is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.agents.tools.answer_text import Unread, squeezed
from swarmgate.agents.tools.answers import TEXT, Answer, Form, called
from swarmgate.council.decision.model import VOTING, Decision, DecisionSeat, Stand, Strategy

MOST_PROPOSAL = 4_000
"""Characters of a proposal that are kept."""

_MOST_POINTS = 20
_POINT = 500
_MOST_LENGTH = 60
_EVEN = 0.5

_STAND = re.compile(r"(agree|disagree|abstain)(?:s|d|ed)?", re.IGNORECASE)
_HEDGED = re.compile(r"agree|abstain", re.IGNORECASE)
"""What makes a text under a name of `stand`, where it is no stand, no answer: `I do not agree` beside another one."""

_STAND_KEYS = ("stand", "vote", "stance", "decision", "position", "verdict", "agreement")
_SURE_STANDS = _STAND_KEYS[:3]
_LEVEL_KEYS = ("agreement", "agreementlevel", "agreementscore")
_OTHER_LEVELS = ("level", "score", "value")
_LABEL = re.compile(r"\(?([A-J]|10|[1-9])[).:]?", re.IGNORECASE)
"""A letter or a number alone, as the options are shown: `B`, `(b)`, `2.`."""


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """The typed part of a contribution."""

    agreement: float | None = None
    stand: Stand | None = None
    approves: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()


class Contribution(Answer):
    """What every contribution has: reasons in prose, which are all of an answer in text."""

    text: str = Field(description="Your reasons, in at most 250 words.")

    @property
    def said(self) -> TypedAnswer:
        """Its typed part."""
        return TypedAnswer(**self.model_dump(exclude={TEXT}))


class Stance(Contribution):
    """How far a participant agrees."""

    agreement: float = called(*_LEVEL_KEYS, *_OTHER_LEVELS[:2], ge=0, le=1, description="0 not at all, 1 fully.")
    stand: Stand = called(*_STAND_KEYS, description="agree goes with 0.5 or more, disagree with 0.5 or less.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The level and the stand, each the one that all its names and the objects under them give."""
        inner = (found.get(key) for key in dict.fromkeys((*_STAND_KEYS, *_LEVEL_KEYS)))
        tables = [found, *(each for each in inner if isinstance(each, dict))]
        level, stand = _level(tables), _stand(tables)
        if (stand is Stand.AGREE and level < _EVEN) or (stand is Stand.DISAGREE and level > _EVEN):
            raise Unread(f'`stand` is "{stand}" and `agreement` is {level:g}: that is a contradiction. Mend one.')
        return {TEXT: found.get(TEXT), "agreement": level, "stand": stand}


class Ballot(Contribution):
    """A vote on options. Who abstains names none, or says so under a name of `stand`."""

    options: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """Those of its fields, and of a stand."""
        return (*super().spellings(), *_STAND_KEYS)


class Approval(Ballot):
    """Every option that a participant could live with."""

    approves: tuple[str, ...] = called(
        *("approves", "approvals", "approved", "approve", "approvedOptions"),
        description="Every option that you could live with; an empty list is a vote for none.",
    )

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The options as they were put."""
        return {TEXT: found.get(TEXT), "approves": _ballot(found, cls.spelt("approves"), _approved, cls.options)}


class Ranking(Ballot):
    """The options from the best down."""

    ranking: tuple[str, ...] = called(
        *("ranking", "rankings", "ranked", "order"),
        description="The options from the best down, each once; without those that you could not live with.",
    )

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The options as they were put."""
        return {TEXT: found.get(TEXT), "ranking": _ballot(found, cls.spelt("ranking"), _ranked, cls.options)}


class Synthesis(Answer):
    """What a facilitator proposes, and what it sees as open."""

    proposal: str = called("proposal", "synthesis", "summary", description="What was decided, or what is decided next.")
    open_points: tuple[str, ...] = Field((), description="What is still open, one point an entry.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The proposal, perhaps an object with a text and the points, and the points that are texts."""
        read = super().fields_in(found)
        given = read.get("proposal", "")
        table: Mapping[str, Any] = given if isinstance(given, dict) else {"text": given}
        proposed, points = table.get("text"), read.get("open_points", table.get("openpoints"))
        if not isinstance(proposed, str) or not proposed.strip():
            raise Unread("`proposal` is missing in your answer, or no text.")
        kept = [one_line(each) for each in _as_list(points) if isinstance(each, str) and each.strip()]
        listed = tuple(cut(each, _POINT, "...") for each in kept[:_MOST_POINTS])
        return {"proposal": cut(proposed.strip(), MOST_PROPOSAL, " ..."), "open_points": listed}


PROPOSAL = Form(Synthesis, lambda given: (given.proposal, given.open_points))
"""How a facilitator answers."""


def form_of(decision: Decision, seat: DecisionSeat | None = None) -> Form[Any, tuple[str, TypedAnswer]]:
    """The form of an answer: its text and typed fields; `seat`: of whom, None: an object may name any author."""
    schema: type[Contribution] = Stance
    if decision.strategy in VOTING:
        base: type[Ballot] = Approval if decision.strategy is Strategy.APPROVAL else Ranking
        schema = base.knowing(options=decision.options)
    return Form(
        schema,
        lambda given: (given.text, given.said),
        asked=asked_for(decision),
        prose=str,
        closing=True,
        author=(seat.id, seat.role) if seat else (),
    )


def asked_for(decision: Decision) -> str:
    """What a contribution of this decision gives, in words and by example."""
    if decision.strategy not in VOTING:
        return (
            'End with one JSON object: {"agreement": 0.8, "stand": "agree"}. `agreement` is a JSON number from 0 to 1, '
            '`stand` one of "agree", "disagree", "abstain"; agree goes with 0.5 or more, disagree with 0.5 or less.'
        )
    some = json.dumps(list(decision.options[:2]), ensure_ascii=False)
    if decision.strategy is Strategy.APPROVAL:
        return (
            f'End with one JSON object: {{"approves": {some}}}. List every option that you could live with, word for '
            'word or by its letter; an empty list, or {"stand": "abstain"}, is a vote for none.'
        )
    return (
        f'End with one JSON object: {{"ranking": {some}}}. List the options from the best down, word for word or by '
        'letter, each once; leave out what you could not live with. {"stand": "abstain"} ranks none.'
    )


def lettered(options: Sequence[str]) -> str:
    """The options as they are shown, one a line: `A. text`; as they are where one of them looks like such a letter."""
    return "\n".join(_lettered(at, options) for at in range(len(options)))


# --- inside ---


def _level(tables: Sequence[Mapping[str, Any]]) -> float:
    """The one level that is given, from 0 to 1."""
    levels = [each for at, table in enumerate(tables) for each in _levels(table, inner=at > 0)]
    if not levels:
        raise Unread("`agreement` is missing in the JSON object of your answer.")
    for each in levels:
        if isinstance(each, bool) or not isinstance(each, int | float) or not 0 <= each <= 1:
            raise Unread(f"`agreement` is {_shortened(each)}: it is a JSON number from 0 to 1.")
    if len(set(levels)) > 1:
        raise Unread("Your answer gives two different levels of `agreement`. Give one.")
    return float(levels[0])


def _levels(table: Mapping[str, Any], *, inner: bool) -> list[Any]:
    """What stands for a level; words that are read otherwise count only where nothing else does."""
    named = [table[key] for key in _LEVEL_KEYS if table.get(key) is not None]
    sure = [each for each in named if not isinstance(each, dict) and _known(each) is None]
    others = [key for key in _OTHER_LEVELS if inner or key != "value"]
    return sure or [table[key] for key in others if table.get(key) is not None]


def _stand(tables: Sequence[Mapping[str, Any]]) -> Stand:
    """The one stand that is given; what is none (`"decision": "Use SQLite"`) says nothing here."""
    given = [(key, table[key]) for table in tables for key in _STAND_KEYS if table.get(key) is not None]
    stands = {stand for _, value in given if (stand := _known(value))}
    for key, value in given:
        hedged = isinstance(value, str) and key in _SURE_STANDS and _HEDGED.search(value)
        if _known(value) is None and (hedged or (key in _SURE_STANDS and not stands)):
            raise Unread(f"{_shortened(value)} is no stand.")
    if not stands:
        raise Unread("`stand` is missing in the JSON object of your answer.")
    if len(stands) > 1:
        raise Unread("Your answer gives two different stands. Give one.")
    return stands.pop()


def _known(value: Any) -> Stand | None:
    word = _STAND.fullmatch(value.strip(" \t\n.,;:!*_`")) if isinstance(value, str) else None
    return Stand(word[1].lower()) if word else None


# --- ballots ---


def _ballot(
    found: Mapping[str, Any],
    keys: Sequence[str],
    read: Callable[[Any, Sequence[str]], list[str]],
    options: Sequence[str],
) -> tuple[str, ...]:
    """The options on a ballot, as they were put, in order. Another spelling of the key counts where it can be read."""
    ballots: list[list[str]] = []
    failed: Unread | None = None
    for key in (each for each in keys if found.get(each) is not None):
        try:
            ballots.append(read(found[key], options))
        except Unread as unread:
            if key == keys[0]:
                raise
            failed = failed or unread
    abstains = any(_known(found.get(key)) is Stand.ABSTAIN for key in _STAND_KEYS)
    if not ballots and not abstains:
        raise failed or Unread(f"`{keys[0]}` is missing in the JSON object of your answer.")
    if any(each != ballots[0] for each in ballots):
        raise Unread(f"`{keys[0]}` and another key of your answer say two different things. Give one.")
    named = tuple(ballots[0]) if ballots else ()
    if abstains and named:
        raise Unread(f"You abstain, and `{keys[0]}` names options: that is a contradiction. Mend one.")
    if len(set(named)) < len(named):
        raise Unread(f"`{keys[0]}` names an option twice.")
    return named


def _approved(value: Any, options: Sequence[str]) -> list[str]:
    """`["SQLite"]`, `"SQLite"`, or `{"SQLite": true, "Postgres": false}`."""
    if isinstance(value, dict):
        if not all(isinstance(each, bool) for each in value.values()):
            raise Unread(f"`approves` is {_shortened(value)}: beside each option stands true or false.")
        named = {_keyed(key, options): each for key, each in value.items()}
        return [option for option in options if named.get(option)]
    if not isinstance(value, list | str):
        raise Unread(f"`approves` is {_shortened(value)}: it is a list.")
    return [_option(each, options) for each in _as_list(value)]


def _ranked(value: Any, options: Sequence[str]) -> list[str]:
    """`["SQLite", "Postgres"]`, `[{"option": "SQLite", "rank": 1}, ...]`, or `{"SQLite": 1, "Postgres": 2}`."""
    if isinstance(value, dict):
        return _in_order([(each, _keyed(key, options)) for key, each in value.items()])
    if not isinstance(value, list):
        raise Unread(f"`ranking` is {_shortened(value)}: it is a list.")
    tables = [each for each in value if isinstance(each, dict)]
    if len(tables) < len(value) or not value:
        return [_option(each, options) for each in value]
    named = [_option(each.get("option", each.get("name")), options) for each in tables]
    if not any("rank" in each for each in tables):
        return named
    return _in_order([(each.get("rank"), name) for each, name in zip(tables, named, strict=True)])


def _in_order(ranked: Sequence[tuple[Any, str]]) -> list[str]:
    """The options by their ranks, which count from 1 without a gap: points are none."""
    ranks = [rank for rank, _ in ranked]
    if any(isinstance(each, bool) or not isinstance(each, int) for each in ranks):
        raise Unread("A rank in `ranking` is no whole number.")
    if sorted(ranks) != list(range(1, len(ranks) + 1)):
        raise Unread(f"The ranks in `ranking` are not 1 to {len(ranks)}, each once.")
    return [name for _, name in sorted(ranked)]


def _keyed(key: str, options: Sequence[str]) -> str:
    """The option that a key stands for, which has lost its blanks and signs (`squeezed`)."""
    shown = {option: (squeezed(option), squeezed(_lettered(at, options))) for at, option in enumerate(options)}
    meant = {option for option, spelled in shown.items() if key in spelled}
    label = _LABEL.fullmatch(key)
    if label and _labelled(options) and (at := _place(label[1])) < len(options):
        meant.add(options[at])
    if len(meant) > 1:
        raise Unread(f"{_shortened(key)} may be {' or '.join(sorted(meant))}: name options in a list.")
    return meant.pop() if meant else _option(key, options)


def _option(value: Any, options: Sequence[str]) -> str:
    """The option that is meant: by its words or as it is shown, else by its letter or number."""
    spelled = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(spelled, str):
        plain = _blankless(spelled)
        for at, option in enumerate(options):
            if plain in (_blankless(option), _blankless(_lettered(at, options))):
                return option
        label = _LABEL.fullmatch(spelled.strip())
        if label and _labelled(options) and (at := _place(label[1])) < len(options):
            return options[at]
    raise Unread(f"{_shortened(value)} is none of the options.", f"They are:\n{lettered(options)}")


def _labelled(options: Sequence[str]) -> bool:
    """Whether letters can stand for the options: none of these looks like one."""
    return not any(_LABEL.fullmatch(each.strip()) for each in options)


def _lettered(at: int, options: Sequence[str]) -> str:
    return f"{chr(ord('A') + at)}. {options[at]}" if _labelled(options) else f"- {options[at]}"


def _blankless(text: str) -> str:
    return "".join(text.split()).casefold()


def _place(label: str) -> int:
    return int(label) - 1 if label.isdigit() else ord(label.upper()) - ord("A")


def _shortened(value: Any) -> str:
    return cut(one_line(json.dumps(value, ensure_ascii=False, default=str)), _MOST_LENGTH, "...")


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
