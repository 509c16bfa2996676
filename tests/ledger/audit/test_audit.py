from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.domain.story import GREEN, YES, delegated, planned

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event
from swarmgate.domain.review.finding import GateStatus
from swarmgate.ledger.audit.audit import audit
from swarmgate.ledger.check import Check
from swarmgate.ledger.evidence.evidence import BASE, GATES, PATCH, REVIEW, TESTS, EvidenceStore
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git.repository import Repository

Git = Callable[..., str]
PASSED = {"diff": GateStatus.PASS}


def _attempt(folder: SwarmFolder, task: str, tree: str) -> list[Event]:
    """A passing attempt with evidence files, up to the commit."""
    store = EvidenceStore(folder)
    proof = {name: store.write(task, 1, name, f"{name} of {task}".encode()) for name in (PATCH, GATES, REVIEW, TESTS)}
    return [
        delegated(task),
        ev.ChangeCaptured(task=task, attempt=1, tree=tree, evidence=proof[PATCH]),
        ev.GatesRun(task=task, attempt=1, tree=tree, passed=True, statuses=PASSED, evidence=proof[GATES]),
        ev.ReviewGiven(task=task, attempt=1, review=YES, passed=True, evidence=proof[REVIEW]),
        ev.TestsWritten(task=task, attempt=1, tree=tree, review=YES),
        ev.TestsRun(task=task, attempt=1, tree=tree, run=GREEN, passed=True, evidence=proof[TESTS]),
    ]


def _complete(folder: SwarmFolder, repository: Repository, task: str, **trailers: str) -> None:
    """Does a task as the loop would: change a file, record the attempt, commit, record the commit."""
    (repository.root / f"{task}.txt").write_text(task)
    tree = repository.snapshot()
    with Ledger.write(folder) as ledger:
        ledger.append(_attempt(folder, task, tree), expect=ledger.state.seq)
        stamp = {"Swarm-Task": task, "Swarm-Ledger": f"{ledger.state.seq} {ledger.head}", **trailers}
        change = repository.changes(repository.head_tree(), tree)
        commit = repository.commit(change, f"Part {task}", list(stamp.items()))
        ledger.append([ev.TaskCompleted(task=task, attempt=1, commit=commit.id, tree=tree)], expect=ledger.state.seq)


def _begin(folder: SwarmFolder, repository: Repository) -> None:
    events = [*planned(), ev.PlanApproved(), ev.RunStarted(pid=1, host="h")]
    with Ledger.write(folder) as ledger:
        ledger.append(events, expect=ledger.state.seq)
        ledger.append([ev.WorkStarted(branch="main", base=repository.head())], expect=ledger.state.seq)


@pytest.fixture
def project(repo: Path) -> tuple[SwarmFolder, Repository]:
    """Two tasks done, with evidence and commits."""
    folder, repository = SwarmFolder(repo), Repository.discover(repo)
    folder.create()
    _begin(folder, repository)
    for task in ("1.1", "1.2"):
        _complete(folder, repository, task)
    return folder, repository


def _failed(folder: SwarmFolder, repository: Repository) -> dict[str, tuple[str, ...]]:
    return {check.name: check.problems for check in audit(folder, repository) if not check.passed}


def test_when_everything_fits_each_check_says_what_it_looked_at(project: tuple[SwarmFolder, Repository]) -> None:
    assert audit(*project) == (
        Check("chain", "20 lines"),
        Check("projections", "plan.md, plan.json"),
        Check("evidence", "8 files"),
        Check("records", "0 of councils"),
        Check("commits", "2 commits"),
        Check("anchors", "3 anchors, the newest at line 20"),
    )


def test_an_altered_line_is_named_and_nothing_is_built_on_it(project: tuple[SwarmFolder, Repository]) -> None:
    folder, repository = project
    folder.ledger.write_bytes(folder.ledger.read_bytes().replace(b'"task":"1.2"', b'"task":"1.3"', 1))
    (check,) = audit(folder, repository)
    assert check.looked_at == ".swarm/ledger.jsonl up to line 14"
    assert check.problems == ("ledger.jsonl line 14 does not match its own hash.",)


def test_a_torn_tail_is_reported_and_left_alone(project: tuple[SwarmFolder, Repository]) -> None:
    folder, repository = project
    with folder.ledger.open("ab") as file:
        file.write(b'{"seq":21')
    assert _failed(folder, repository) == {"chain": ("ledger.jsonl ends in 9 bytes of a line that was cut short.",)}
    assert folder.ledger.read_bytes().endswith(b'{"seq":21')


