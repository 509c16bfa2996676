"""The gate of a user-defined command: runs it, parses its output, and reports the findings that are new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement
from swarmgate.gates.adapters import parsers
from swarmgate.gates.definition import FILES, Baseline, Parser, Stage
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.source import comparison
from swarmgate.gates.tools import table
from swarmgate.gates.tools.run import Broken, batches, excerpt, invoke
from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.job import Job
    from swarmgate.workspace.process.process import Completed


async def run(job: Job) -> Outcome:
    """Run the command in the repository's root and read its findings.

    An exit code other than 0 without a finding that explains it is an error: the output was not understood.
    """
    gate = job.definition
    tool = gate.command[0]
    if gate.version:
        version = await table.version_of(gate.version, job.commands().at(job.repository.root))
        problem = table.too_old(version, gate.minimum_version)
        if problem:
            raise MissingRequirement(f"{tool}: {problem}", hint=gate.install_hint)
        tool = f"{tool} {version}"
    done = await invoke(job, _calls(job), exit_codes=gate.exit_codes)
    if isinstance(done, Broken):
        return Outcome(tool=tool, error=done.reason)
    found: list[Finding] = []
    for completed in done:
        if gate.parser is Parser.EXIT and completed.exit_code != 0 and gate.stage is Stage.CHECK:
            output = excerpt(completed.output) or "no output"
            message = f"{tool} ended with exit code {completed.exit_code}: {output}"
            return Outcome(files=len(job.sources), tool=tool, failure=message)
        findings = _read(job, completed)
        if isinstance(findings, Broken):
            return Outcome(tool=tool, error=findings.reason)
        if completed.exit_code != 0 and not findings and gate.stage is Stage.CHECK:
            output = excerpt(completed.stderr) or excerpt(completed.stdout)
            reason = (
                f"{tool} ended with exit code {completed.exit_code} and no finding was read from its output: {output}"
            )
            return Outcome(tool=tool, error=reason)
        found += findings
    return Outcome(tuple(_marked(job, found)), len(job.sources), tool)


def _calls(job: Job) -> list[list[str]]:
    command = job.definition.command
    if FILES not in command:
        return [list(command)]
    calls = []
    for batch in batches([source.path for source in job.sources]):
        argv: list[str] = []
        for argument in command:
            argv += batch if argument == FILES else [argument]
        calls.append(argv)
    return calls


def _read(job: Job, completed: Completed) -> list[Finding] | Broken:
    gate, root = job.definition, job.repository.root
    match gate.parser:
        case Parser.SARIF:
            return parsers.sarif(completed.stdout, root, gate.id)
        case Parser.JSONL:
            return parsers.jsonl(completed.stdout, root, gate.id)
        case Parser.REGEX:
            return parsers.regex(completed.output, root, gate.id, gate.pattern)
        case Parser.EXIT:
            return []


def _marked(job: Job, findings: list[Finding]) -> list[Finding]:
    by_path = {source.path: source for source in job.sources}
    # A tool may print a name that is no UTF-8 with replacement characters.
    by_path |= {encode(source.path).decode(errors="replace"): source for source in job.sources}
    marked = []
    for path in sorted({finding.path for finding in findings}):
        source = by_path.get(path)
        here = [finding for finding in findings if finding.path == path]
        if source is None:
            new = job.definition.baseline is Baseline.NONE or not path
            marked += [finding.model_copy(update={"new": new}) for finding in here]
        else:
            here = [finding.model_copy(update={"path": source.path}) for finding in here]
            whole = job.definition.baseline is Baseline.NONE
            marked += comparison.fingerprint(source, here) if whole else comparison.by_lines(source, here)
    return marked
