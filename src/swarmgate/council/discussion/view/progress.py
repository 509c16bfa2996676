"""Renders a running discussion: the sections of progress.md, and short descriptions of events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.council.discussion.argument.graph import summary_of
from swarmgate.council.discussion.argument.structure import places, slots
from swarmgate.council.discussion.model import (
    Choice,
    Conclusion,
    DiscussionRecord,
    DiscussionRound,
    Message,
    Shift,
    ShiftKind,
    Step,
)
from swarmgate.council.discussion.view import phrases
from swarmgate.council.discussion.view.message import measured_line
from swarmgate.council.views.formatting import many

HEAD = "# Discussion: {}\n"
GIST = 200
"""Characters of a message in progress.md, and of its beginning in an event."""


def progress(record: DiscussionRecord) -> str:
    """All of progress.md: a section for each step that ended, in order."""
    parts = [HEAD.format(one_line(record.discussion.topic))]
    for held in phrases.all_rounds(record):
        parts += _sections(held)
        parts += [_choice_text(each) for each in record.choices if each.after == held.number]
    return "".join([*parts, *([_synthesis_text(record.conclusion)] if record.conclusion else [])])


def newest(held: DiscussionRound) -> str:
    """What the newest step of a round adds to it; where the round is whole, what was counted too."""
    return "".join(_sections(held, len(held.done) - 1))


def _sections(held: DiscussionRound, after: int = 0) -> list[str]:
    """A text for each step but the first ones, `after`, and what stands after the last one of a whole round."""
    at, parts = list(zip(places(held), held.messages, strict=True)), []
    for slot, step in [*zip(slots(held.done), held.done, strict=True)][after:]:
        spoken = [each for place, each in at if place[1] == slot]
        summary_of = _step_text(held, [each for each in spoken if not each.human], step)
        parts.append("".join([summary_of, *(_step_text(held, [each], None) for each in spoken if each.human)]))
    return [*parts, *([_round_text(held)] if held.measured else [])]


def _step_text(held: DiscussionRound, messages: Sequence[Message], step: Step | None) -> str:
    """The section of a step that ended: who spoke, a line each; `step` None: only what the user added."""
    lines = [f"\n## Round {held.number}: {step}\n"] if step else []
    lines += [_line(each) for each in messages]
    lines += ["- nobody speaks in this step"] if step and not messages else []
    return "\n".join(lines) + "\n"


def _round_text(held: DiscussionRound) -> str:
    """What stands after the last step of a round: which rules made somebody speak, or be silent; what was counted."""
    forced = [f"- a rule: {each}" for each in held.forced]
    counted = [f"- {measured_line(held.number, held.measured)}"] if held.measured else []
    return "\n".join(["", *forced, *counted]) + "\n"


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
    if message.position:
        sure = message.position.confidence
        yield f"confidence {'unknown' if sure is None else f'{sure:.2f}'}"
    if message.shift:
        yield _moved(message.shift)
    if message.framing:
        budget = f"budget {message.framing.disagreement_budget} of 10"
        yield f"{many(len(message.framing.fault_lines), 'fault line')}, {budget}"
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