@pytest.mark.slow
@pytest.mark.parametrize(("name", "line"), [(PATCH, 15), (GATES, 16), (REVIEW, 17), (TESTS, 19)])
def test_tampered_evidence_is_named_with_the_line_that_recorded_it(
    project: tuple[SwarmFolder, Repository], name: str, line: int
) -> None:
    folder, repository = project
    path = EvidenceStore(folder).place("1.2", 1, name)
    path.write_bytes(b"all fine")
    shown = f".swarm/evidence/1.2/attempt-1/{name}"
    assert _failed(folder, repository) == {"evidence": (f"line {line}: {shown} was changed after it was recorded",)}
    path.unlink()
    (told,) = _failed(folder, repository)["evidence"]
    assert told == f"line {line}: {shown} cannot be read: No such file or directory"


def test_a_commit_that_is_gone_is_named(project: tuple[SwarmFolder, Repository], git: Git) -> None:
    folder, repository = project
    gone = repository.head()
    git(repository.root, "reset", "--quiet", "--soft", "HEAD~1")
    assert _failed(folder, repository) == {
        "commits": (f"line 20: commit {gone[:12]} of task 1.2 is not on this branch.",)
    }


def test_a_commit_with_another_tree_is_named(repo: Path) -> None:
    folder, repository = SwarmFolder(repo), Repository.discover(repo)
    folder.create()
    _begin(folder, repository)
    _complete(folder, repository, "1.1")
    (repo / "1.3.txt").write_text("committed")
    tree = repository.snapshot()
    change = repository.changes(repository.head_tree(), tree)
    with Ledger.write(folder) as ledger:
        ledger.append(_attempt(folder, "1.3", "another tree"), expect=ledger.state.seq)
        trailers = [("Swarm-Task", "1.3"), ("Swarm-Ledger", f"{ledger.state.seq} {ledger.head}")]
        commit = repository.commit(change, "Part", trailers)
        done = ev.TaskCompleted(task="1.3", attempt=1, commit=commit.id, tree="another tree")
        ledger.append([done], expect=ledger.state.seq)
    (told,) = _failed(folder, repository)["commits"]
    assert told == (
        f"line 20: commit {commit.id[:12]} holds the tree {tree[:12]}, but the tree that passed is another tree."
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trailer", "told"),
    [
        ({"Swarm-Task": "1.3"}, "line 20: commit {} does not name task 1.2 in its Swarm-Task trailer."),
        ({"Swarm-Ledger": "19 " + "0" * 64}, "commit {} points at ledger line '19 " + "0" * 64 + "', which the ledger"),
        ({"Swarm-Ledger": "²"}, "commit {} points at ledger line '²', which the ledger does not hold."),
        ({"Swarm-Ledger": "9" * 5000}, "commit {} points at ledger line '999"),
        ({"Swarm-Ledger": "x"}, "commit {} points at ledger line 'x'"),
    ],
)
def test_a_commit_with_a_wrong_trailer_is_named(repo: Path, trailer: dict[str, str], told: str) -> None:
    folder, repository = SwarmFolder(repo), Repository.discover(repo)
    folder.create()
    _begin(folder, repository)
    _complete(folder, repository, "1.1")
    _complete(folder, repository, "1.2", **trailer)
    (problem,) = _failed(folder, repository)["commits"]
    assert problem.startswith(told.format(repository.head()[:12]))


def test_a_ledger_that_was_cut_off_does_not_hold_what_the_commits_and_the_plan_name(
    project: tuple[SwarmFolder, Repository],
) -> None:
    folder, repository = project
    lines = folder.ledger.read_bytes().splitlines(keepends=True)
    folder.ledger.write_bytes(b"".join(itertools.islice(lines, 13)))
    failed = _failed(folder, repository)
    assert failed["projections"][0] == "plan.md line 2: claims ledger position 20; the ledger is at 13."
    (told,) = failed["commits"]
    assert told.startswith(f"commit {repository.head()[:12]} points at ledger line '19 ")


def test_edited_missing_and_stale_views_are_reported_and_left_alone(project: tuple[SwarmFolder, Repository]) -> None:
    folder, repository = project
    folder.plan_json.unlink()
    edited = folder.plan_md.read_text().replace("# Parts", "# Mine")
    folder.plan_md.write_text(edited)
    assert _failed(folder, repository)["projections"] == (
        "plan.md was edited by hand.",
        "plan.json is missing or out of date; it comes back with: swarm run",
    )
    assert folder.plan_md.read_text() == edited
    folder.plan_md.write_text(edited.replace("- [ ] Task 1.3", "- [x] Task 1.3"))
    assert "task 1.3 is pending, and the edit says complete" in _failed(folder, repository)["projections"][0]


