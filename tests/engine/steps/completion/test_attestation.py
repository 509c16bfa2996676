"""Each task's commit is attested; whatever is altered in a statement, a commit, the ledger or evidence is found."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project, part

from swarmgate.domain.events import event as ev
from swarmgate.domain.evidence.attestation import NOTES_REF, STATEMENT_TYPE, Statement
from swarmgate.ledger.audit.attestations import Auditor
from swarmgate.workspace.git.repository import Repository

pytestmark = [pytest.mark.slow, pytest.mark.suite("unittest")]

Once = Callable[[str, Callable[[], None]], None]


@pytest.fixture
def attested(project: Project, once: Once) -> Project:
    """One task, complete."""

    def make() -> None:
        project.planned()
        project.swarm("run", exits=3)

    once("attested", make)
    return project


def statement(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(project.git("notes", f"--ref={NOTES_REF}", "show", "HEAD"))
    return found


def restate(project: Project, text: str, commit: str = "HEAD") -> None:
    """Another note for a commit, byte for byte."""
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=project.root, input=text.encode(), check=True, capture_output=True
    ).stdout.decode()
    project.git("notes", f"--ref={NOTES_REF}", "add", "--force", "-C", blob.strip(), commit)


def problems(project: Project, revisions: str = "HEAD", *options: str, exits: int = 1) -> list[str]:
    found = project.json("attest", "verify", revisions, *options, exits=exits)
    return [problem for commit in found["commits"] for problem in commit["problems"]]


def test_the_commit_of_a_task_has_a_statement_that_says_what_the_ledger_says(attested: Project) -> None:
    said = statement(attested)
    assert said["_type"] == STATEMENT_TYPE
    assert said["subject"] == [{"name": "commit", "digest": {"gitCommit": attested.git("rev-parse", "HEAD")}}]
    predicate = said["predicate"]
    assert predicate["task"] == {"id": "1.1", "title": "Part 1.1", "phase": 1, "acceptance": ["part 1.1 has a value"]}
    assert predicate["models"]["coder"] == ["local/junior"]
    assert predicate["models"]["reviewer"] == ["local/senior"]
    assert predicate["gates"]["statuses"]["syntax_check"] == "PASS"
    assert [(each["stage"], each["verdict"]) for each in predicate["verdicts"]] == [
        ("review", "APPROVED"),
        ("test", "APPROVED"),
    ]
    assert (predicate["tests"]["passed"], predicate["tests"]["tests_passed"]) == (True, 1)
    (ran,) = attested.events(ev.TestsRun)
    assert predicate["evidence"]["attempt-1/tests.json"] == ran.evidence
    place = f"{predicate['ledger']['seq']} {predicate['ledger']['sha256']}"
    assert attested.trailers()["Swarm-Ledger"] == place
    assert predicate["tree"] == attested.git("rev-parse", "HEAD^{tree}")
    assert attested.json("attest", "show") == said
    found = attested.json("attest", "verify", "HEAD~1..HEAD")
    (commit,) = found["commits"]
    assert (found["passed"], commit["against"], commit["notes"]) == (True, ["commit", "ledger", "evidence"], [])


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a JSON value that can be altered."""
    if isinstance(value, dict) and value:
        return [each for key, inner in value.items() for each in leaves(inner, (*path, key))]
    if isinstance(value, list) and value:
        return [each for key, inner in enumerate(value) for each in leaves(inner, (*path, key))]
    return [path]


