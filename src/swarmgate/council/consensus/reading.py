"""What a voice says where it stands, and what a facilitator makes of a round: typed fields of JSON objects alone.

No number and no word is taken out of prose, and nothing is guessed: an `agreement` that is a text (`"85%"`, `"1/10"`),
a number beyond 0 to 1, a stand in other words than the few that are known, or an option that was never put is no
answer. The voice is asked once more, told what is wrong.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarmgate.agents.brief import cut, one_line
from swarmgate.agents.participant import Unread
from swarmgate.council.objects import fields_of
from swarmgate.domain.consensus import VOTING, Decision, Stand, Strategy

MOST_TEXT = 12_000
"""Characters of one contribution that are kept and shown to the others."""

MOST_PROPOSAL = 4_000
"""Characters of a proposal that are kept."""

_MOST_POINTS = 20
_POINT = 500
_SHOWN = 60
_EVEN = 0.5

_STANDS = {
    **dict.fromkeys(("agree", "agreed", "agrees"), Stand.AGREE),
    **dict.fromkeys(("disagree", "disagreed", "disagrees"), Stand.DISAGREE),
    **dict.fromkeys(("abstain", "abstained", "abstains"), Stand.ABSTAIN),
}
_STAND_KEYS = ("stand", "vote", "stance", "decision")
_LEVEL_KEYS = ("level", "agreement", "value", "score")
_APPROVE_KEYS = ("approves", "approvals")
_LABEL = re.compile(r"\(?([A-J]|10|[1-9])[).:]?", re.IGNORECASE)
"""A letter or a number alone, as the options are shown: `B`, `(b)`, `2.`."""

_STANCE_FORM = (
    'End with one JSON object: {"agreement": 0.8, "stand": "agree"}. `agreement` is a JSON number from 0 to 1, `stand` '
    'one of "agree", "disagree", "abstain"; agree goes with 0.5 or more, disagree with 0.5 or less.'
)
_PROPOSAL_FORM = 'Answer with one JSON object: {"proposal": "...", "openPoints": ["..."]}.'


@dataclass(frozen=True, slots=True)
class Said:
    """The typed part of a contribution."""

    agreement: float | None = None
    stand: Stand | None = None
    approves: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()


def form_of(decision: Decision) -> str:
    """The object that a contribution of this decision ends with, in words and by example."""
    if decision.strategy not in VOTING:
        return _STANCE_FORM
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


def said(text: str, decision: Decision) -> Said:
    """The typed fields of a contribution.

    Raises:
        Unread: they are not there, cannot be read, or contradict each other.
    """
    form = form_of(decision)
    if decision.strategy is Strategy.APPROVAL:
        return Said(approves=_ballot(text, decision.options, _APPROVE_KEYS, form))
    if decision.strategy is Strategy.RANKED:
        return Said(ranking=_ballot(text, decision.options, ("ranking",), form))
    found = fields_of(text, ("agreement", *_STAND_KEYS), form)
    level, inner = _level(found.get("agreement"), form)
    stand = _stand(found, inner, form)
    if (stand is Stand.AGREE and level < _EVEN) or (stand is Stand.DISAGREE and level > _EVEN):
        raise Unread(f'`stand` is "{stand}" and `agreement` is {level:g}: that is a contradiction. Mend one.', form)
    return Said(agreement=level, stand=stand)


def proposal(text: str) -> tuple[str, tuple[str, ...]]:
    """What a facilitator proposes, and what it sees as open.

    Raises:
        Unread: there is no proposal.
    """
    found = fields_of(text, ("proposal", "openPoints"), _PROPOSAL_FORM, required=("proposal",))
    proposed, points = found["proposal"], found.get("openpoints")
    if not isinstance(proposed, str) or not proposed.strip():
        raise Unread("`proposal` is no text.", _PROPOSAL_FORM)
    listed = points if isinstance(points, list) else [points]
    kept = [one_line(each) for each in listed if isinstance(each, str) and each.strip()]
    return cut(proposed.strip(), MOST_PROPOSAL, " ..."), tuple(cut(each, _POINT, "...") for each in kept[:_MOST_POINTS])


def lettered(options: Sequence[str]) -> str:
    """The options as they are shown, one a line: `A. text`; as they are where one of them looks like such a letter."""
    return "\n".join(_as_shown(at, options) for at in range(len(options)))


# --- inside ---


def _level(value: Any, form: str) -> tuple[float, list[Any]]:
    """The level, and the stands that stand in the same object."""
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = [value[key] for key in _STAND_KEYS if value.get(key) is not None]
        levels = [value[key] for key in _LEVEL_KEYS if value.get(key) is not None]
        if len({repr(each) for each in levels}) > 1:
            raise Unread("`agreement` says two different levels. Say one.", form)
        value = levels[0] if levels else None
    if value is None:
        raise Unread("`agreement` is missing in the JSON object of your answer.", form)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= 1:
        raise Unread(f"`agreement` is {_shown(value)}: it is a JSON number from 0 to 1.", form)
    return float(value), inner


def _stand(found: Mapping[str, Any], inner: Sequence[Any], form: str) -> Stand:
    """The one stand that is given. Beside `stand` the other keys count only where they are one too."""
    own, *others = ([found[key]] if found.get(key) is not None else [] for key in _STAND_KEYS)
    beside = [each for other in others for each in other]
    firsts = [*own, *inner] or beside
    if not firsts:
        raise Unread("`stand` is missing in the JSON object of your answer.", form)
    for value in firsts:
        if _known(value) is None:
            raise Unread(f"{_shown(value)} is no stand.", form)
    stands = {stand for value in (*firsts, *beside) if (stand := _known(value))}
    if len(stands) > 1:
        raise Unread("Your answer gives two different stands. Give one.", form)
    return stands.pop()


def _known(value: Any) -> Stand | None:
    return _STANDS.get(value.strip().casefold()) if isinstance(value, str) else None


def _ballot(text: str, options: Sequence[str], keys: Sequence[str], form: str) -> tuple[str, ...]:
    """The options on a ballot, as they were put, in order."""
    found = fields_of(text, (*keys, *_STAND_KEYS), form)
    lists = [found[key] for key in keys if found.get(key) is not None]
    abstains = any(_known(found.get(key)) is Stand.ABSTAIN for key in _STAND_KEYS)
    if not lists and not abstains:
        raise Unread(f"`{keys[0]}` is missing in the JSON object of your answer.", form)
    if any(each != lists[0] for each in lists):
        raise Unread(f"`{keys[0]}` and `{keys[1]}` say two different things. Give one.", form)
    listed = lists[0] if lists else []
    if not isinstance(listed, list):
        raise Unread(f"`{keys[0]}` is {_shown(listed)}: it is a list.", form)
    named = tuple(_option(each, options, form) for each in listed)
    if abstains and named:
        raise Unread(f"You abstain, and `{keys[0]}` names options: that is a contradiction. Mend one.", form)
    if len(set(named)) < len(named):
        raise Unread(f"`{keys[0]}` names an option twice.", form)
    return named


def _option(value: Any, options: Sequence[str], form: str) -> str:
    """The option that is meant: by its words or as it is shown, else by its letter or number."""
    spelled = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(spelled, str):
        plain = _blankless(spelled)
        for at, option in enumerate(options):
            if plain in (_blankless(option), _blankless(_as_shown(at, options))):
                return option
        label = _LABEL.fullmatch(spelled.strip())
        if label and _labelled(options) and (at := _place(label[1])) < len(options):
            return options[at]
    raise Unread(f"{_shown(value)} is none of the options.", f"They are:\n{lettered(options)}\n{form}")


def _labelled(options: Sequence[str]) -> bool:
    """Whether letters can stand for the options: none of these looks like one."""
    return not any(_LABEL.fullmatch(each.strip()) for each in options)


def _as_shown(at: int, options: Sequence[str]) -> str:
    return f"{chr(ord('A') + at)}. {options[at]}" if _labelled(options) else f"- {options[at]}"


def _blankless(text: str) -> str:
    return "".join(text.split()).casefold()


def _place(label: str) -> int:
    return int(label) - 1 if label.isdigit() else ord(label.upper()) - ord("A")


def _shown(value: Any) -> str:
    return cut(one_line(json.dumps(value, ensure_ascii=False, default=str)), _SHOWN, "...")
