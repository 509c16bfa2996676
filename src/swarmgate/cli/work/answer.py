"""`swarm answer`: answers a question, so that the next run goes on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.errors import UsageError
from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.domain.state.state import Question
    from swarmgate.engine.swarm import Swarm
    from swarmgate.terminal.terminal import Terminal


def command(
    question: Annotated[
        str, typer.Argument(metavar="ID", help="The number of the question; the only open one where it is left out.")
    ] = "",
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Your answer, or what you say to an option.")] = "",
    option: Annotated[
        int | None, typer.Option("--option", metavar="N", min=1, help="Take option N of the question.")
    ] = None,
    decline: Annotated[bool, typer.Option("--decline", help="Leave it to who asked, by what they assume.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Answer what an agent asks you about its task or the plan.

    Without an answer: show what is open, exit code 3. The answer changes no acceptance criterion; `swarm revise` does.

    Example: swarm answer 3 "metres", or: swarm answer --option 2
    """
    with boundary(json) as terminal:
        from swarmgate.domain.next_step import open_questions
        from swarmgate.domain.text.redaction import MASK
        from swarmgate.engine.swarm import Swarm

        swarm = Swarm(repo)
        given = bool(option or decline)
        if not (question or given):
            raise typer.Exit(_show(swarm, terminal))
        number, said = _meant(open_questions(swarm.state), question, text, given=given)
        swarm.answer(number, said, option=option or 0, decline=decline)
        asked = swarm.state.questions[number - 1]
        what = "left to the " + asked.role if decline else asked.answer
        if MASK in asked.answer and MASK not in said:
            terminal.note("What looks like a key was masked. Put it where the program finds it, and say where.")
        after = swarm.status()
        lines = [f"Question {number}: {what}", "Next:", *(f"  {action}" for action in after.actions)]
        result = {"question": number, "answer": asked.answer, "declined": asked.declined, "actions": after.actions}
        terminal.result(result, lines)


def _show(swarm: Swarm, terminal: Terminal) -> int:
    """Prints what is open and how it is answered; returns the exit code."""
    from swarmgate.domain.next_step import open_questions

    report, found = swarm.status(), open_questions(swarm.state)
    planning = [f"{each.number}. {each.text}" for each in found if not each.task]
    lines = [*(report.asked.lines if report.asked else planning), "Next:", *(f"  {each}" for each in report.actions)]
    questions = [{"number": each.number, "text": each.text, "task": each.task} for each in found]
    result = {"questions": questions, "asked": report.asked, "actions": report.actions}
    terminal.result(result, lines if found else ["No question is open."])
    return 3 if found else 0


def _meant(found: Sequence[Question], first: str, text: str, *, given: bool) -> tuple[int, str]:
    """Which question is meant by the arguments, and the text of the answer.

    Raises:
        UsageError: that cannot be told.
    """
    if text or (given and first.isdecimal()):
        if not first.isdecimal():
            raise UsageError(
                f"{first[:80]!r} is no number of a question.", hint='Put the answer in quotes: swarm answer 3 "metres"'
            )
        return int(first), text
    if not found:
        raise UsageError("No question is open.", hint="See where the work stands with: swarm status")
    if len(found) > 1:
        told = "; ".join(f"{each.number}. {' '.join(each.text.split())[:60]}" for each in found)
        raise UsageError(
            f"{len(found)} questions are open: {told}", hint=f'Name one: swarm answer {found[0].number} "..."'
        )
    number = found[0].number
    if first.strip() == str(number) and not given:
        raise UsageError(
            f"{number} is the number of the open question, and may be its answer.",
            hint=f'Say both: swarm answer {number} "{number}"',
        )
    return number, first