def altered(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case list():
            return ["x"]
        case _:
            return {"x": "y"}


def test_every_value_that_is_altered_is_found_in_the_repository_and_in_a_bare_copy_of_it(
    attested: Project, tmp_path: Path
) -> None:
    said = statement(attested)
    clone = tmp_path / "clone"
    attested.git("clone", "--quiet", "--branch", attested.git("branch", "--show-current"), ".", str(clone))
    bare = Project(clone)
    bare.git("fetch", "--quiet", "origin", f"{NOTES_REF}:{NOTES_REF}")
    assert not bare.folder.ledger.exists()
    assert problems(bare, exits=0) == []
    paths = leaves(said)
    assert len(paths) > 40
    commits = Repository.discover(attested.root).commits_named("HEAD")
    repositories = [Repository.discover(each, lenient=True) for each in (attested.root, clone)]
    for path in paths:
        copy = json.loads(json.dumps(said))
        place = copy
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = altered(place[path[-1]])
        text = json.dumps(copy, indent=1, ensure_ascii=False) + "\n"
        for repository in repositories:
            found = Auditor(repository, {commits[0].id: text}, signed=False).verified(commits[0])
            assert found.problems, path


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"goal": "Add parts"', '"goal": "Add all", "goal": "Add parts"'),
        lambda text: text.replace('"subject"', '"more": 1, "subject"'),
        lambda text: text + " ",
        lambda text: text[:-40],
        lambda _: "",
        lambda _: "[]",
        lambda _: '{"_type": "' + "x" * 100_000 + '"}',
    ],
    ids=["a key twice", "one more key", "a blank", "cut", "empty", "a list", "another type"],
)
def test_a_note_that_is_not_as_it_was_written_is_found(attested: Project, change: Callable[[str], str]) -> None:
    text = Statement.model_validate(statement(attested)).text()
    restate(attested, text)
    assert problems(attested, exits=0) == []
    restate(attested, change(text) or "{}")
    (problem, *_) = problems(attested)
    assert "statement" in problem or "note" in problem


def test_a_statement_that_is_gone_or_on_another_commit_is_found(attested: Project) -> None:
    head = attested.git("rev-parse", "HEAD")
    text = Statement.model_validate(statement(attested)).text()
    attested.git("commit", "--quiet", "--allow-empty", "--message", "Mine")
    assert problems(attested, "HEAD~1..HEAD", exits=0) == []
    assert "is not attested" in problems(attested, "HEAD~1..HEAD", "--every")[0]
    restate(attested, text)
    assert "subject: the statement is about commit" in problems(attested)[0]
    attested.git("notes", f"--ref={NOTES_REF}", "remove", head)
    assert "its statement is not here" in problems(attested, head)[0]
    attested.git("update-ref", "-d", NOTES_REF)
    assert "git fetch origin" in problems(attested, head)[0]


def test_a_commit_that_was_rewritten_is_not_the_one_that_was_attested(attested: Project) -> None:
    text = Statement.model_validate(statement(attested)).text()
    attested.write("src/calc/part_1.1.py", part("changed"))
    attested.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    restate(
        attested, text.replace(json.loads(text)["subject"][0]["digest"]["gitCommit"], attested.git("rev-parse", "HEAD"))
    )
    assert any(each.startswith("predicate.tree") for each in problems(attested))


def test_an_altered_ledger_and_altered_evidence_are_found(attested: Project) -> None:
    evidence = attested.folder.evidence / "1.1/attempt-1/tests.json"
    evidence.write_text(evidence.read_text() + " ")
    assert problems(attested) == [f"evidence: {attested.folder.relative(evidence)} was changed after it was recorded"]
    evidence.unlink()
    assert problems(attested, exits=0) == []
    (commit,) = attested.json("attest", "verify", "HEAD")["commits"]
    (note,) = commit["notes"]
    assert re.fullmatch("1 of [0-9]+ files of evidence are not here", note)
    lines = attested.folder.ledger.read_text()
    attested.folder.ledger.write_text(lines.replace("Add parts", "Add other"))
    assert "does not match its own hash" in problems(attested)[0]


def test_a_signed_commit_signs_its_statement(project: Project, tmp_path: Path) -> None:
    key, allowed = tmp_path / "key", tmp_path / "allowed"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    allowed.write_text(f"* {key.with_suffix('.pub').read_text()}")
    settings = {"gpg.format": "ssh", "user.signingkey": str(key), "gpg.ssh.allowedSignersFile": str(allowed)}
    for name, value in {**settings, "commit.gpgsign": "true"}.items():
        project.git("config", name, value)
    project.planned()
    project.swarm("run", exits=3)
    assert problems(project, "HEAD", "--signed", exits=0) == []
    allowed.write_text("")
    assert problems(project, "HEAD", "--signed") != []
    assert problems(project, exits=0) == []


def test_a_commit_without_a_signature_is_told_where_one_is_asked_for(attested: Project) -> None:
    (problem,) = problems(attested, "HEAD", "--signed")
    assert problem.startswith("signature: missing")


