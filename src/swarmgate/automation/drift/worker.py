"""Compares recorded decisions with later texts: by hand (`swarm drift`), and as a worker on each change of the plan."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from swarmgate.automation.bus.trigger_events import plan_change
from swarmgate.automation.bus.worker import BusEvent, Worker
from swarmgate.automation.drift import compared_texts, dependencies
from swarmgate.automation.drift.compared_texts import Record, record
from swarmgate.automation.drift.comparison import LaterText
from swarmgate.automation.drift.decisions import recorded, written
from swarmgate.automation.drift.detection import Material, detect
from swarmgate.automation.drift.report import Decision, DriftReport, Place
from swarmgate.automation.ports import Ports
from swarmgate.domain.events.automation import AutomationEvent, DriftFound
from swarmgate.domain.state.state import State
from swarmgate.errors import SwarmError
from swarmgate.ledger.context import guidance
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project
from swarmgate.workspace.files import regular
from swarmgate.workspace.git.repository import Repository

NAME = "decision_drift_detection"
MOST_BYTES = 4_000_000
"""A context.md above this size is not read."""

_TASK = re.compile(r"- \[.\] Task (\S+?):")
_LIST = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_FEWEST_POINTS = 2


def drift(project: Project) -> DriftReport:
    """Decisions on record against what came after them. It reads only.

    Raises:
        LedgerCorrupt: the ledger does not hold.
    """
    folder = project.folder
    ledger = Ledger.read(folder)
    state, found = ledger.state, record(entry for entry, _ in ledger.entries())
    path = folder.relative(folder.context)
    context, notes = _context(folder.context, path)
    decisions: tuple[Decision, ...] = (*recorded(state, found.closed), *written(context, file=path))
    laters, more = _laters(folder, state, found, context)
    material = Material(state, decisions, tuple(laters), _wanted(state, found), (*notes, *more))
    return detect(material)


def _laters(folder: SwarmFolder, state: State, found: Record, context: str) -> tuple[list[LaterText], list[str]]:
    path = folder.relative(folder.context)
    answers = guidance.parse(context) if context else state.guidance
    packages, notes = dependencies.read(folder.root, dependencies.listed(folder.root, _tracked(folder.root)))
    laters = [
        *compared_texts.plan_texts(state, _task_lines(folder.plan_md)),
        *compared_texts.brief_texts(state, found),
        *compared_texts.answer_texts(answers, context, path, found),
        *packages,
    ]
    return laters, notes


def _context(path: Path, shown: str) -> tuple[str, list[str]]:
    """The text of context.md, and why it is not read; a file that is not there has no decisions."""
    try:
        data = regular.read(path, limit=MOST_BYTES)
    except FileNotFoundError:
        return "", []
    except OSError as error:
        why = f"larger than {MOST_BYTES // 1_000_000} MB" if error.errno == errno.EFBIG else error.strerror or error
        return "", [f"passed over: {shown}: {why}"]
    if b"\x00" in data:
        return "", [f"passed over: {shown}: it is not text"]
    return data.decode("utf-8-sig", "replace"), []


def _task_lines(path: Path) -> dict[str, int]:
    """The line of each task in plan.md; none where it cannot be read."""
    try:
        lines = regular.read(path).decode("utf-8", "replace").split("\n")
    except OSError:
        return {}
    return {match[1]: number for number, row in enumerate(lines, start=1) if (match := _TASK.match(row))}


def _tracked(root: Path) -> tuple[str, ...]:
    """The paths of the newest commit; none where git says nothing."""
    try:
        repository = Repository.discover(root, lenient=True)
        return repository.list_tree(repository.head_tree())
    except SwarmError:
        return ()


def _wanted(state: State, found: Record) -> tuple[str, Place]:
    """The specification, else the goal where it is a list."""
    if state.spec:
        return state.spec, Place(file=state.source, what="specification")
    if len(_LIST.findall(state.goal)) >= _FEWEST_POINTS:
        return state.goal, Place(seq=found.goal, what="goal")
    return "", Place()


class DriftWorker:
    """Compares when the plan changed, and reports when the signals differ from those reported last.

    Args:
        project: the project.
    """

    name = NAME
    limit_s: float | None = None

    def __init__(self, project: Project) -> None:
        self._project = project
        self._reported: tuple[str, ...] = ()

    def subject(self, bus_event: BusEvent) -> str:
        """`plan` where this event changed the plan."""
        return plan_change(bus_event.happening, bus_event.before, bus_event.after)

    def work(self, subject: str, bus_event: BusEvent) -> AutomationEvent | None:
        """Compares.

        Raises:
            SwarmError: the ledger cannot be read.
        """
        del subject, bus_event
        report = drift(self._project)
        lines = tuple(signal.line for signal in report.signals)
        signals = tuple(sorted(f"{each.kind} {each.decision} {each.text} {each.other}" for each in report.signals))
        if signals == self._reported:
            return None
        self._reported = signals
        return DriftFound(signals=lines)


def worker(project: Project, ports: Ports) -> Worker:  # noqa: ARG001 - one shape for all
    """Decision drift detection on changes of the plan."""
    return DriftWorker(project)