@pytest.mark.slow
def test_commits_and_evidence_of_an_earlier_goal_are_not_asked_of_the_present_one(
    project: tuple[SwarmFolder, Repository], git: Git
) -> None:
    folder, repository = project
    _complete(folder, repository, "1.3")
    with Ledger.write(folder) as ledger:
        closing: list[Event] = [ev.PhaseClosed(phase=1, summary="s"), ev.PhaseApproved(phase=1)]
        skip = ev.TaskSkipped(task="2.1", reason="x")
        ended = [*closing, skip, ev.PhaseClosed(phase=2, summary="s"), ev.PhaseApproved(phase=2)]
        ledger.append(ended, expect=ledger.state.seq)
    EvidenceStore(folder).archive(1)
    _begin(folder, repository)
    assert _failed(folder, repository) == {}
    (repository.root / "1.1.txt").write_text("again")
    git(repository.root, "commit", "--quiet", "--all", "--message=by hand")
    (repository.root / "1.1.txt").unlink()
    _complete(folder, repository, "1.1")
    assert _failed(folder, repository) == {}


def _left(folder: SwarmFolder, task: str, name: str) -> None:
    path = EvidenceStore(folder).place(task, 1, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


def test_what_an_older_version_put_no_hash_of_on_record_is_told_and_no_finding(
    project: tuple[SwarmFolder, Repository],
) -> None:
    folder, _ = project
    _left(folder, "1.1", BASE)
    (evidence,) = [check for check in audit(*project) if check.name == "evidence"]
    assert evidence.passed
    (told,) = evidence.warnings
    assert told.startswith(f".swarm/evidence/1.1/attempt-1/{BASE}: an older version put no SHA-256 on record")


@pytest.mark.slow
@pytest.mark.parametrize(("task", "name"), [("1.3", BASE), ("1.1", "more.json"), ("9.9", BASE)])
def test_that_excuse_holds_for_no_other_file_and_no_newer_attempt(
    project: tuple[SwarmFolder, Repository], task: str, name: str
) -> None:
    """Only for attempts that began before the first run that says that all evidence is on record."""
    folder, repository = project
    with Ledger.write(folder) as ledger:
        ledger.append([ev.RunStarted(pid=1, host="h", record=2)], expect=ledger.state.seq)
    _complete(folder, repository, "1.3")
    assert _failed(folder, repository) == {}
    _left(folder, task, name)
    assert _failed(folder, repository) == {
        "evidence": (f".swarm/evidence/{task}/attempt-1/{name} is on record in no line of the ledger",)
    }


def test_a_ledger_of_an_older_version_needs_no_anchors(project: tuple[SwarmFolder, Repository], git: Git) -> None:
    folder, repository = project
    for ref in git(repository.root, "for-each-ref", "--format=%(refname)", "refs/swarm").split():
        git(repository.root, "update-ref", "-d", ref)
    shutil.rmtree(repository.root / ".git/swarm")
    assert _failed(folder, repository) == {}


def test_a_commit_that_points_into_another_attempt_is_named(repo: Path) -> None:
    folder, repository = SwarmFolder(repo), Repository.discover(repo)
    folder.create()
    _begin(folder, repository)
    _complete(folder, repository, "1.1")
    line = Ledger.read(folder)
    entry, digest = next((entry, digest) for entry, digest in line.entries() if isinstance(entry.event, ev.TestsRun))
    _complete(folder, repository, "1.2", **{"Swarm-Ledger": f"{entry.seq} {digest}"})
    (told,) = _failed(folder, repository)["commits"]
    assert told.endswith(f"points at line {entry.seq}, which is not of its own attempt.")


def test_a_commit_that_waits_for_its_line_is_told_and_a_second_one_is_found(repo: Path, git: Git) -> None:
    folder, repository = SwarmFolder(repo), Repository.discover(repo)
    folder.create()
    _begin(folder, repository)
    base = repository.head()
    (repo / "1.1.txt").write_text("1.1")
    tree = repository.snapshot()
    with Ledger.write(folder) as ledger:
        first, *others = _attempt(folder, "1.1", tree)
        ledger.append([first.model_copy(update={"base": base}), *others], expect=ledger.state.seq)
        trailers = {"Swarm-Task": "1.1", "Swarm-Attempts": "1", "Swarm-Ledger": f"{ledger.state.seq} {ledger.head}"}
    made = repository.commit(repository.changes(repository.head_tree(), tree), "Part 1.1", list(trailers.items()))
    (commits,) = [check for check in audit(folder, repository) if check.name == "commits"]
    assert commits.passed
    assert commits.warnings == (
        f"commit {made.id[:12]} of task 1.1 was made, and the run ended before it was recorded",
    )
    message = git(repo, "log", "-1", "--format=%B")
    git(repo, "commit", "--quiet", "--allow-empty", f"--message={message}")
    assert len(_failed(folder, repository)["commits"]) == 2


def test_before_any_work_there_is_nothing_to_find(repo: Path) -> None:
    folder = SwarmFolder(repo)
    folder.create()
    assert [check.looked_at for check in audit(folder, Repository.discover(repo))] == [
        "0 lines",
        "no plan yet",
        "0 files",
        "0 of councils",
        "none yet",
        "none yet",
    ]
