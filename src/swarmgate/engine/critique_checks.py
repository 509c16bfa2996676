"""Checks a version in a critique without a model: by a command or a gate, in a copy of the work tree.

The work tree itself is never written: every check has a copy of its own, which is gone afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from swarmgate.config import Config
from swarmgate.council.critique.model import Criterion, Critique, Score
from swarmgate.council.critique.program_checks import Unchecked
from swarmgate.domain.review.finding import GateResult, GateStatus
from swarmgate.errors import CouncilRefused, SwarmError
from swarmgate.gates import baseline
from swarmgate.gates.definition import GateDefinition, Stage, load
from swarmgate.gates.pipeline.pipeline import GatesOptions, run_pipeline
from swarmgate.gates.project.scope import Scope
from swarmgate.project import Project
from swarmgate.workspace.checkout.checkout import checked_out
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.git import revisions
from swarmgate.workspace.git.driver import call
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process.process import Completed
from swarmgate.workspace.sandbox.command_runner import CommandRunner

_TAIL = 2_000
"""Characters of output that are told."""

_LISTED = 20
"""Findings of a gate that are told."""

_NOT_STARTED = (126, 127)
"""POSIX shells: the command cannot be executed, or was not found."""

_NO_PROGRAM = re.compile(
    r"(?:^|: )(?:\d+: |line \d+: )?([^\s:]+): (?:(?:command )?not found|Permission denied)", re.MULTILINE
)


@dataclass
class ProjectChecks:
    """Judges versions by the commands and gates of a project; implements `council.critique.program_checks.Checks`.

    `tree` is the work tree as it was at the beginning: what is edited meanwhile changes no score.
    """

    config: Config
    repository: Repository
    commands: CommandRunner
    definitions: Sequence[GateDefinition]
    tree: str = field(init=False)

    def __post_init__(self) -> None:
        self.tree = self.repository.snapshot()

    @classmethod
    def of(cls, project: Project, critique: Critique) -> ProjectChecks:
        """The checks of a project, for a critique.

        Raises:
            CouncilRefused: gates are to judge a file that git ignores.
            MissingRequirement: there is no such sandbox here.
        """
        repository = project.repository()
        gated = any(each.gate for each in critique.criteria)
        if gated and call(repository.root, "check-ignore", "--quiet", "--", critique.target)[0] == 0:
            raise CouncilRefused(
                f"`target` is {critique.target!r:.200}: git ignores that file, and no gate looks at it"
            )
        return cls(project.config, repository, project.command_runner(), load(project.folder.root))

    @staticmethod
    def gates(project: Project) -> list[str]:
        """The names of the gates that may judge."""
        return [each.id for each in load(project.folder.root) if each.stage is Stage.CHECK]

    async def check(self, criterion: Criterion, critique: Critique, version: str) -> Score:
        """1 where the command ends with exit code 0, or the gate passes; 0 where not, with what it said as the reason.

        Raises:
            Unchecked: the program is not there, or the gate did not look at the version.
        """
        text = f"{version}\n"
        try:
            if criterion.command:
                return await self._command(criterion, critique, text)
            return await self._gate(criterion, critique, text)
        except SwarmError as error:
            raise Unchecked(f"{criterion.name}: {error.message}") from error

    async def _command(self, criterion: Criterion, critique: Critique, text: str) -> Score:
        limit = min(self.config.commands.timeout_s, critique.timeout_s)
        with checked_out(self.repository.root, self.tree, sandbox=self.commands.sandbox) as copy:
            FileTree(copy.root).write(critique.target, text)
            runner = copy.runner(self.commands)
            done = await runner.run(criterion.command, timeout_s=limit)
            refused = runner.refused(done) or _not_started(criterion.command, done)
        if refused:
            raise Unchecked(f"{criterion.name}: {refused}")
        ended = f"it did not end within {limit:g} s" if done.timed_out else f"exit code {done.exit_code}"
        reason = "\n".join(filter(None, (ended, done.output.strip()[-_TAIL:])))
        return Score(criterion=criterion.name, score=1.0 if done.ok else 0.0, reason=reason)

    async def _gate(self, criterion: Criterion, critique: Critique, text: str) -> Score:
        gate = next((each for each in self.definitions if each.id == criterion.gate), None)
        if gate is None:
            raise Unchecked(f"{criterion.name}: there is no gate {criterion.gate} any more")
        whole, gates = not gate.record.difference, self.config.gates
        with revisions.checkout(self.repository, self.tree, head=self.tree) as there:
            FileTree(there.root).write(critique.target, text)
            report = await run_pipeline(
                [gate],
                repository=there,
                base=revisions.empty_tree(there) if whole else self.tree,
                config=GatesOptions(timeout_s=gates.timeout_s, quality=gates.quality, merged=False),
                fix=False,
                scope=Scope(paths=(critique.target,), whole=whole, reference=self.tree),
                accepted=baseline.on_disk(self.repository.root),
                commands=self.commands.around(there.root),
            )
        return _score(criterion, report.results[0])


def _not_started(command: str, done: Completed) -> str:
    """Why the command itself could not be started; empty where it was: a version may name missing programs too."""
    named = _NO_PROGRAM.search(done.stderr) if done.exit_code in _NOT_STARTED else None
    if named and named[1] in re.split(r"[\s;&|()]+", command):
        return f"`{named[1]}` cannot be run: is it installed?"
    return ""


def _score(criterion: Criterion, result: GateResult) -> Score:
    """What a gate says as a score: neither a gate that looked at nothing nor a broken one is a pass.

    Raises:
        Unchecked: it is one of those.
    """
    if result.status not in (GateStatus.PASS, GateStatus.FAIL):
        raise Unchecked(f"{criterion.name}: the gate {result.gate} gave no verdict ({result.status}): {result.reason}")
    found = [f"{each.place}: {each.rule}: {each.message}" for each in result.new_findings[:_LISTED]]
    score = 1.0 if result.status is GateStatus.PASS else 0.0
    return Score(criterion=criterion.name, score=score, reason="\n".join(filter(None, (result.reason, *found))))
