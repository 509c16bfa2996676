"""One model class for each tool's arguments: unknown keys are rejected, harmless variations are accepted.

Lenient means: a number as a string, one string where a list is due, null for what may be left out, another case of an
enumeration's word. Every tuple is a JSON array.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from swarmgate.domain.plan.plan import Complexity, Kind, Phase, Plan, Task
from swarmgate.domain.review.evidence import Criterion, Remark, Verdict
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.text.json_text import loaded

_SEVERITIES = {
    "blocker": "critical",
    "fatal": "critical",
    "error": "high",
    "major": "high",
    "moderate": "medium",
    "warning": "medium",
    "minor": "low",
    "nit": "info",
    "note": "info",
    "style": "info",
}
"""What other tools call the severities."""


def _listed(value: Any) -> Any:
    """A list; also one that was encoded twice, or a single string."""
    if not isinstance(value, str):
        return value
    try:
        decoded = loaded(value)
    except ValueError:
        return [value]
    return decoded if isinstance(decoded, list) else [value]


def _upper(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _severity(value: Any) -> Any:
    word = value.strip().lower() if isinstance(value, str) else value
    return _SEVERITIES.get(word, word) if isinstance(word, str) else word


def _line_number(value: Any) -> Any:
    """The first number of `12`, `"12"`, `"12-20"`, `"L12"`; None for what is no line."""
    digits = re.search(r"\d+", value) if isinstance(value, str) else None
    number = int(digits[0][:9]) if digits else value
    return None if isinstance(number, str) or (isinstance(number, int) and number < 1) else number


Strings = Annotated[tuple[str, ...], BeforeValidator(_listed)]
LineNumber = Annotated[int | None, BeforeValidator(_line_number)]


class Arguments(BaseModel):
    """The arguments of one tool call."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {key: value for key, value in data.items() if value is not None or key not in optional}


class ReadFile(Arguments):
    """`read_file`."""

    path: str = Field(description="Repository-relative path.")
    start_line: int | None = Field(None, description="First line to show, from 1.")
    end_line: int | None = Field(None, description="Last line to show, inclusive.")


class ReadChange(Arguments):
    """`read_change`."""

    path: str = Field(description="A file of the change.")
    part: int = Field(1, description="Which part of its diff, from 1.")


class ListFiles(Arguments):
    """`list_files`."""

    glob: str | None = Field(None, description="Only paths that match, such as src/**/*.py.")


class Search(Arguments):
    """`search`."""

    pattern: str = Field(description="Regular expression, matched line by line.")
    glob: str | None = Field(None, description="Only files that match, such as src/**/*.py.")


class WriteFile(Arguments):
    """`write_file`."""

    path: str = Field(description="Repository-relative path; folders are made.")
    content: str = Field(description="The whole new content of the file.")


class EditFile(Arguments):
    """`edit_file`."""

    path: str = Field(description="Repository-relative path of an existing file.")
    old: str = Field(description="Text that stands in the file exactly once, copied with its white space.")
    new: str = Field(description="What replaces it.")


class DeleteFile(Arguments):
    """`delete_file`."""

    path: str = Field(description="Repository-relative path of an existing file.")


class RunCommand(Arguments):
    """`run_command`."""

    command: str = Field(description="Command line for /bin/sh, run in the repository's root.")
    timeout_s: float | None = Field(None, gt=0, description="Seconds until it is ended.")


class RunGates(Arguments):
    """`run_gates`."""


class AskSme(Arguments):
    """`ask_sme`."""

    domain: str = Field(description="The field of knowledge, in a word or two, such as security or PostgreSQL.")
    question: str = Field(description="One question that stands by itself: the expert sees neither brief nor task.")


class AskUser(Arguments):
    """`ask_user`."""

    questions: Strings = Field(description="One question an entry, each answerable in a sentence.")


class AskAboutTask(Arguments):
    """`ask_user` in the middle of a task."""

    question: str = Field(min_length=1, max_length=1_000, description="One question, answerable in a sentence.")
    options: Strings = Field((), max_length=5, description="Answers to choose from, if there are few; one an entry.")
    why: str = Field(min_length=1, max_length=500, description="What a wrong guess would spoil.")
    assumption: str = Field(min_length=1, max_length=500, description="What you will assume if nobody answers.")


