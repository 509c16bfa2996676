"""The test engineer role: writes tests for the acceptance criteria and judges whether the change meets them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from swarmgate.agents.briefs.brief import Brief, Section, bullets, task_text
from swarmgate.agents.briefs.user_answers import user_answers
from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import Toolbox
from swarmgate.agents.conversation.turn import Refused, take_turn
from swarmgate.agents.roles.verdict import review_of, signed
from swarmgate.agents.tools import arguments as args
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import Criterion, Review
from swarmgate.domain.state.state import Question


async def test(
    agent: AgentContext,
    *,
    task: Task,
    attempt: int,
    scope: Sequence[str],
    patch: str,
    test_command: str,
    is_test_path: Callable[[str], bool],
    feedback: str,
    questions: Sequence[Question],
) -> Review:
    """Let the test engineer write tests and judge the change by them.

    On APPROVED every acceptance criterion should be mapped to a test. Unmapped ones are asked for once; after that the
    verdict stands, and its record shows them without tests: what counts is the run that swarmgate makes itself.

    Args:
        agent: the test engineer's context.
        task: the task that the change is for.
        attempt: its number, from 1.
        scope: the files that were declared for it.
        patch: the whole change against the task's base, as a diff.
        test_command: how the project's tests are run.
        is_test_path: whether a repository-relative path is a test's; no other is written.
        feedback: what earlier attempts were rejected for (`feedback_text`).
        questions: what agents asked the user about the task.

    Raises:
        NoUsableReply: no verdict within the bound; otherwise as `take_turn`.
    """
    sections = (
        Section("The task", task_text(task)),
        user_answers(questions),
        Section("Declared scope", bullets(scope)),
        Section("Test command", test_command),
        Section("Earlier attempts", feedback, "What they say of tests is for you: mend it."),
        Section("The change", patch),
    )
    brief = Brief("test_engineer", "test", task=task.id, attempt=attempt, files=tuple(scope), sections=sections)
    work = Toolbox(agent, may_write=_tests_only(is_test_path)).handlers
    return signed(await take_turn(agent, brief, work=work, endings={"submit_verdict": _mapping(task)}))


def _mapping(task: Task) -> Callable[[args.SubmitTestVerdict], Review]:
    """The end of the turn: an APPROVED that leaves criteria without a test is sent back once."""
    asked = False

    def judge(call: args.SubmitTestVerdict) -> Review:
        nonlocal asked
        review = review_of(call, mapped(task.acceptance, call.criteria))
        open_ones = [each.criterion for each in review.criteria if not each.tests]
        if review.approved and open_ones and not asked:
            asked = True
            raise Refused(
                "`criteria` maps no test to these acceptance criteria:\n"
                + bullets(open_ones)
                + "\nSubmit again with an entry for each; write the missing tests before. If one cannot be tested, "
                "leave its `tests` empty: that will be on record."
            )
        return review

    return judge


def _tests_only(is_test_path: Callable[[str], bool]) -> Callable[[str], str]:
    """Why a path may not be written; empty for a test's."""

    def objection(path: str) -> str:
        if is_test_path(path):
            return ""
        return (
            f"`{path}` is not a test file, and you write tests only. "
            "If the code itself is wrong, submit REJECTED with a finding that says what is."
        )

    return objection


async def adversarial_test(
    agent: AgentContext,
    *,
    task: Task,
    attempt: int,
    scope: Sequence[str],
    patch: str,
    test_command: str,
    reasons: Sequence[str],
    objection: Callable[[str], str],
    written: Callable[[], Sequence[str]],
    questions: Sequence[Question] = (),
) -> Review:
    """Let the test engineer attack the change with new tests.

    A turn that wrote none is sent back once; after that it stands. The verdict decides nothing: the tests do.

    Args:
        agent: the test engineer's context.
        task: the task that the change is for.
        attempt: its number, from 1.
        scope: the files that were declared for it.
        patch: the whole change against the task's base, as a diff.
        test_command: how the project's tests are run.
        reasons: where the change touches security-sensitive code; empty where it does not.
        objection: why a repository-relative path may not be written; empty when it may.
        written: the new test files that are there by now.
        questions: what agents asked the user about the task.

    Raises:
        NoUsableReply: no verdict within the bound; otherwise as `take_turn`.
    """
    asked = False

    def judge(call: args.SubmitTestVerdict) -> Review:
        nonlocal asked
        review = review_of(call)
        if not asked and not written():
            asked = True
            raise Refused(
                "there is no new test file yet. Write your attacks as tests into a new file in a place for tests, run "
                "them, and submit again. Only what a test shows counts here."
            )
        return review

    sections = (
        Section("The task", task_text(task)),
        user_answers(questions),
        Section("Declared scope", bullets(scope)),
        Section("Test command", test_command),
        Section("The change", patch),
        Section("Security-sensitive places of the change", bullets(reasons)),
    )
    files = tuple(scope)
    brief = Brief("test_engineer", "adversarial_test", task=task.id, attempt=attempt, files=files, sections=sections)
    work = Toolbox(agent, may_write=objection).handlers
    return signed(await take_turn(agent, brief, work=work, endings={"submit_verdict": judge}))


def mapped(acceptance: Sequence[str], given: Sequence[args.CriterionDraft]) -> tuple[Criterion, ...]:
    """One entry for each acceptance criterion, in order, with the tests that are named for it.

    An entry means a criterion by its text (letter case, punctuation and white space aside), by its number, or by
    its place when there are as many entries as criteria. Entries that mean none are kept at the end.
    """
    tests: list[list[str]] = [[] for _ in acceptance]
    strangers: list[Criterion] = []
    for place, entry in enumerate(given):
        at = _meant(entry.criterion, acceptance)
        if at is None and len(given) == len(acceptance):
            at = place
        if at is None:
            strangers.append(entry.mapped())
        else:
            tests[at].extend(name for name in entry.tests if name.strip())
    pairs = zip(acceptance, tests, strict=True)
    return (*(Criterion(criterion=text, tests=tuple(names)) for text, names in pairs), *strangers)


def _meant(text: str, acceptance: Sequence[str]) -> int | None:
    """The place of the criterion that a text means, from 0."""
    words = _words(text)
    for at, criterion in enumerate(acceptance):
        if words and words in (_words(criterion), _words(f"{at + 1} {criterion}")):
            return at
    number = re.fullmatch(r"\D{0,20}(\d{1,4})\W*", text.strip())
    return int(number[1]) - 1 if number and 0 < int(number[1]) <= len(acceptance) else None


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
