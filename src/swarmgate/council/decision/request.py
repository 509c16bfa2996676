"""Validates the request for a decision before a model is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from swarmgate.config import nearest
from swarmgate.config.setting_errors import unknown
from swarmgate.council.decision.model import THRESHOLDS, VOTING, Decision, DecisionSeat, Strategy
from swarmgate.council.discussion.model import Mode
from swarmgate.council.limits import (
    DEPTH,
    ITERATIONS,
    MATERIAL,
    PARTICIPANTS,
    PERSONA,
    ROUNDS,
    TOPIC,
    VOICE_SECONDS,
    WHOLE_SECONDS,
    Limit,
    sized,
    within,
)
from swarmgate.council.requests.seats import cast_of, checked
from swarmgate.errors import CouncilRefused
from swarmgate.project import Project

Participant = DecisionSeat | Mapping[str, Any] | str
"""A participant: a seat, its fields, or `ID` or `ID=provider/model`."""

PERSPECTIVES = {
    "builder": "You look at it as one who has to build it: what it takes, what gets simpler, what it shuts out.",
    "operator": "You look at it as one who has to keep it running: what breaks, who notices, how one goes back.",
    "user": "You look at it as one who uses the result: what gets better, what gets worse, what it costs to change.",
}
"""Who decides where nobody is named."""

OPTIONS = Limit(least=2, most=10)
"""Options of a vote."""

OPTION = Limit(least=1, most=500, unit="characters")
"""The text of one option."""

UNIT = Limit(least=0, most=1)
"""Weights, thresholds and levels."""

_MODES = ", ".join(each.value for each in Mode)


def decision_of(
    *,
    question: str,
    participants: Sequence[DecisionSeat | Mapping[str, Any]],
    strategy: str = Strategy.MAJORITY,
    facilitator: str | None = None,
    rounds: int = 3,
    timeout_s: float = 300,
    whole_s: float = 1800,
    **more: Any,
) -> Decision:
    """A decision that can be held.

    Args:
        question: what is decided.
        participants: 1 to 10, each with an id of its own.
        strategy: the value of a `Strategy`.
        facilitator: who decides, or synthesises; None: a participant of that name.
        rounds: 1 to 10.
        timeout_s: of one participant in one step, in seconds.
        whole_s: of all of it in one session, in seconds.
        more: the other fields of `Decision`.

    Raises:
        CouncilRefused: it cannot; the message names the parameter and its limit.
    """
    sized("question", question, TOPIC)
    within("participants", len(participants), PARTICIPANTS)
    within("rounds", rounds, ROUNDS)
    within("timeout_s", timeout_s, VOICE_SECONDS, whole=False)
    within("whole_s", whole_s, WHOLE_SECONDS, whole=False)
    _check_threshold(more.get("threshold"))
    fields: dict[str, Any] = {
        "question": question,
        "participants": tuple(seat_of(each, f"participants.{at + 1}") for at, each in enumerate(participants)),
        "strategy": _strategy(strategy),
        "rounds": rounds,
        "timeout_s": timeout_s,
        "whole_s": whole_s,
        **({} if facilitator is None else {"facilitator": facilitator}),
    }
    if facilitator is None and fields["strategy"] is Strategy.FACILITATOR:
        ids = ", ".join(each.id for each in fields["participants"])
        raise CouncilRefused(f"the strategy facilitator needs `facilitator`, who decides: one of {ids}")
    decision = checked(Decision, fields | more, "", first=1, words=_what)
    check(decision)
    return decision


def check(decision: Decision) -> None:
    """Whether a decision can be held, however it was made.

    Raises:
        CouncilRefused: it cannot; the message names the parameter and its limit.
    """
    sized("question", decision.question, TOPIC)
    sized("material", decision.material, MATERIAL)
    within("settled", decision.settled, UNIT, whole=False)
    within("timeout_s", decision.timeout_s, VOICE_SECONDS, whole=False)
    within("whole_s", decision.whole_s, WHOLE_SECONDS, whole=False)
    for at, seat in enumerate(decision.participants):
        sized(f"participants.{at + 1}.perspective", seat.perspective, PERSONA)
        sized(f"participants.{at + 1}.system", seat.system, PERSONA)
        if seat.human and (seat.model or seat.model_tier or seat.system or seat.discussion or seat.critique):
            raise CouncilRefused(
                f"`participants.{at + 1}` is `human`: a person has no model, no system text, and prepares without help"
            )
        if seat.discussion and seat.critique:
            raise CouncilRefused(f"`participants.{at + 1}` has `discussion` and `critique`: one of the two prepares it")
    _check_ids(decision)
    _check_strategy(decision)
    _check_options(decision)


def seat_of(given: DecisionSeat | Mapping[str, Any], name: str) -> DecisionSeat:
    """A participant; `name` is the parameter's, for messages.

    Raises:
        CouncilRefused: it is none; the message names field and limit.
    """
    if isinstance(given, DecisionSeat):
        return given
    check_depth(given, name)
    for key, limit in (("weight", UNIT), ("critique", Limit(least=0, most=ITERATIONS.most))):
        if given.get(key) is not None:
            within(f"{name}.{key}", given[key], limit, whole=key == "critique")
    return checked(DecisionSeat, dict(given), name, first=1, words=_what)


def check_depth(given: Any, name: str) -> None:
    """Whether a participant, as it was given, holds no patterns of its own; `name` is the parameter's, for messages.

    Raises:
        CouncilRefused: it does; the message names the limit.
    """
    if not isinstance(given, Mapping):
        return
    prepared_by = (given.get("discussion"), given.get("critique"))
    if "participants" in given or any(isinstance(each, Mapping) for each in prepared_by):
        raise CouncilRefused(
            f"`{name}` would nest further: the limit is {DEPTH.most:g} deep, the decision and what prepares it",
            hint=f"`discussion` is a mode ({_MODES}), `critique` a number of iterations.",
        )


# --- participants as they are given ---


def seats(
    participants: Sequence[Participant] | None, humans: Sequence[str], project: Project
) -> list[Mapping[str, Any]]:
    """The participants as tables, with what their agents and roles say, and the people who take part, too.

    Where no participant is named, the usual ones are there.

    Raises:
        CouncilRefused: as `cast_of`; or the name of a person is none, or takes part already.
    """
    given = list(PERSPECTIVES) if participants is None else participants
    found = cast_of(given, DecisionSeat.model_fields, project, lambda at, key: f"`participants.{at + 1}.{key}`: ")
    made = [
        {"perspective": PERSPECTIVES.get(str(each.get("id")), ""), **each} if isinstance(who, str) else each
        for who, each in zip(given, found, strict=True)
    ]
    for name in humans:
        if name in [each.get("id") for each in made if isinstance(each, Mapping)]:
            raise CouncilRefused(f"`humans`: {name[:100]} takes part already", hint="Give one of the two another name.")
        person = {"id": name, "human": True}
        checked(DecisionSeat, person, "humans", words=_what)
        made.append(person)
    return made


def facilitator_of(given: str | None, project: Project, system: str = "") -> dict[str, Any]:
    """Who sums up each round, `ID` or `ID=provider/model`, as the fields of a decision; `system` is said to it, too.

    Raises:
        CouncilRefused: as `cast_of`.
    """
    if not given:
        return {"facilitator": None, "facilitator_system": system}
    seat = cast_of([given], DecisionSeat.model_fields, project, lambda _, key: f"`{key}`: ", name="facilitator")[0]
    return {
        "facilitator": seat["id"],
        "facilitator_model": seat.get("model", ""),
        "facilitator_system": "\n\n".join(filter(None, (seat.get("system", ""), system))),
    }


def weighed(
    seats: Sequence[DecisionSeat | Mapping[str, Any]], weights: Mapping[str, float]
) -> list[DecisionSeat | Mapping[str, Any]]:
    """The participants with these weights over their own.

    Raises:
        CouncilRefused: a weight is for nobody.
    """
    fields = [each.model_dump() if isinstance(each, DecisionSeat) else dict(each) for each in seats]
    known = [str(each.get("id")) for each in fields]
    for name in weights:
        if name not in known:
            close = nearest(name, known)
            meant = f"did you mean `{close}`?" if close else f"known here: {', '.join(known)}"
            raise CouncilRefused(f"`weights` names {name[:100]!r}, who does not take part; {meant}")
    return [
        {**each, "weight": weights[name]} if name in weights else each for name, each in zip(known, fields, strict=True)
    ]


# --- inside ---


def _check_ids(decision: Decision) -> None:
    ids = [each.id for each in decision.participants]
    for at, each in enumerate(ids):
        if each in ids[:at]:
            raise CouncilRefused(
                f"`participants.{at + 1}.id`: {each} takes part already: every participant has an id of its own",
                hint="Give one of the two another id.",
            )
    if decision.strategy is Strategy.FACILITATOR and decision.facilitator not in ids:
        raise CouncilRefused(
            f"`facilitator` is {decision.facilitator!r}, and the strategy facilitator lets a participant decide: "
            f"{', '.join(ids)}",
            hint=f"Name one of them, such as {nearest(decision.facilitator, ids) or ids[0]}: `facilitator`",
        )


def _check_strategy(decision: Decision) -> None:
    strategy = decision.strategy
    if decision.threshold is not None and strategy not in THRESHOLDS:
        raise CouncilRefused(
            f"`threshold` is {decision.threshold:g}, and the strategy {strategy} reads none",
            hint=f"Leave it out, or take one of: {', '.join(THRESHOLDS)}",
        )
    if strategy is Strategy.WEIGHTED and not sum(each.weight for each in decision.participants):
        raise CouncilRefused(
            "the weights of `participants` sum to 0: the strategy weighted needs a sum above 0",
            hint="Give at least one participant a weight above 0; the limit of each is 0 to 1.",
        )


def _check_options(decision: Decision) -> None:
    options = decision.options
    if decision.strategy not in VOTING:
        if options:
            raise CouncilRefused(
                f"`options` are given, and the strategy {decision.strategy} has no vote on options",
                hint=f"Leave them out, or take one of: {', '.join(sorted(VOTING))}",
            )
        return
    within("options", len(options), OPTIONS)
    for at, each in enumerate(options):
        sized(f"options.{at + 1}", each, OPTION)
    twice = [each for each, times in Counter("".join(each.split()).casefold() for each in options).items() if times > 1]
    if twice:
        raise CouncilRefused(f"`options` has {twice[0]!r} twice: every option differs by more than case and blanks")


def _check_threshold(threshold: Any) -> None:
    if threshold is None:
        return
    within("threshold", threshold, UNIT, whole=False)
    if not threshold:
        raise CouncilRefused("`threshold` is 0: the limit is above 0, to 1")


def _strategy(given: Any) -> Strategy:
    try:
        return Strategy(given)
    except ValueError:
        close = nearest(str(given)[:100], list(Strategy))
        meant = f"Did you mean {close}? " if close else ""
        raise CouncilRefused(
            f"`strategy` is {str(given)[:100]!r}, and there is none of that name",
            hint=f"{meant}They are: {', '.join(Strategy)}",
        ) from None


def _what(first: Any, model: Any) -> str:
    key = str(first["loc"][-1]) if first["loc"] else ""
    match first["type"]:
        case "extra_forbidden":
            return unknown(key, model.model_fields)
        case "enum" if key == "discussion":
            return f"there is no such mode; they are: {_MODES}"
    return ""
