"""Renders a running discussion: the sections of progress.md, and short descriptions of events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.council.discussion.argument.graph import summary_of
from swarmgate.council.discussion.argument.structure import places, slots
from swarmgate.council.discussion.findings import Conclusion, Reopening
from swarmgate.council.discussion.model import (
    Choice,
    DiscussionRecord,
    DiscussionRound,
    Extent,
    Message,
    Shift,
    ShiftKind,
    Step,
)
from swarmgate.council.discussion.view import entries, phrases
from swarmgate.council.discussion.view.message import measured_line
from swarmgate.council.discussion.view.step_summary import NAMES, summary, takeaway
from swarmgate.council.views.formatting import many

HEAD = "# Discussion: {}\n"
GIST = 200
"""Characters of a message in progress.md, and of its beginning in an event."""


def progress(record: DiscussionRecord) -> str:
    """All of progress.md: a section for each step that ended, in order."""
    parts = [HEAD.format(one_line(record.discussion.topic))]
    for held in phrases.all_rounds(record):
        parts += _sections(held, record.discussion.extent)
        parts += [reopening_text(each) for each in record.reopenings if each.after == held.number]
        parts += [_choice_text(each) for each in record.choices if each.after == held.number]
    return "".join([*parts, *([_synthesis_text(record.conclusion)] if record.conclusion else [])])


def newest(held: DiscussionRound, extent: Extent) -> str:
    """What the newest step of a round adds to it; where the round is whole, what was counted too."""
    return "".join(_sections(held, extent, len(held.done) - 1))


def step_line(held: DiscussionRound, step: Step) -> str:
    """What came of the newest step of a round, in a line: its name, what happened, and the key takeaway."""
    spoken = _spoken(held, len(held.done) - 1)
    point = takeaway(step, spoken)
    told = f"round {held.number}, {NAMES[step]}: {summary(step, spoken)}"
    return f"{told} Key takeaway: {point}" if point else told


def _sections(held: DiscussionRound, extent: Extent, after: int = 0) -> list[str]:
    """A text for each step but the first ones, `after`, and what stands after the last one of a whole round."""
    at, parts = list(zip(places(held), held.messages, strict=True)), []
    for slot, step in [*zip(slots(held.done), held.done, strict=True)][after:]:
        spoken = [each for place, each in at if place[1] == slot]
        of_step = _step_text(held, [each for each in spoken if not each.human], step)
        parts.append("".join([of_step, *(_step_text(held, [each], None) for each in spoken if each.human)]))
    return [*parts, *([_round_text(held, extent)] if held.measured else [])]


def _spoken(held: DiscussionRound, at: int) -> list[Message]:
    """The messages of a finished step of a round, the user's not."""
    slot = [*slots(held.done)][at]
    return [
        each for place, each in zip(places(held), held.messages, strict=True) if place[1] == slot and not each.human
    ]


def _step_text(held: DiscussionRound, messages: Sequence[Message], step: Step | None) -> str:
    """The section of a step that ended: what happened, who spoke, a line each, and the key takeaway.

    `step` None: only what the user added.
    """
    if step is None:
        return "\n".join(map(_line, messages)) + "\n"
    point = takeaway(step, messages)
    lines = [f"\n## Round {held.number}: {step}\n", f"{_capital(NAMES[step])}: {summary(step, messages)}\n"]
    lines += [_line(each) for each in messages]
    lines += [f"\n**Key takeaway**: {one_line(point)}"] if point else []
    return "\n".join(lines) + "\n"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _round_text(held: DiscussionRound, extent: Extent) -> str:
    """What stands after the last step of a round: which rules made somebody speak, or be silent; what was counted."""
    counted = [f"- {measured_line(held.number, held.measured)}"] if held.measured else []
    counted += [f"- {phrases.calls(held, extent)}"]
    forced = [f"- a rule: {each}" for each in held.forced]
    found = [f"- {one_line(each)}" for each in phrases.advice(held)]
    return "\n".join(["", *forced, *counted, *found]) + "\n"


def reopening_text(reopening: Reopening) -> str:
    """The section of a discussion that the moderator took up again."""
    told = [f"- {one_line(each)}" for each in entries.reopening(reopening)]
    return "\n".join([f"\n## Taken up after round {reopening.after}\n", *told]) + "\n"


def _synthesis_text(conclusion: Conclusion) -> str:
    """The section of the synthesis; all of it is in the artifacts."""
    noted = [f"- {one_line(each)}" for each in conclusion.noted]
    return (
        "\n".join(["\n## Synthesis\n", f"- {conclusion.author}: {one_line(conclusion.executive_summary)}", *noted])
        + "\n"
    )


def _choice_text(choice: Choice) -> str:
    """The line of a choice."""
    return f"\n{one_line(phrases.choice(choice))}\n"


def what(message: Message) -> str:
    """A short description of a message."""
    return ", ".join(_words(message))


def beginning(message: Message) -> str:
    """The first words of a message."""
    return cut(one_line(summary_of(message)), GIST, "...")


def _words(message: Message) -> Iterable[str]:
    yield from dict.fromkeys(f"{each.kind} {each.to}" for each in message.links)
    if message.position and message.position.confidence is not None:
        yield f"confidence {message.position.confidence:.2f}"
    elif message.step is Step.POSITION and message.position:
        yield "confidence unknown"
    if message.shift:
        yield _moved(message.shift)
    if message.framing:
        budget = f"budget {message.framing.disagreement_budget} of 10"
        asked = f"{many(len(message.framing.questions), 'question')}, " if message.framing.questions else ""
        yield f"{many(len(message.framing.fault_lines), 'fault line')}, {asked}{budget}"
    if message.assessment:
        yield f"overall {message.assessment.overall} of 5, recommends: {message.assessment.recommendation}"


def _moved(shift: Shift) -> str:
    if shift.refused:
        return f"unmoved: {shift.refused}"
    return "unmoved" if shift.kind is ShiftKind.NONE else f"moved: {shift.kind}"


def _line(message: Message) -> str:
    if message.failed:
        return f"- {message.id} {message.author} gave no answer: {message.failed}"
    told = what(message)
    noted = f" [{'; '.join(message.noted)}]" if message.noted else ""
    return f"- {message.id} {message.author}{f' ({told})' if told else ''}: {beginning(message)}{noted}"
