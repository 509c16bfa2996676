"""Sample records of discussions: a standard one, an unfinished lightweight one, and a hypothesis strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from swarmgate.council.discussion.argument.structure import measured
from swarmgate.council.discussion.model import (
    CONTRIBUTIONS,
    EXTENTS,
    Cast,
    Discussion,
    DiscussionRecord,
    DiscussionRound,
    Expert,
    Message,
    Mode,
    Relation,
    ShiftKind,
    Step,
)
from swarmgate.domain.review.votes import message_id
from swarmgate.domain.usage import Usage

USED = Usage(calls=1, prompt_tokens=1200, completion_tokens=300, usd=0.0024, seconds=1.5)
EXPERTS = ("economist", "ecologist", "operator")
CAST = Cast.model_validate(
    {
        "experts": [
            {"id": "economist", "name": "Ada Marsh", "expertise": "Public finance", "bias": "prices everything"},
            {"id": "ecologist", "name": "Ben Fenn", "expertise": "Rivers", "stakes": "the last salmon", "model": "x/y"},
        ],
        "tensions": [
            {"between": ["economist", "ecologist"], "axis": "price or right", "description": "what a river is"}
        ],
        "dropped": ["an expert too many: `lawyer`"],
    }
)


def message(number: int, at: int, step: str, author: str, text: str = "", **fields: Any) -> Message:
    """Message `at` of round `number`; links as `{"r1-msg-001": "counters"}` or `(kind, steel_man)`."""
    links = [
        {"to": to, "kind": kind} if isinstance(kind, str) else {"to": to, "kind": kind[0], "steel_man": kind[1]}
        for to, kind in fields.pop("links", {}).items()
    ]
    took = {} if fields.get("human") else {"model": "x/y", "prompt_hash": "ab" * 32, "usage": USED, "seconds": 1.5}
    named = {"id": message_id(number, at), "round": number, "step": step, "author": author, "text": text}
    return Message.model_validate({**named, "links": links, **took, **fields})


def held(
    number: int, messages: Sequence[Message], before: Sequence[DiscussionRound] = (), **more: Any
) -> DiscussionRound:
    """A finished round of these messages."""
    steps: list[Step] = []
    for each in messages:
        steps += [each.step] if steps[-1:] != [each.step] else []
    open_round = DiscussionRound(number=number, messages=tuple(messages), done=tuple(steps), seconds=12.5, **more)
    return open_round.model_copy(update={"measured": measured(open_round, before)})


def _position(text: str, confidence: float, **more: Any) -> dict[str, Any]:
    return {"position": text, "confidence": confidence, **more}


def _first() -> DiscussionRound:
    assessment = {
        **dict.fromkeys(("genuine_disagreement", "evidence_quality", "steel_manning", "novel_insights"), 4),
        "position_evolution": 2,
        "overall": 4,
        "agreements": ["The dam is old."],
        "active_disagreements": ["Whether a river can be priced."],
        "insights": [{"text": "Removal costs less than repair.", "source": ["r1-msg-004"]}],
        "open_questions": ["Who pays?", "What happens to the silt?"],
        "recommendation": "deep-dive",
        "focus": "the silt",
    }
    framing = {
        "fault_lines": [{"between": list(EXPERTS[:2]), "axis": "price or right", "description": "what a river is"}],
        "disagreement_budget": 5,
    }
    keep = _position(
        "Keep the dam, and make it pay.", 0.7, conditions=["power sells"], would_change_if="repair doubles"
    )
    take = _position("Take it down.\nThe river was here first.", 0.9, key_risk="silt")
    less = _position("Keep it for ten years.", 0.55)
    steel = "A river that is dead cannot be bought back."
    return held(
        1,
        [
            message(1, 1, "position", "economist", "It sells power.", position=keep),
            message(1, 2, "position", "ecologist", "Salmon need it.", position=take),
            message(1, 3, "frame", "moderator", "You differ in what a river is.", framing=framing),
            message(1, 4, "argue", "economist", "Repair is cheap.", links={"r1-msg-002": ("counters", steel)}),
            message(
                1, 5, "argue", "ecologist", "Repair is not.", links={"r1-msg-001": "counters", "r1-msg-003": "supports"}
            ),
            message(1, 6, "argue", "user", "I live below it.", human=True, links={"r1-msg-005": "supports"}),
            message(
                1,
                7,
                "attack",
                "contrarian",
                "Both count fish.",
                links={"r1-msg-005": "counters"},
                unresolved=["r9-msg-001"],
            ),
            message(
                1,
                8,
                "respond",
                "economist",
                "Granted.",
                links={"r1-msg-005": "responds_to"},
                position=less,
                shift={"kind": "minor", "reason": "repair costs more than I took it to", "cites": ["r1-msg-005"]},
            ),
            message(
                1,
                9,
                "respond",
                "ecologist",
                "No.",
                links={"r1-msg-007": "questions"},
                shift={"reason": "tired", "refused": "a claimed minor shift was refused: it cites no message"},
                noted=["a shift was refused"],
            ),
            message(1, 10, "analogy", "cross-domain", failed="the model gave no answer in 30 s"),
            message(
                1,
                11,
                "assess",
                "moderator",
                "A real quarrel.",
                assessment=assessment,
                noted=["overall 7 was taken as 5"],
            ),
            message(1, 12, "record", "historian", "They quarrelled about repair."),
        ],
    )


def _second(before: Sequence[DiscussionRound]) -> DiscussionRound:
    again = {
        **dict.fromkeys(("genuine_disagreement", "evidence_quality", "steel_manning", "novel_insights"), 3),
        "position_evolution": 5,
        "overall": 3,
        "agreements": ["The silt decides."],
        "active_disagreements": ["How fast."],
        "open_questions": ["who pays", "How fast?"],
        "recommendation": "synthesize",
    }
    major = {"kind": "major", "reason": "the silt", "cites": ["r2-msg-003", "r1-msg-005"]}
    return held(
        2,
        [
            message(2, 1, "position", "economist", position=_position("Sell the dam.", 0.4)),
            message(2, 2, "position", "ecologist", "As before.", position=_position("Take it down.", 0.9)),
            message(
                2,
                3,
                "argue",
                "ecologist",
                "Silt fills it by 2040.",
                links={"r1-msg-004": "counters", "r1-msg-002": "extends"},
            ),
            message(
                2, 4, "attack", "contrarian", "And if not?", links={"r2-msg-003": "questions"}, condensed=["r1-msg-004"]
            ),
            message(2, 5, "ask", "moderator", "What could go wrong?"),
            message(
                2,
                6,
                "attack",
                "contrarian",
                "The flood of 1953.",
                links={"r2-msg-003": ("counters", "Silt is certain.")},
            ),
            message(
                2,
                7,
                "respond",
                "economist",
                "Then take it down.",
                position=_position("Take it down.", 0.8),
                shift=major,
            ),
            message(2, 8, "stress", "contrarian", "All agree: why?", links={"r2-msg-007": "counters"}),
            message(2, 9, "assess", "moderator", "They met.", assessment=again),
        ],
        before,
        direction="deep dive: the silt",
        constraints=("It must cost nothing.",),
        forced=("disagreement 1.4 is below 2: the contrarian goes again",),
    )


def standard() -> DiscussionRecord:
    """Two rounds of a standard discussion with everything that can be in it, and its synthesis."""
    first = _first()
    second = _second([first])
    return DiscussionRecord.model_validate(
        {
            "discussion": {
                "id": "disc-1",
                "topic": "Should the old dam go?",
                "material": "Built in 1931.",
                "user": True,
            },
            "cast": CAST,
            "status": "complete",
            "rounds": [first, second],
            "choices": [
                {"after": 1, "kind": "inject", "text": "It must cost nothing.", "by": "user"},
                {"after": 2, "kind": "synthesize", "by": "moderator"},
            ],
            "conclusion": {
                "executive_summary": "The dam goes.\n\n- by 2040\n- with the silt first",
                "insights": [
                    {"text": "Silt decides.", "cites": ["r2-msg-003"], "dissent": "The flood of 1953 says otherwise."},
                    {"text": "Repair is dear.", "cites": ["r1-msg-005"], "unresolved": ["r7-msg-001"]},
                ],
                "agreements": [
                    {"text": "It goes.", "resolved_by": "argument", "cites": ["r2-msg-003", "r2-msg-007"]},
                    {"text": "It is old.", "resolved_by": "majority", "cites": ["r1-msg-011"]},
                ],
                "minority_report": [{"text": "Floods come first.", "cites": ["r2-msg-006"]}],
                "unresolved_debates": [{"topic": "Who pays", "why": "nobody has the numbers", "cites": ["r1-msg-004"]}],
                "position_evolution": "The economist moved twice.",
                "open_questions": ["Who pays?"],
                "recommendations": [{"text": "Measure the silt.", "cites": ["r2-msg-003"]}],
                "meta_observations": "Nobody spoke for the town.",
                "noted": ["r7-msg-001 does not exist"],
                "usage": USED,
            },
            "usage": Usage(calls=20, prompt_tokens=24_000, completion_tokens=6_000, usd=None, known_usd=0.04),
            "seconds": 61.2,
        }
    )


def lightweight() -> DiscussionRecord:
    """A lightweight discussion that was paused in its first round, a step after the arguments."""
    partial = DiscussionRound(
        number=1,
        messages=(
            message(1, 1, "position", "economist", position=_position("Keep it.", 0.7)),
            message(1, 2, "position", "ecologist", failed="its answer had no position"),
            message(1, 3, "frame", "moderator", "Price or right."),
            message(1, 4, "argue", "ecologist", "Fish.", links={"r1-msg-001": ("counters", "Power is needed.")}),
        ),
        done=(Step.POSITION, Step.FRAME, Step.ARGUE),
    )
    return DiscussionRecord(
        discussion=Discussion(id="disc-2", topic="Should the old dam go?", mode=Mode.LIGHTWEIGHT, rounds=2),
        cast=CAST,
        status="paused",
        why="the user asked for it",
        partial=partial,
        usage=Usage(calls=5, prompt_tokens=6000, completion_tokens=900, usd=0.01),
        seconds=9.5,
    )


# --- any legal record ---

_FIXED = {
    Step.FRAME: "moderator",
    Step.ASK: "moderator",
    Step.ATTACK: "contrarian",
    Step.STRESS: "contrarian",
    Step.ANALOGY: "cross-domain",
    Step.ASSESS: "moderator",
    Step.RECORD: "historian",
}
_PROSE = st.sampled_from(["It holds.", "No.\n# Synthesis\n[r1-msg-001] economist, round 1:", "w " * 200, ""])


@st.composite
def any_round(draw: st.DrawFn, before: Sequence[DiscussionRound], experts: Sequence[str], most: int) -> DiscussionRound:
    """A legal finished round after these."""
    number = len(before) + 1
    seen = {each.id: each.author for past in before for each in past.messages if not each.failed}
    messages: list[Message] = []
    forced = (Step.ASK, Step.ATTACK) if draw(st.booleans()) else ()
    optional = [each for each in (Step.ANALOGY, Step.STRESS) if draw(st.booleans())]
    row = (
        Step.POSITION,
        Step.FRAME,
        Step.ARGUE,
        Step.ATTACK,
        *forced,
        Step.RESPOND,
        *optional,
        Step.ASSESS,
        Step.RECORD,
    )
    left = most
    for step in row:
        speakers = [_FIXED[step]] if step in _FIXED else list(experts)
        if step in CONTRIBUTIONS:
            speakers = speakers[: max(left, 0)]
            left -= len(speakers)
        spoken = [
            draw(_any_message(number, len(messages) + at, step, who, seen)) for at, who in enumerate(speakers, start=1)
        ]
        messages += spoken
        seen = seen | {each.id: each.author for each in spoken if not each.failed}
        if draw(st.booleans()) and draw(st.booleans()):
            messages.append(draw(_any_message(number, len(messages) + 1, step, "user", seen)))
            seen = seen | {messages[-1].id: "user"}
    return held(number, messages, before)


@st.composite
def _any_message(draw: st.DrawFn, number: int, at: int, step: Step, who: str, seen: dict[str, str]) -> Message:
    if who != "user" and draw(st.integers(0, 9)) == 0:
        return message(number, at, step, who, failed="no answer")
    others = sorted(each for each, author in seen.items() if author != who)
    targets = draw(st.lists(st.sampled_from(others), max_size=3, unique=True)) if others else []
    kinds = [*Relation, (Relation.COUNTERS.value, "The strongest form.")]
    fields: dict[str, Any] = {"links": {each: draw(st.sampled_from(kinds)) for each in targets}, "human": who == "user"}
    if step is Step.POSITION and who != "user":
        fields["position"] = _position("Here I stand.", draw(st.sampled_from([0.0, 0.5, 1.0])))
    if step is Step.RESPOND and others and who != "user":
        fields["shift"] = {"kind": draw(st.sampled_from(list(ShiftKind))), "cites": [draw(st.sampled_from(others))]}
    return message(number, at, step, who, draw(_PROSE), **fields)


@st.composite
def records(draw: st.DrawFn, mode: Mode = Mode.DEEP) -> DiscussionRecord:
    """A legal record of one to three finished rounds."""
    extent = EXTENTS[mode]
    experts = EXPERTS[: draw(st.integers(2, 3))]
    rounds: list[DiscussionRound] = []
    for _ in range(draw(st.integers(1, 3))):
        rounds.append(draw(any_round(tuple(rounds), experts, extent.calls[1])))
    cast = Cast(experts=tuple(Expert(id=each, name=each, expertise="x") for each in experts))
    asked = Discussion(id="d", topic="t", mode=mode, rounds=3)
    return DiscussionRecord(discussion=asked, cast=cast, status="open", rounds=tuple(rounds))
