"""The settings of the tests: `[tests]`, and `[[tests.suite]]` for repositories with several suites."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from swarmgate.config.base import Name, Seconds, Section
from swarmgate.config.guards import Enforce, Glob


def _count_pattern(value: str) -> str:
    try:
        groups = re.compile(value).groupindex
    except re.error as error:
        raise ValueError(f"must be a regular expression: {error}") from error
    if value and "passed" not in groups:
        raise ValueError("must have a group `passed`, such as `(?P<passed>\\d+) ok, (?P<failed>\\d+) not ok`")
    return value


def _folder(value: str) -> str:
    folder = value.removeprefix("./").rstrip("/")
    if folder.startswith(("/", "~")) or ".." in re.split(r"[/\\]", folder):
        raise ValueError(f'"{value}" must be a folder of the project, such as "packages/api"')
    return "" if folder == "." else folder


class Suite(Section):
    """`[[tests.suite]]`: one suite of a repository with several, such as a package with tests of its own."""

    name: Name = Field(description="Its name in messages, evidence and status.")
    paths: Annotated[tuple[Glob, ...], Field(min_length=1)] = Field(
        description="Folders and globs of the files that it answers for: its own, and those that it depends on."
    )
    command: Annotated[str, Field(pattern=r"\S")] = Field(description="Its test command.")
    folder: Annotated[str, AfterValidator(_folder)] = Field(
        "", description="Folder in which the command starts; empty: the project's own."
    )
    timeout_s: Seconds | None = Field(None, description="Longest time of one run, in seconds; unset: that of [tests].")
    count_pattern: Annotated[str, AfterValidator(_count_pattern)] = Field(
        "", description="As in [tests]; empty: that one."
    )


def _named_apart(value: tuple[Suite, ...]) -> tuple[Suite, ...]:
    names = [each.name for each in value]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f'names two suites "{twice}"; messages and evidence tell suites apart by name')
    return value


class ProjectTests(Section):
    """`[tests]`: how the project's tests are run."""

    command: str = Field("", description="The test command; empty: detected. Beside suites: that of all other files.")
    timeout_s: Seconds = Field(600, description="Longest time of one run of the suite, in seconds.")
    count_pattern: Annotated[str, AfterValidator(_count_pattern)] = Field(
        "", description="Regular expression with the groups `passed` and perhaps `failed`; empty: detected."
    )
    paths: tuple[str, ...] = Field((), description="Globs of the files that are tests; empty: detected.")
    must_fail: Enforce = Field(
        "block", description="What new tests mean that all pass without the change; they prove nothing."
    )
    vanished: Enforce = Field(
        "block", description="What it means that tests which passed before the task are gone or skipped after it."
    )
    unproven: Enforce = Field(
        "block", description="What changed behaviour means that no new test shows, or that no passing test runs."
    )
    altered: Enforce = Field(
        "block", description="What it means that tests of before the task fail in their old form over the new code."
    )
    unmapped: Literal["auto", "note", "block"] = Field(
        "auto",
        description="What an acceptance criterion means that the test engineer maps no test to; `auto`: it blocks "
        "where the change alters behaviour, and is noted elsewhere.",
    )
    adversarial: Literal["auto", "always", "off"] = Field(
        "auto", description="A second pass of attacks; `auto`: for security-sensitive tasks, and MEDIUM ones up."
    )
    mutation: bool = Field(False, description="Mutate the changed lines and see whether the tests notice.")
    min_kill_rate: float = Field(0.6, ge=0, le=1, description="Share of the mutants that the tests must notice.")
    suite: Annotated[tuple[Suite, ...], AfterValidator(_named_apart)] = Field(
        (), description="The suites of a repository with several, each a table `[[tests.suite]]`."
    )
    whole: Literal["task", "phase"] = Field(
        "task",
        description="When the whole suite has to pass: for each task, or for each phase; then a task runs the tests "
        "that are related to its files.",
    )

    @property
    def longest_s(self) -> float:
        """Longest time of one run of all tests, in seconds."""
        own = [each.timeout_s or self.timeout_s for each in self.suite]
        return sum(own) + (self.timeout_s if self.command or not own else 0)
