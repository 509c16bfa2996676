"""A forger of records: whatever is altered, taken away, put in or moved of what is on record, `swarm verify` tells.

The project is real and made once: two tasks, one of them rejected first, two phases and their approvals. Every forgery
is made on it, looked at, and taken back.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.misbehaviour.case import case
from tests.project import GOAL, Project, code, part, plan, review, task

from swarmgate.domain.events import event as ev
from swarmgate.engine import Swarm

Lines = list[bytes]
Forgery = Callable[[Lines, int], Lines]


@pytest.fixture(scope="module")
def done(_template: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The project, and nobody at work in it."""
    root = tmp_path_factory.mktemp("forged").resolve() / "project"
    shutil.copytree(_template("unittest"), root, symlinks=True)
    project = Project(root, "unittest")
    numbers = {"1.1": "11", "2.1": "21"}
    plans = plan(*(task(each, files=[f"src/calc/part_{number}.py"]) for each, number in numbers.items()))
    coded = (code({f"src/calc/part_{number}.py": part(number)}, task=each) for each, number in numbers.items())
    project.play(plans, *coded, review("REJECTED", "not yet", "again", task="2.1", attempt="1"))
    project.swarm("plan", GOAL, exits=3)
    for _ in numbers:
        project.swarm("approve")
        project.swarm("run", exits=3)
    project.swarm("approve")
    assert project.json("verify")["passed"]
    yield project
    project.silence()


# --- the ledger ---