class TaskDraft(Arguments):
    """A task of `save_plan`."""

    id: str = Field(description="phase.number, such as 1.2.")
    title: str
    description: str = ""
    acceptance: Strings = Field(description="What a test can check, one criterion an entry; at least one.")
    files: Strings = Field(description="Repository-relative files that the task creates or changes, its tests too.")
    depends: Strings = Field((), description="Ids of tasks that must be complete before, of this phase or earlier.")
    complexity: Annotated[Complexity, BeforeValidator(_upper)] = Field(description="SMALL or MEDIUM; split LARGE.")
    kind: Annotated[Kind, BeforeValidator(_lower)] = Field(
        Kind.FEATURE,
        description="feature, breaking, refactoring, documentation or configuration: what has to prove it.",
    )


class PhaseDraft(Arguments):
    """A phase of `save_plan`."""

    name: str
    tasks: Annotated[tuple[TaskDraft, ...], BeforeValidator(_listed)]


class SavePlan(Arguments):
    """`save_plan`."""

    title: str
    phases: Annotated[tuple[PhaseDraft, ...], BeforeValidator(_listed)]

    def plan(self) -> Plan:
        """The plan as the domain knows it, legal or not."""
        return Plan(
            title=self.title,
            phases=tuple(
                Phase(name=phase.name, tasks=tuple(Task(**task.model_dump()) for task in phase.tasks))
                for phase in self.phases
            ),
        )


class DeclareScope(Arguments):
    """`declare_scope`."""

    files: Strings = Field(description="Repository-relative files that the coder may create or change.")


class Delegate(Arguments):
    """`delegate`."""

    instructions: str = Field(description="What the coder has to do, for this one task.")


class Finish(Arguments):
    """`finish`."""

    summary: str = Field(description="What was done, in a few sentences.")


class FindingDraft(Arguments):
    """A finding of `submit_verdict`."""

    severity: Annotated[Severity, BeforeValidator(_severity)]
    file: str = Field("", description="Repository-relative path; empty when no file is meant.")
    line: LineNumber = Field(None, description="Line number from 1.")
    quote: str = Field("", description="The line in question, copied exactly.")
    message: str = Field(description="What is wrong, and why it matters.")
    suggestion: str = Field("", description="How to mend it.")

    def remark(self) -> Remark:
        """The finding as the domain knows it."""
        return Remark(**self.model_dump())


class SubmitVerdict(Arguments):
    """`submit_verdict` of the critic and the reviewer."""

    verdict: Annotated[Verdict, BeforeValidator(_upper)]
    summary: str = Field(description="The reason for the verdict, in a few sentences.")
    findings: Annotated[tuple[FindingDraft, ...], BeforeValidator(_listed)] = ()


class CriterionDraft(Arguments):
    """An entry of the test engineer's map."""

    criterion: str = Field(description="The acceptance criterion, copied, or its number.")
    tests: Strings = Field((), description="Names of the tests that show it, such as tests/test_a.py::test_b.")

    def mapped(self) -> Criterion:
        """The entry as the domain knows it."""
        return Criterion(criterion=self.criterion, tests=self.tests)


class SubmitTestVerdict(SubmitVerdict):
    """`submit_verdict` of the test engineer."""

    criteria: Annotated[tuple[CriterionDraft, ...], BeforeValidator(_listed)] = Field(
        (), description="One entry for each acceptance criterion."
    )


class ClosePhase(Arguments):
    """`close_phase`."""

    summary: str = Field(description="What the phase achieved, for the user who has to approve it.")
    decisions: Strings = Field((), description="Decisions that later phases must keep to.")
    lessons: Strings = Field((), description="What rejected attempts taught.")


class SendMessage(Arguments):
    """`send_message`."""

    to: Strings = Field(description="Ids of voices, or `all`.")
    content: str = Field(description="What they are told.")


class Synthesize(Arguments):
    """`synthesize`."""

    summary: str = Field(description="What the chat came to: the decision, the reasons, what stays open.")
