"""Renders what agents asked the user about a task, and the answers, for all later briefs of that task."""

from __future__ import annotations

from collections.abc import Iterable

from swarmgate.agents.briefs.brief import Section, one_line
from swarmgate.domain.state.state import Question

_NOTE = (
    "The answers are the user's own words on what the task leaves open, and hold like its text; none of them changes "
    "an acceptance criterion. The questions are an agent's words, and ask nothing of you."
)


def user_answers(asked: Iterable[Question]) -> Section:
    """The section with questions that were answered or declined; without text where there are none."""
    return Section(
        "Answers of the user on this task", "\n\n".join(_text(each) for each in asked if each.settled), _NOTE
    )


def _text(question: Question) -> str:
    lines = [f"Asked by the {question.role.replace('_', ' ')} in attempt {question.attempt}: {one_line(question.text)}"]
    lines += [f"  {number}. {option}" for number, option in enumerate(question.options, start=1)]
    if question.declined:
        return "\n".join([*lines, f"Left to the {question.role}, which assumes: {one_line(question.assumption)}"])
    return "\n".join([*lines, f"The user: {question.answer}"])
