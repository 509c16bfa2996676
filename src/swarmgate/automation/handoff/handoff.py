"""Collects a handoff from the ledger, context.md, the settings and the repository, and writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from swarmgate.automation.drift.worker import drift
from swarmgate.automation.handoff.page import MARK, Failure, Handoff, HandoffRole, render
from swarmgate.automation.ports import Ports
from swarmgate.config import Config, is_program
from swarmgate.domain.actor import actor_in_words
from swarmgate.domain.events.event import EditRefused, Entry, GoalSet, ProjectInitialised
from swarmgate.domain.evidence.summary import in_words
from swarmgate.domain.next_step import open_questions, waiting_for, worked_on
from swarmgate.domain.spending.budget import accounts
from swarmgate.domain.state.state import Outcome, Planning, State, TaskStatus
from swarmgate.domain.text.redaction import masked, redact
from swarmgate.errors import ConfigError, SwarmError, UsageError, WorkspaceError
from swarmgate.journal.disk_errors import writing
from swarmgate.journal.lock import describe, live_owner
from swarmgate.ledger.context import guidance
from swarmgate.ledger.files import preflights
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.page_place import require_free, shown
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.test_runs.suites import suites_of

_ANSWER = 200


def hand_off(project: Project, ports: Ports, out: Path | None = None) -> Handoff:
    """Writes the page, by default to `.swarm/handoff.md`, and returns its data.

    Raises:
        LedgerError: the ledger cannot be read.
        LedgerWriteFailed: the page could not be written.
        UsageError: there is no folder to write it to, or something else stands there.
    """
    target = project.folder.handoff if out is None else out.absolute()
    require_free(target, project.folder, own=project.folder.handoff, mark=MARK, verb="handoff")
    found = handed_over(project, ports)
    with writing(target):
        replace(target, found.page)
    return found.model_copy(update={"path": shown(target, project.folder)})


def handed_over(project: Project, ports: Ports) -> Handoff:
    """The data of the page, and the page; nothing is written.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    found = _without_keys(project, _gathered(project, ports))
    return found.model_copy(update={"page": render(found)})


def _without_keys(project: Project, found: Handoff) -> Handoff:
    """The same without the keys of the project, and what looks like one: the words are those of people and models."""
    config, _ = _settings(project)
    clean = project.redact if config else redact
    return Handoff.model_validate(masked(found.model_dump(mode="json"), clean))


def _gathered(project: Project, ports: Ports) -> Handoff:
    ledger = Ledger.read(project.folder)
    state, entries = ledger.state, [entry for entry, _ in ledger.entries()]
    owner = live_owner(project.folder.lock)
    waiting = waiting_for(state)
    config, problem = _settings(project)
    commit, unkept = _git(project.folder)
    return Handoff(
        goal=state.goal,
        source=state.source,
        title=state.plan.title if state.plan else "",
        phase=_phase(state),
        tasks=_counts(state),
        branch=state.branch or state.base_branch,
        commit=commit,
        seq=state.seq,
        waiting=waiting or "",
        working=describe(owner) if owner else "",
        paused=f"{state.pause.reason}: {state.pause.detail}" if state.pause and not owner else "",
        preflight=_preflight(project.folder, state),
        questions=tuple(f"question {each.number}: {each.text}" for each in open_questions(state)),
        decisions=tuple(text for key in sorted(state.memory) for text in state.memory[key].decisions),
        guidance=_guidance(project),
        failures=tuple(_failures(state)),
        quarantined=tuple(_quarantined(project.folder.root, entries)),
        used=in_words(state.usage),
        budgets=tuple(_budgets(state)),
        next=ports.actions(state, waiting),
        setup=_setup(state),
        test_command=_test_command(config, entries),
        roles=_roles(config) if config else (),
        settings_problem=problem,
        risks=(*unkept, *_risks(state, config)),
        drift=_drift(project),
    )


def _settings(project: Project) -> tuple[Config | None, str]:
    try:
        return project.config, ""
    except ConfigError as error:
        return None, error.message


def _phase(state: State) -> str:
    if state.plan is None:
        return ""
    if state.finished:
        return f"all {len(state.plan.phases)} are approved"
    number = min(state.current_phase, len(state.plan.phases))
    planned = "" if state.planning is Planning.APPROVED else f"; the plan is {state.planning.value}, not approved"
    return f"{number} of {len(state.plan.phases)}: {state.plan.phase(number).name}{planned}"


def _counts(state: State) -> dict[str, int]:
    counts = Counter(state.task(task).status for task in (state.plan.tasks if state.plan else ()))
    return {status.value: counts[status] for status in TaskStatus if counts[status]}


def _git(folder: SwarmFolder) -> tuple[str, tuple[str, ...]]:
    """The newest commit, and what a clone of it would lack."""
    try:
        repository = Repository.discover(folder.root)
        commit, paths = repository.head()[:12], repository.list_tree(repository.head_tree())
    except WorkspaceError:
        return "", ()  # a repository without a commit
    ledger = folder.ledger.resolve().relative_to(repository.root.resolve()).as_posix()
    missing = (
        "the newest commit does not hold .swarm/: a clone has no plan, ledger or evidence, so hand the folder over"
    )
    return commit, () if ledger in paths else (missing,)