def _rehashed(lines: Lines, start: int) -> Lines:
    """The lines with the chain made whole again from a line on, as a forger does who knows how."""
    found = lines[:start]
    for number, line in enumerate(lines[start:], start=start):
        prev = found[-1][-67:-3] if number else b"0" * 64
        body = line.partition(b',"prev":"')[0] + b',"prev":"' + prev + b'"'
        found.append(body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n')
    return found


def _altered(lines: Lines, at: int) -> Lines:
    return [*lines[:at], lines[at].replace(b'"time":"2', b'"time":"1', 1), *lines[at + 1 :]]


def _deleted(lines: Lines, at: int) -> Lines:
    return [*lines[:at], *lines[at + 1 :]]


def _doubled(lines: Lines, at: int) -> Lines:
    return [*lines[:at], lines[at], *lines[at:]]


def _swapped(lines: Lines, at: int) -> Lines:
    other = at + 1 if at + 1 < len(lines) else at - 1
    found = list(lines)
    found[at], found[other] = found[other], found[at]
    return found


def _cut(lines: Lines, at: int) -> Lines:
    return lines[:at]


def _cut_within(lines: Lines, at: int) -> Lines:
    return [*lines[:at], lines[at][: len(lines[at]) // 2]]


def _rewritten(lines: Lines, at: int) -> Lines:
    return _rehashed(_altered(lines, at), at)


FORGERIES: tuple[Forgery, ...] = (_altered, _deleted, _doubled, _swapped, _cut, _cut_within, _rewritten)


def _problems(project: Project) -> list[str]:
    return [f"{check.name}: {problem}" for check in Swarm(project.root).verify() for problem in check.problems]


@contextlib.contextmanager
def _kept(*paths: Path) -> Iterator[None]:
    """What stands there is there again afterwards."""
    before = {path: path.read_bytes() for path in paths}
    try:
        yield
    finally:
        for path, data in before.items():
            if path.is_symlink():
                path.unlink()
            path.write_bytes(data)


def _escapes(project: Project, path: Path, forgeries: Sequence[tuple[Forgery, int]]) -> list[str]:
    """The forgeries of a file's lines that nobody noticed."""
    with _kept(path):
        lines, found = path.read_bytes().splitlines(keepends=True), []
        for forgery, at in forgeries:
            path.write_bytes(b"".join(forgery(lines, at)))
            if not _problems(project):
                found.append(f"{forgery.__name__} line {at + 1} of {path.name}")
    return found


@pytest.mark.slow
@case(
    "lies",
    "any line of the ledger altered, deleted, doubled, swapped, cut off, or rewritten with all hashes behind it",
    "`swarm verify` finds each: by the chain, or by the anchors in git",
)
def test_every_forged_line_of_the_ledger_is_found(done: Project) -> None:
    count = len(done.lines())
    forgeries = [(FORGERIES[at % len(FORGERIES)], at) for at in range(count)]
    newest = [(forgery, count - 1) for forgery in FORGERIES]
    assert _escapes(done, done.folder.ledger, [*forgeries, *newest]) == []
    assert _problems(done) == []


@pytest.mark.slow
def test_every_forgery_of_every_line_is_found(done: Project) -> None:
    count = len(done.lines())
    assert _escapes(done, done.folder.ledger, [(each, at) for each in FORGERIES for at in range(count)]) == []


@pytest.mark.slow
def test_a_line_put_behind_the_last_one_is_found(done: Project) -> None:
    lines = done.folder.ledger.read_bytes().splitlines(keepends=True)
    usage = next(at for at, line in enumerate(lines) if b'"type":"usage_recorded"' in line)
    forged = lines[usage].replace(f'{{"seq":{usage + 1},'.encode(), f'{{"seq":{len(lines) + 1},'.encode(), 1)
    with _kept(done.folder.ledger):
        done.folder.ledger.write_bytes(b"".join(_rehashed([*lines, forged], len(lines))))
        assert len(Swarm(done.root).history()) > 0  # it is a legal line of a whole chain
        told = _problems(done)
    assert any(f"lines {len(lines) + 1} to {len(lines) + 1} have no anchor" in problem for problem in told)


# --- plan files and evidence ---


@pytest.mark.slow
def test_every_line_of_the_plan_files_is_found(done: Project) -> None:
    for path in (done.folder.plan_md, done.folder.plan_json):
        count = len(path.read_bytes().splitlines())
        assert _escapes(done, path, [((_deleted, _cut)[at % 2], at) for at in range(count)]) == []


@pytest.mark.slow
@case(
    "lies",
    "any file of evidence altered, emptied, deleted, swapped, replaced by a link, or put beside the others",
    "`swarm verify` finds each: every file has its hash on record, and every file is on record",
)
def test_every_forged_file_of_evidence_is_found(done: Project) -> None:
    files = sorted(path for path in done.folder.evidence.rglob("*") if path.is_file())
    assert len(files) >= 12
    for path, other in zip(files, [*files[1:], files[0]], strict=True):
        shown = done.folder.relative(path)
        with _kept(path):
            for data in (b"", path.read_bytes() + b" ", other.read_bytes()):
                path.write_bytes(data)
                assert any(shown in problem for problem in _problems(done)), path
            path.unlink()
            assert any(shown in problem for problem in _problems(done)), path
            path.symlink_to(other)
            assert any(shown in problem for problem in _problems(done)), path
    assert _problems(done) == []


@pytest.mark.parametrize(
    "name", ["1.1/attempt-1/tests-before.json", "1.1/attempt-2/gates.json", "9.9/attempt-1/tests.json", "notes.txt"]
)
def test_a_file_that_no_line_knows_is_found(done: Project, name: str) -> None:
    path = done.folder.evidence / name
    folders = [each for each in path.parents if not each.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("all green")
    try:
        assert _problems(done) == [f"evidence: .swarm/evidence/{name} is on record in no line of the ledger"]
    finally:
        path.unlink()
        for each in folders:
            each.rmdir()


# --- commits ---


@pytest.fixture
def branch(done: Project) -> Iterator[Project]:
    """The branch of the work is where it was, afterwards."""
    head = done.git("rev-parse", "HEAD")
    yield done
    done.git("reset", "--quiet", "--soft", head)
    assert _problems(done) == []


@case(
    "lies",
    "a commit with the trailers of a task's commit, copied",
    "`swarm verify` names it: no `task_completed` names that commit",
)
def test_a_commit_with_copied_trailers_is_found(branch: Project) -> None:
    message = branch.git("log", "-1", "--format=%B")
    branch.git("commit", "--quiet", "--allow-empty", f"--message={message}")
    (told,) = _problems(branch)
    forged = branch.git("rev-parse", "HEAD")[:12]
    assert told == f"commits: commit {forged} has the trailers of task 2.1, and no line of the ledger names it."


def test_commits_of_the_users_own_are_told_and_are_no_finding(branch: Project) -> None:
    branch.git("commit", "--quiet", "--allow-empty", "--message=Mine")
    mine = branch.git("rev-parse", "HEAD")[:12]
    checks = {check.name: check for check in Swarm(branch.root).verify()}
    assert all(check.passed for check in checks.values())
    assert checks["commits"].warnings == (f"1 without a Swarm-Task trailer, your own: {mine}",)
    assert f"note: 1 without a Swarm-Task trailer, your own: {mine}" in branch.swarm("verify").stdout


@pytest.mark.parametrize(
    "forged",
    [
        lambda message: message.replace("Swarm-Task: 2.1", "Swarm-Task: 1.1"),
        lambda message: message.replace("Swarm-Attempts: 2", "Swarm-Attempts: 1"),
        lambda message: message.partition("Swarm-Task")[0],
        lambda message: f"{message}\nand more",
    ],
)
def test_an_amended_commit_of_a_task_is_found(branch: Project, forged: Callable[[str], str]) -> None:
    gone = branch.git("rev-parse", "HEAD")[:12]
    branch.git("commit", "--quiet", "--amend", f"--message={forged(branch.git('log', '-1', '--format=%B'))}")
    assert any(f"commit {gone} of task 2.1 is not on this branch" in problem for problem in _problems(branch))


# --- what git's folder knows ---


@pytest.fixture
def refs(done: Project) -> Iterator[dict[str, str]]:
    """The refs of the anchors; they, the tail and the ledger are as they were, afterwards."""
    listed = done.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/swarm").splitlines()
    before = dict(line.split() for line in listed)
    with _kept(_tail(done), done.folder.ledger):
        yield before
    for ref in done.git("for-each-ref", "--format=%(refname)", "refs/swarm").split():
        if ref not in before:
            done.git("update-ref", "-d", ref)
    for ref, commit in before.items():
        done.git("update-ref", ref, commit)
    assert _problems(done) == []


def _tail(project: Project) -> Path:
    return project.root / ".git/swarm/ledger.tail"


@pytest.mark.slow
@case(
    "lies",
    "the anchors of the ledger deleted, moved back, replaced by other commits, or the mark behind them forged",
    "`swarm verify` finds each, and says what to fetch where they were pushed",
)
def test_every_forged_anchor_is_found(done: Project, refs: dict[str, str]) -> None:
    newest = done.git("rev-parse", max(refs, key=lambda ref: int(ref.rpartition("/")[2])))
    tree, parent = done.git("rev-parse", f"{newest}^{{tree}}"), done.git("rev-parse", f"{newest}^")
    subject, other = done.git("log", "-1", "--format=%s", newest), done.git("rev-parse", f"{parent}^{{tree}}")
    forged = {
        "moved back": parent,
        "the same again": done.git("commit-tree", "-m", subject, "-p", parent, tree),
        "other lines": done.git("commit-tree", "-m", subject, "-p", parent, other),
        "another subject": done.git("commit-tree", "-m", "Ledger line 1", "-p", parent, tree),
        "no parent": done.git("commit-tree", "-m", subject, tree),
        "a merge": done.git("commit-tree", "-m", subject, "-p", parent, "-p", "main", tree),
        "the work": done.git("rev-parse", "HEAD"),
    }
    for ref, commit in refs.items():
        done.git("update-ref", "-d", ref)
        assert _problems(done), f"{ref} deleted"
        for what, instead in forged.items():
            done.git("update-ref", ref, instead)
            assert _problems(done), f"{ref}: {what}"
        done.git("update-ref", ref, commit)
        done.git("update-ref", f"{ref}7", commit)
        assert _problems(done), f"{ref}7 made"
        done.git("update-ref", "-d", f"{ref}7")
        assert _problems(done) == []


def test_a_forged_mark_is_found(done: Project, refs: dict[str, str]) -> None:
    del refs
    count = len(_tail(done).read_bytes().splitlines())
    forgeries = [(each, at) for each in (_altered, _deleted, _swapped, _cut) for at in range(count)]
    altered = [each for each in forgeries if each != (_altered, 0)]  # the header has no time
    assert _escapes(done, _tail(done), altered) == []

    def header(lines: Lines, at: int) -> Lines:
        return [lines[0].replace(b'"commit":"', b'"commit":"0'), *lines[1:]][at:]

    assert _escapes(done, _tail(done), [(header, 0)]) == []
    _tail(done).unlink()
    try:
        assert any("there is no high-water mark" in problem for problem in _problems(done))
    finally:
        _tail(done).touch()


def test_who_deletes_all_that_git_knows_and_rewrites_the_ledger_is_found(done: Project, refs: dict[str, str]) -> None:
    lines = done.folder.ledger.read_bytes().splitlines(keepends=True)
    done.folder.ledger.write_bytes(b"".join(_rewritten(lines, len(lines) - 1)))
    for ref in refs:
        done.git("update-ref", "-d", ref)
    _tail(done).unlink()
    try:
        told = _problems(done)
    finally:
        _tail(done).touch()
    assert any("has no anchor in this repository" in problem for problem in told)


def test_an_approval_that_is_rewritten_after_the_last_commit_is_found(done: Project, refs: dict[str, str]) -> None:
    del refs
    lines = done.folder.ledger.read_bytes().splitlines(keepends=True)
    approval = max(at for at, line in enumerate(lines) if b'"type":"phase_approved"' in line)
    assert approval > max(at for at, line in enumerate(lines) if b'"type":"task_completed"' in line)
    done.folder.ledger.write_bytes(b"".join(_rewritten(lines, approval)))
    assert Swarm(done.root).state.phase(2).approved
    assert any("anchor" in problem for problem in _problems(done))


# --- what it cannot tell ---


def test_a_whole_forgery_is_told_by_an_anchor_that_somebody_else_holds(
    done: Project, refs: dict[str, str], tmp_path: Path
) -> None:
    """Who writes everything anew, git's folder too, is found by nothing in it; docs/ledger.md says so, and the way."""
    team = tmp_path / "team.git"
    done.git("init", "--quiet", "--bare", str(team))
    done.git("push", "--quiet", str(team), "refs/swarm/*:refs/swarm/*")
    lines = done.folder.ledger.read_bytes().splitlines(keepends=True)
    done.folder.ledger.write_bytes(b"".join(_rewritten(lines, len(lines) - 1)))
    for ref in refs:
        done.git("update-ref", "-d", ref)
    _tail(done).unlink()
    try:
        with Swarm(done.root).project.writing():  # it makes mark and anchors anew, of what the forger wrote
            pass
        assert _problems(done) == []
        done.git("fetch", "--quiet", "--force", str(team), "refs/swarm/*:refs/swarm/*")
        assert any("holds other lines than the ledger" in problem for problem in _problems(done))
    finally:
        _tail(done).touch()


def test_old_lines_hold_still(done: Project) -> None:
    """The honest twin: nothing was forged in all of this, and work could go on."""
    assert _problems(done) == []
    assert [event.task for event in done.events(ev.TaskCompleted)] == ["1.1", "2.1"]
