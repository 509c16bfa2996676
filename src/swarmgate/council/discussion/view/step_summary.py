"""Summarises a step of a round that is whole: its name, what happened in one to three sentences, and the key takeaway.

All of it is counted or quoted from the messages of the step; no model is asked for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.council.discussion.argument.graph import summary_of
from swarmgate.council.discussion.model import Message, Relation, ShiftKind, Step
from swarmgate.council.views.formatting import many

QUOTED = 200
"""Characters of a message in a takeaway."""

NAMES = {
    Step.POSITION: "position declarations",
    Step.FRAME: "moderator's framing",
    Step.ARGUE: "expert arguments",
    Step.ATTACK: "contrarian's stress test",
    Step.ASK: "moderator's question",
    Step.RESPOND: "responses and position shifts",
    Step.ANALOGY: "cross-domain perspective",
    Step.STRESS: "contrarian's second stress test",
    Step.ASSESS: "quality gate",
    Step.RECORD: "historian's record",
}
"""What the steps are called to people."""


def summary(step: Step, messages: Sequence[Message]) -> str:
    """What happened in a step, in one to three sentences; `messages` are those of it, the user's not."""
    spoken = [each for each in messages if not each.failed]
    failed = [each.author for each in messages if each.failed]
    said = _happened(step, spoken) if spoken else "" if messages else "Nobody speaks in this step."
    return " ".join(filter(None, (said, f"No answer of {', '.join(failed)}." if failed else "")))


def takeaway(step: Step, messages: Sequence[Message]) -> str:
    """The most important point of a step; empty where nobody said anything that counts."""
    spoken = [each for each in messages if not each.failed]
    if not spoken:
        return ""
    match step:
        case Step.POSITION:
            surest = max(spoken, key=lambda each: (each.position and each.position.confidence) or 0)
            return f"the surest is {surest.author}: {_quoted(surest)}"
        case Step.FRAME if spoken[0].framing:
            return "; ".join(each.axis for each in spoken[0].framing.fault_lines)
        case Step.ARGUE:
            return _contested(spoken)
        case Step.RESPOND:
            return _moves(spoken)
        case Step.ASSESS if spoken[0].assessment:
            focus = spoken[0].assessment.focus
            if spoken[0].assessment.key_takeaway:
                return spoken[0].assessment.key_takeaway
            return f"the moderator recommends {spoken[0].assessment.recommendation}{f': {focus}' if focus else ''}"
    return _quoted(spoken[0])


def _happened(step: Step, spoken: Sequence[Message]) -> str:
    links = Counter(link.kind for each in spoken for link in each.links)
    linked = ", ".join(f"{links[kind]} {kind}" for kind in Relation if links[kind]) or "none"
    first = spoken[0]
    match step:
        case Step.POSITION:
            return f"{many(len(spoken), 'expert')} declared where they stand{_confidence(spoken)}."
        case Step.FRAME if first.framing:
            framing = first.framing
            asked = f" and puts {many(len(framing.questions), 'question')} to experts" if framing.questions else ""
            budget = f"Asked for is a disagreement of {framing.disagreement_budget} of 10."
            return f"The moderator names {many(len(framing.fault_lines), 'fault line')}{asked}. {budget}"
        case Step.ARGUE | Step.ATTACK | Step.STRESS | Step.ANALOGY:
            who = many(len(spoken), "expert") if step is Step.ARGUE else first.author
            verb = "argue" if len(spoken) > 1 else "speaks"
            return f"{who} {verb}, with links to {many(len(_linked(spoken)), 'message')} ({linked})."
        case Step.RESPOND:
            moved = sum(_moved(each) for each in spoken)
            return f"{many(len(spoken), 'expert')} responded; {moved} moved."
        case Step.ASSESS if first.assessment:
            scored = f"The moderator scores the round {first.assessment.overall} of 5."
            return " ".join(filter(None, (scored, one_line(first.assessment.summary))))
    return f"{first.author} speaks."


def _linked(messages: Sequence[Message]) -> set[str]:
    return {link.to for each in messages for link in each.links}


def _confidence(messages: Sequence[Message]) -> str:
    sure = [each.position.confidence for each in messages if each.position and each.position.confidence is not None]
    least_most = dict.fromkeys((f"{min(sure):.2f}", f"{max(sure):.2f}")) if sure else ()
    return f", with a confidence of {' to '.join(least_most)}" if sure else ""


def _contested(messages: Sequence[Message]) -> str:
    """Which message most counters go to."""
    countered = Counter(link.to for each in messages for link in each.links if link.kind is Relation.COUNTERS)
    if not countered:
        return "nobody countered anything"
    ((most, count),) = countered.most_common(1)
    return f"most countered is {most}, by {count} of {len(messages)}"


def _moves(messages: Sequence[Message]) -> str:
    """Who moved, because of what, to where."""
    moved = [
        f"{each.author} moved ({each.shift.kind}) because of {', '.join(each.shift.cites)}"
        + (f", to: {one_line(each.position.position)}" if each.position else "")
        for each in messages
        if each.shift and _moved(each)
    ]
    return cut("; ".join(moved), QUOTED, "...") or "nobody moved: the experts hold what they declared"


def _moved(message: Message) -> bool:
    return message.shift is not None and message.shift.kind is not ShiftKind.NONE and not message.shift.refused


def _quoted(message: Message) -> str:
    return cut(one_line(summary_of(message)), QUOTED, "...")