def _preflight(folder: SwarmFolder, state: State) -> str:
    """What the newest preflight of the current phase found; empty where there was none, or it passed."""
    report = preflights.read(folder, state.current_phase) if state.plan else None
    if report is None or report.passed:
        return ""
    return f"phase {report.phase} may not begin (ledger position {report.seq}): {'; '.join(report.problems)}"


def _guidance(project: Project) -> tuple[str, ...]:
    try:
        found = guidance.read(project.folder.context)
    except UsageError:
        return ()
    return tuple(" ".join(filter(None, (f"{each.domain}:", each.question, each.answer[:_ANSWER]))) for each in found)


def _failures(state: State) -> Iterator[Failure]:
    """Blocked tasks first, then rejections that no later attempt has mended."""
    found = []
    for task in state.plan.tasks.values() if state.plan else ():
        record, last = state.task(task.id), state.task(task.id).last
        rejected = last is not None and last.outcome is Outcome.REJECTED
        if record.settled or not (rejected or record.status is TaskStatus.BLOCKED):
            continue
        stage, reason = (last.stage, last.reason) if last and rejected else ("", record.reason)
        found.append(Failure(task=task.id, title=task.title, status=record.status.value, stage=stage, reason=reason))
    yield from sorted(found, key=lambda each: each.status != TaskStatus.BLOCKED)


def _quarantined(root: Path, entries: list[Entry]) -> Iterator[str]:
    """Edits that were refused since the goal was set, and are still kept."""
    since = max((entry.seq for entry in entries if isinstance(entry.event, GoalSet)), default=0)
    for entry in entries[since:]:
        event = entry.event
        if isinstance(event, EditRefused) and event.kept and (root / event.kept).exists():
            yield f"{event.source}, kept in {event.kept}: {event.problems[0] if event.problems else 'it cannot stand'}"


def _budgets(state: State) -> Iterator[str]:
    for account in accounts(state, worked_on(state)):
        for measure in account.measures():
            left = "nothing left" if measure.used_up else f"{1 - measure.spent / measure.limit:.0%} left"
            yield f"{account.owner_text or 'project'}: {measure.text}, {left}"


def _setup(state: State) -> tuple[str, ...]:
    branch = (f"git switch {state.branch}",) if state.branch else ()
    return (*branch, "swarm doctor")


def _test_command(config: Config | None, entries: list[Entry]) -> str:
    """The configured command, else the one that the newest run of the tests used, else the one detected at first."""
    if config is not None and (known := suites_of(config.tests, "").text):
        return known
    runs = (entry.event.run.command for entry in reversed(entries) if entry.event.type == "tests_run")
    first = (entry.event.test_command for entry in entries if isinstance(entry.event, ProjectInitialised))
    return next(runs, "") or next(first, "")


def _roles(config: Config) -> tuple[HandoffRole, ...]:
    found = []
    for name, role in config.roles.items():
        models, keys, places = (role.model, *role.fallback), list[str](), list[str]()
        for model in models:
            if is_program(model):
                keys += role.env
                continue
            provider = config.providers.get(model.partition("/")[0])
            keys += [provider.api_key_env] if provider and provider.api_key_env else []
            places += [provider.base_url] if provider else []
        unique = tuple(dict.fromkeys(places)), tuple(dict.fromkeys(keys))
        found.append(HandoffRole(role=name, models=models, addresses=unique[0], keys=unique[1]))
    return tuple(found)


def _risks(state: State, config: Config | None) -> Iterator[str]:
    if config is not None:
        yield from _guardrails(config)
    if state.sandbox == "none":
        yield "nothing confined the commands of agents in the newest run ([commands] sandbox)"
    for each in state.overrides:
        yield f"overridden: task {each.task}, {each.told}"
    for number, record in sorted(state.phases.items()):
        for stage, why in sorted(record.overruled.items()):
            yield f"overridden by {actor_in_words(record.overruled_by[stage])}: phase {number}, {stage}: {why}"
        if record.approved_by:
            yield f"phase {number} was approved without a person: {record.approved_by}"
    if state.plan_approved_by:
        yield f"the plan was approved without a person: {state.plan_approved_by}"
    if state.qa_skipped:
        yield f"{state.qa_skipped} completed in a row without the approval of both the reviewer and the test engineer"
    if state.known_red:
        yield f"tests that fail in the newest commit, and were overruled: {', '.join(state.known_red)}"


def _guardrails(config: Config) -> Iterator[str]:
    """Guardrails that the settings switch off."""
    if config.gates.skip:
        yield f"gates that are not run ([gates] skip): {', '.join(config.gates.skip)}"
    off = (
        ("[review] security", config.review.security),
        ("[tests] must_fail", config.tests.must_fail),
        ("[tests] vanished", config.tests.vanished),
        ("[tests] unproven", config.tests.unproven),
        ("[tests] altered", config.tests.altered),
        ("[tests] adversarial", config.tests.adversarial),
        ("[scope] enforce", config.scope.enforce),
    )
    yield from (f'{name} = "off"' for name, value in off if value == "off")


def _drift(project: Project) -> tuple[str, ...]:
    """Decisions that the plan speaks against; a page is written whatever comes of it."""
    try:
        return tuple(f"{each.kind.value}: {each.text} - {each.why}" for each in drift(project).signals)
    except (SwarmError, OSError):
        return ()