def test_a_run_that_ends_between_commit_and_statement_writes_that_with_the_next_one(project: Project) -> None:
    project.planned()
    in_the_way = project.write(".git/refs/notes", "no folder")
    project.swarm("run", exits=2)
    assert "Swarm-Attestation" in project.trailers()
    assert not project.events(ev.TaskCompleted)
    in_the_way.unlink()
    project.swarm("run", exits=3)
    assert project.events(ev.TaskCompleted)
    assert problems(project, exits=0) == []


def test_a_run_that_is_killed_between_commit_and_statement_writes_that_with_the_next_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = project.root.parent / "bin/git"
    git.parent.mkdir()
    real, mark = shutil.which("git"), project.root.parent / "killed"
    made = f'test ! -e {mark} && {real} log -1 --format=%B | grep -q "^Swarm-Attestation: "'
    dies = f"if {made}; then : > {mark}; kill -9 $PPID $$; fi"
    git.write_text(
        f'#!/bin/sh\ncase " $* " in *" commit "*) {real} "$@" && {{ {dies}; }};; *) exec {real} "$@";; esac\n'
    )
    git.chmod(0o755)
    project.planned()
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(git.parent), prepend=":")
        process = project.start("run")
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert "Swarm-Attestation" in project.trailers()
    assert "its statement is not here" in problems(project)[0]
    assert not project.events(ev.TaskCompleted)
    project.swarm("run", exits=3)
    assert problems(project, exits=0) == []
    assert len(project.events(ev.TaskCompleted)) == 1


def test_statements_that_are_gone_or_altered_are_written_again_from_the_ledger_and_no_others(
    attested: Project, tmp_path: Path
) -> None:
    text = Statement.model_validate(statement(attested)).text()
    head = attested.git("rev-parse", "HEAD")
    for spoilt in (text.replace("Add parts", "Add all"), "{}", ""):
        attested.git("notes", f"--ref={NOTES_REF}", "remove", "--ignore-missing", head)
        if spoilt:
            restate(attested, spoilt)
        assert problems(attested) != []
        assert attested.json("attest", "restore") == {"restored": [head], "left": {}}
        assert problems(attested, exits=0) == []
        assert Statement.model_validate(statement(attested)).text() == text
    assert attested.json("attest", "restore", "HEAD~1..HEAD") == {"restored": [], "left": {}}
    attested.git("notes", f"--ref={NOTES_REF}", "remove", head)
    clone = tmp_path / "clone"
    attested.git("clone", "--quiet", "--branch", attested.git("branch", "--show-current"), ".", str(clone))
    assert "swarm attest restore" in problems(attested)[0]
    left = Project(clone).json("attest", "restore", exits=1)
    assert left == {"restored": [], "left": {head: "no ledger is here"}}
    forged = attested.git("log", "-1", "--format=%B").replace("Swarm-Attestation: ", "Swarm-Attestation: 0")
    attested.git("commit", "--quiet", "--amend", "--message", forged)
    assert "no ledger here gives" in attested.swarm("attest", "restore", exits=1).stdout


def test_statements_can_be_switched_off(project: Project) -> None:
    project.planned(git={"attest": False})
    project.swarm("run", exits=3)
    assert "Swarm-Attestation" not in project.trailers()
    assert "is not attested" in problems(project)[0]
    assert problems(project, "HEAD~1..HEAD", exits=0) == []


def test_where_git_ai_is_installed_its_log_says_who_wrote_which_lines(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "bin/git-ai"
    installed.parent.mkdir()
    installed.write_text("#!/bin/sh\n")
    installed.chmod(0o755)
    monkeypatch.setenv("PATH", f"{installed.parent}:{os.environ['PATH']}")
    project.planned()
    project.swarm("run", exits=3)
    head = project.git("rev-parse", "HEAD")
    lines, divider, metadata = project.git("notes", "--ref=ai", "show", "HEAD").partition("\n---\n")
    said = json.loads(metadata)
    ((session, about),) = said["sessions"].items()
    assert divider
    assert re.fullmatch(rf"src/calc/part_1\.1\.py\n  {session}::t_[0-9a-f]{{14}} 1-3", lines)
    assert re.fullmatch("s_[0-9a-f]{14}", session)
    assert (said["schema_version"], said["base_commit_sha"], said["prompts"]) == ("authorship/3.0.0", head, {})
    assert (about["agent_id"]["tool"], about["agent_id"]["model"]) == ("swarmgate", "local/junior")
    assert problems(project, exits=0) == []
