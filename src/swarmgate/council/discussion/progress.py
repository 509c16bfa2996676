"""A discussion as it goes, for people: the sections of progress.md, and the few words of an event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmgate.agents.brief import cut, one_line
from swarmgate.domain.argument_graph import said
from swarmgate.domain.discussion import Choice, DiscussionRound, Message, ShiftKind, Step

HEAD = "# Discussion: {}\n"
GIST = 200
"""Characters of a message in progress.md, and of its beginning in an event."""


def step_text(held: DiscussionRound, messages: Sequence[Message], step: Step | None) -> str:
    """The section of a step that ended: who spoke, a line each; `step` None: only what the user added."""
    lines = [f"\n## Round {held.number}: {step}\n"] if step else []
    lines += [_line(each) for each in messages]
    lines += ["- nobody speaks in this step"] if step and not messages else []
    return "\n".join(lines) + "\n"


def choice_text(choice: Choice) -> str:
    """The line of a choice."""
    text = f": {one_line(choice.text)}" if choice.text else ""
    return f"\nAfter round {choice.after}, by the {choice.by}: {choice.kind}{text}\n"


def what(message: Message) -> str:
    """A few words on what a message comes to."""
    return ", ".join(_words(message))


def beginning(message: Message) -> str:
    """The first words of a message."""
    return cut(one_line(said(message)), GIST, "...")


def _words(message: Message) -> Iterable[str]:
    yield from dict.fromkeys(f"{each.kind} {each.to}" for each in message.links)
    if message.position:
        yield f"confidence {message.position.confidence:.2f}"
    if message.shift:
        refused = " (a shift was refused)" if message.shift.refused else ""
        yield "moved not" + refused if message.shift.kind is ShiftKind.NONE else f"moved: {message.shift.kind}"
    if message.framing:
        yield f"{len(message.framing.fault_lines)} fault lines, budget {message.framing.disagreement_budget} of 10"
    if message.assessment:
        yield f"overall {message.assessment.overall} of 5, recommends {message.assessment.recommendation}"


def _line(message: Message) -> str:
    if message.failed:
        return f"- {message.id} {message.author} gave no answer: {message.failed}"
    words = what(message)
    noted = f" [{'; '.join(message.noted)}]" if message.noted else ""
    return f"- {message.id} {message.author}{f' ({words})' if words else ''}: {beginning(message)}{noted}"
