"""The reviewer role: judges a change by its diff and the gate results, not by its author's claims. Read-only.

It is asked up to four times about a task: for the change as a whole, for its security alone, whether the expectation of
an adversarial test that fails is right, and for the tests that were written after its review. Several may be asked
for their verdicts on a whole phase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from swarmgate.agents.briefs.brief import Brief, Section, bullets, task_text
from swarmgate.agents.briefs.user_answers import user_answers
from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import Handler, Toolbox, plain
from swarmgate.agents.conversation.turn import Refused, take_turn
from swarmgate.agents.roles.citations import Material
from swarmgate.agents.roles.review_coverage import ShownChange, ShownFile
from swarmgate.agents.roles.verdict import cited, meant, review_of, signed
from swarmgate.agents.tools import arguments as args
from swarmgate.agents.tools.arguments import SubmitVerdict
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.change import ChangedFile
from swarmgate.domain.review.evidence import Remark, Review, Verdict
from swarmgate.domain.state.state import Question

_OWASP = re.compile(
    r"[\W_]*(?:OWASP(?:[ -]*Top[ -]*(?:10|Ten))?(?:[ :-]*2021)?[\W_]*)?A(?:0?[1-9]|10)(?![0-9A-Za-z]|:20(?!21))"
)
"""The id of a category of the OWASP Top 10:2021 (https://owasp.org/Top10/), A01 to A10, at the head of a message.

`A3`, `**A03**`, `OWASP A03:` and `A03:2021` are other spellings of it; `A3:2017` is another category.
"""

_AROUND = 300
"""Characters of what stands around a part of the change in the result of a tool."""

_WEAKENED = "Each needs a reason in the task. Where the task gives none, reject the change."


_WRITTEN = (
    "You have approved the rest. Judge these files now: tests that cannot fail, that replace, rewrite or imitate what "
    "they test, that expect what the code gives and not what the task asks for, or that do anything else than test."
)


@dataclass(frozen=True)
class Submission:
    """The input of a review: measured facts alone, without the author's claims.

    `task` and `attempt` say what it is for, `scope` are the declared files and `outside` the changed ones beyond it,
    `weakened` the tests that were there before and lose something, a line each,
    `patch` is the change as a diff with the list of its files, `gates` the gates' results, `test_command` how the
    project's tests are run, `asked` what agents asked the user about the task. `material` is what findings must quote;
    None: they need not. `files` are the changes of the files by themselves, what has to be seen first: where they are
    given, the reviewer is shown these and not `patch`, and approves nothing before it was shown what has to be seen.
    """

    task: Task
    attempt: int
    scope: Sequence[str]
    patch: str
    gates: str
    test_command: str
    outside: Sequence[str] = ()
    weakened: Sequence[str] = ()
    material: Material | None = None
    files: Sequence[tuple[ChangedFile, str, bool]] = ()
    asked: Sequence[Question] = ()


@dataclass(frozen=True)
class PhaseSubmission:
    """The input of the validation of a phase: what was promised, what was measured, and what all its tasks changed.

    `phase` is its number; `round` and `number` say which reviewer this is. `tasks` says of each task its criteria and
    how it ended, `patch` is the change of the whole phase, `files`, `test_command` and `material` are as of a
    `Submission`. `earlier` is what reviewers objected to before the phase was mended, `notes` what the user said to it.
    """

    phase: int
    name: str
    round: int
    number: int
    tasks: str
    patch: str
    files: Sequence[tuple[ChangedFile, str, bool]]
    test_command: str = ""
    material: Material | None = None
    earlier: str = ""
    notes: Sequence[str] = ()


async def validate_phase(agent: AgentContext, work: PhaseSubmission) -> Review:
    """Judge whether the change of a whole phase does what the criteria of its tasks ask for, together.

    Raises:
        NoUsableReply: as `review`.
    """
    brief = Brief(
        "reviewer",
        "validate_phase",
        phase=work.phase,
        participant=f"reviewer-{work.number}",
        round=work.round,
        sections=(
            Section("The phase", f"Phase {work.phase}: {work.name}"),
            Section("Its tasks, and what each was accepted by", work.tasks, whole=True),
            Section("What reviewers objected to before it was mended", work.earlier),
            Section("The user says", bullets(work.notes)),
            Section("Test command", work.test_command),
        ),
    )
    ending = _verdict(agent, work.material, "validate_phase")
    return await _read(agent, brief, work.files, work.patch, ending, wholly=True)


async def review(agent: AgentContext, work: Submission) -> Review:
    """Judge the change.

    Raises:
        NoUsableReply: no verdict within the bound; otherwise as `take_turn`.
    """
    return await _judged(agent, work, "review", (), _verdict(agent, work.material, "review", work.attempt), wholly=True)


async def security_review(agent: AgentContext, work: Submission, *, reasons: Sequence[str]) -> Review:
    """Judge the security of the change and nothing else; each finding begins with its id of the OWASP Top 10.

    Args:
        agent: the reviewer's context.
        work: what is judged.
        reasons: where the change touches security-sensitive code.

    Raises:
        NoUsableReply: as `review`.
    """
    sections = (Section("Why its security is reviewed", bullets(reasons)),)
    ending = _verdict(agent, work.material, "security_review", work.attempt, _without_id)
    return await _judged(agent, work, "security_review", sections, ending, wholly=True)


async def review_tests(agent: AgentContext, work: Submission, *, written: Sequence[str]) -> Review:
    """Judge the change again, with the tests that the test engineer wrote since the review.

    Args:
        agent: the reviewer's context.
        work: the change as it is now.
        written: the files that are new or changed since.

    Raises:
        NoUsableReply: as `review`.
    """
    sections = (Section("Written since your review, by the test engineer", bullets(written), _WRITTEN),)
    return await _judged(agent, work, "review", sections, _verdict(agent, work.material, "review", work.attempt))


async def confirm(agent: AgentContext, work: Submission, *, tests: str, output: str) -> Review:
    """Say whether adversarial tests that fail expect what is right. APPROVED: they do, and the change is wrong.

    Args:
        agent: the reviewer's context.
        work: the change that they attack.
        tests: the files that fail, with their text.
        output: what their run printed.

    Raises:
        NoUsableReply: as `review`.
    """
    sections = (
        Section(
            "Adversarial tests that fail",
            tests,
            "This time you judge these tests, not the change. APPROVED: what they expect is right, so the change is "
            "wrong and is rejected. REJECTED: what they expect is wrong, by the task or by any sensible reading of "
            "it; name the test files in `file` of your findings, or all of them are taken out.",
        ),
        Section("Their output", output),
    )
    return await _judged(agent, work, "review", sections, review_of)


def sections_of(work: Submission) -> tuple[Section, ...]:
    """The sections of a submission for the brief of its judge."""
    return (*_facts(work), Section("The change", work.patch))


def _facts(work: Submission) -> tuple[Section, ...]:
    return (
        Section("The task", task_text(work.task)),
        user_answers(work.asked),
        Section("Declared scope", bullets(work.scope)),
        Section("Changed files outside of the scope", bullets(work.outside)),
        Section("Existing tests that the change weakens or removes", bullets(work.weakened), _WEAKENED),
        Section("Results of the gates", work.gates),
        Section("Test command", work.test_command),
    )


async def _judged(
    agent: AgentContext,
    work: Submission,
    step: str,
    last: Sequence[Section],
    ending: Callable[[SubmitVerdict], Review],
    *,
    wholly: bool = False,
) -> Review:
    """The verdict; `wholly`: an approval speaks for the whole change, and is asked again until that was shown."""
    files = tuple(work.scope)
    brief = Brief("reviewer", step, task=work.task.id, attempt=work.attempt, files=files, sections=_facts(work))
    return await _read(agent, brief, work.files, work.patch, ending, last=last, wholly=wholly)


async def _read(
    agent: AgentContext,
    brief: Brief,
    files: Sequence[tuple[ChangedFile, str, bool]],
    patch: str,
    ending: Callable[[SubmitVerdict], Review],
    *,
    last: Sequence[Section] = (),
    wholly: bool = False,
) -> Review:
    """The verdict of one turn over a change, which stands in the brief before the `last` sections."""
    limits = agent.limits
    change = ShownChange([ShownFile(*each) for each in files], part=limits.result_chars - _AROUND)
    shown = Section("The change", change.brief(limits.section_chars) if files else patch, whole=bool(files))
    brief = replace(brief, sections=(*brief.sections, shown, *last))

    def judge(call: SubmitVerdict) -> Review:
        if wholly and call.verdict is Verdict.APPROVED and (problem := change.objection()):
            raise Refused(problem)
        return ending(call)

    return signed(await take_turn(agent, brief, work=_looks(agent, change), endings={"submit_verdict": judge}))


def _looks(agent: AgentContext, change: ShownChange) -> Mapping[str, Handler]:
    """The reading tools, each of which records which parts of the change were seen."""
    tools = Toolbox(agent).handlers

    async def read_file(call: args.ReadFile) -> str:
        result = await tools["read_file"](call)
        change.was_read(plain(call.path), call.start_line, result)
        return result

    async def search(call: args.Search) -> str:
        result = await tools["search"](call)
        if len(result) <= agent.limits.result_chars:  # of a longer one the middle is cut out
            change.was_found(result)
        return result

    async def read_change(call: args.ReadChange) -> str:
        return change.read(plain(call.path), call.part)

    return {**tools, "read_file": read_file, "search": search, "read_change": read_change}


def _verdict(
    agent: AgentContext,
    material: Material | None,
    step: str,
    attempt: int = 0,
    objection: Callable[[Remark], str] = lambda _finding: "",
) -> Callable[[SubmitVerdict], Review]:
    def dropped(given: Review, why: str) -> None:
        first, lost = meant(given.dropped[0]), len(given.dropped)
        note = GuardNote(
            rule="citation",
            effect=Effect.NOTED,
            detail=f"dropped {lost} of {lost + len(given.findings)} findings, {first}: {why}",
            role="reviewer",
            step=step,
            attempt=attempt,
        )
        agent.on_guard(note)

    return cited(material, on_dropped=dropped, objection=objection)


def _without_id(finding: Remark) -> str:
    if _OWASP.match(finding.message):
        return ""
    return "its message does not begin with an id of the OWASP Top 10:2021, A01 to A10, such as `A03 Injection: ...`"
