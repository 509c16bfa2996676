from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.project import Project
from tests.server.runs.conftest import ADA, Served

from swarmgate.engine import Swarm
from swarmgate.errors import IllegalMove, NotFound, UsageError, WorkspaceError
from swarmgate.journal.lock import WriterLock
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.model import Ended, Goal


def made(served: Served) -> Goal:
    """A goal with its clone, and nothing wanted of it."""
    goal = served.goals.create(served.repo, "Add parts", owner="a-1", by=ADA)
    served.goals.prepare(goal)
    return served.goals.records.change(goal.id, lambda each: each.model_copy(update={"wanted": None}))[1]


def test_a_goal_is_written_down_at_once_and_its_clone_is_made_by_who_works(served: Served) -> None:
    goal = served.goals.create(served.repo, "Add parts", spec="All of them.", source="parts.md", owner="a-1", by=ADA)
    assert goal.wanted
    assert (goal.wanted.verb, goal.wanted.by) == ("plan", ADA)
    assert not Path(goal.path).exists()
    assert not served.goals.ready(goal)
    served.goals.prepare(goal)
    assert served.goals.ready(served.goals.get(goal.id))


@pytest.mark.parametrize(("repo", "text", "error"), [("none", "x", NotFound), ("calc", " \n", UsageError)])
def test_a_goal_says_something_about_a_repository(served: Served, repo: str, text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        served.goals.create(repo, text, owner="a-1", by=ADA)
    assert served.goals.records.all() == ()


def test_settings_gates_and_prompts_come_along_also_where_they_are_not_committed(served: Served) -> None:
    project = served.project
    project.configure(git={"branch_prefix": "team/"})
    project.write(".swarm/gates/own.toml", "# mine")
    project.write(".swarm/prompts/coder.md", "mine")
    (project.root / ".swarm/prompts/leads-out.md").symlink_to("/etc/hostname")
    project.write("src/calc/uncommitted.py", "")
    goal = made(served)
    clone = Path(goal.path)
    assert (clone / ".swarm/gates/own.toml").read_text() == "# mine"
    assert (clone / ".swarm/prompts/coder.md").read_text() == "mine"
    assert not (clone / ".swarm/prompts/leads-out.md").exists()
    assert not (clone / "src/calc/uncommitted.py").exists()
    settings = served.swarm(goal).config
    assert settings.git.branch_prefix == f"team/{goal.id}/"
    assert settings.roles["coder"].model == "local/junior"


def test_a_record_that_is_committed_stays_where_it_is_and_the_goal_begins_its_own(served: Served) -> None:
    project = served.project
    project.write(".swarm/discussions/old/journal.jsonl", "{}")
    project.git("add", "--all", "--force", ".swarm")
    project.git("commit", "--quiet", "--message=All")
    goal = made(served)
    assert not (Path(goal.path) / ".swarm/discussions").exists()
    assert [line.type for line in served.swarm(goal).history()] == ["project_initialised"]
    assert (project.root / ".swarm/discussions/old/journal.jsonl").exists()
    assert served.swarm(goal).verify()


def test_commits_are_made_by_who_makes_those_of_the_repository(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    served.project.git("config", "user.name", "Build Team")
    served.project.git("config", "user.email", "build@example.test")
    clone = Project(Path(made(served).path))
    assert (clone.git("config", "user.name"), clone.git("config", "user.email")) == ("Build Team", "build@example.test")
    served.project.git("config", "--unset", "user.name")
    served.project.git("config", "--unset", "user.email")
    clone = Project(Path(made(served).path))
    assert (clone.git("config", "user.name"), clone.git("config", "user.email")) == ("swarmgate", "swarmgate@localhost")


def test_no_object_of_the_clone_is_that_of_the_repository(served: Served) -> None:
    clone = Path(made(served).path)
    own = {each.stat().st_ino for each in (served.project.root / ".git/objects").rglob("*") if each.is_file()}
    assert not own & {each.stat().st_ino for each in (clone / ".git/objects").rglob("*") if each.is_file()}
    assert not (clone / ".git/objects/info/alternates").exists()


def test_the_servers_own_settings_reach_no_project(home: Path, served: Served) -> None:
    environ = {**os.environ, "SWARM_SERVER__PORT": "1", "SWARM_BUDGET__USD": "2"}
    goals = Goals(home, served.repositories, environ)
    assert "SWARM_SERVER__PORT" not in goals.environ
    assert goals.swarm(made(served)).config.budget.usd == 2


def test_a_clone_that_a_crash_cut_short_is_made_again(served: Served) -> None:
    goal = served.goals.create(served.repo, "Add parts", owner="a-1", by=ADA)
    left = served.goals.records.folder(goal.id) / "work.making"
    left.mkdir()
    (left / "half").write_text("")
    served.goals.prepare(goal)
    assert not left.exists()
    assert (Path(goal.path) / "src/calc/__init__.py").exists()


def test_a_branch_to_begin_on_is_checked_out_and_one_that_is_not_there_is_told(served: Served) -> None:
    served.project.git("branch", "other")
    served.repositories.change(served.repo, base="other")
    assert Project(Path(made(served).path)).git("branch", "--show-current") == "other"
    served.repositories.change(served.repo, base="gone")
    with pytest.raises(WorkspaceError, match="could not be cloned"):
        made(served)


def test_a_project_in_a_folder_of_its_repository_is_that_folder_of_the_clone(served: Served) -> None:
    project = served.project
    project.write("packages/api/api.py", '"""The interface."""\n')
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Packages")
    project.git("rm", "-r", "--quiet", "--cached", "--ignore-unmatch", ".swarm")
    from swarmgate.engine.initialise import initialise

    inner = project.root / "packages/api"
    (project.root / ".swarm").rename(project.root.parent / "away")
    initialise(inner)
    repo = served.repositories.register(inner, id="api", by=ADA)
    goal = served.goals.create(repo.id, "Add parts", owner="a-1", by=ADA)
    served.goals.prepare(goal)
    assert Path(goal.path).relative_to(served.goals.records.folder(goal.id)).as_posix() == "work/packages/api"
    assert served.goals.ready(goal)


def test_a_checkout_in_which_somebody_works_is_a_goal_too(served: Served) -> None:
    (goal,) = served.goals.list()
    assert (goal.kind, goal.path, goal.repo, goal.owner) == ("checkout", str(served.project.root), "calc", "")
    assert served.goals.get(goal.id) == goal
    assert served.goals.list("other") == ()
    clone = made(served)
    assert [each.id for each in served.goals.list("calc")] == [clone.id, goal.id]
    with pytest.raises(IllegalMove):
        served.goals.archive(goal.id, by=ADA)


def test_what_is_put_away_stays_whole_and_is_deleted_only_where_nothing_is_lost(served: Served) -> None:
    goal = made(served)
    clone = Project(Path(goal.path))
    clone.git("switch", "--quiet", "--create", f"swarm/{goal.id}/parts")
    clone.git("commit", "--quiet", "--allow-empty", "--message=Work")
    with pytest.raises(IllegalMove, match="not archived"):
        served.goals.remove(goal.id)
    away = served.goals.archive(goal.id, by=ADA)
    assert (bool(away.archived), away.archived_by) == (True, ADA)
    assert served.goals.get(goal.id) == away
    assert goal.id not in {each.id for each in served.goals.list()}
    assert served.goals.list(archived=True) == (away,)
    assert Swarm(away.path).state.initialised
    with pytest.raises(IllegalMove, match="archived already"):
        served.goals.archive(goal.id, by=ADA)
    with pytest.raises(IllegalMove, match=f"lacks the commits of swarm/{goal.id}/parts"):
        served.goals.remove(goal.id)
    Project(Path(away.path)).git("push", "--quiet", "origin", f"swarm/{goal.id}/parts")
    served.goals.remove(goal.id)
    with pytest.raises(NotFound):
        served.goals.get(goal.id)
    assert f"swarm/{goal.id}/parts" in served.project.git("branch")


def test_nothing_is_put_away_that_somebody_works_on_or_wants(served: Served) -> None:
    goal = served.goals.create(served.repo, "Add parts", owner="a-1", by=ADA)
    with pytest.raises(IllegalMove, match="wanted"):
        served.goals.archive(goal.id, by=ADA)
    goal = made(served)
    for lock in (served.goals.records.lock(goal.id), SwarmFolder(Path(goal.path)).lock):
        with WriterLock(lock), pytest.raises(IllegalMove, match="works on"):
            served.goals.archive(goal.id, by=ADA)


def test_a_crash_between_the_record_and_its_move_is_made_up_for(served: Served) -> None:
    goal = made(served)
    put_away = {"archived": "2026-11-28T12:00:00+00:00", "archived_by": ADA}
    served.goals.records.change(goal.id, lambda each: each.model_copy(update=put_away))
    assert goal.id not in {each.id for each in served.goals.list()}
    served.goals.settle()
    assert [each.id for each in served.goals.list(archived=True)] == [goal.id]


def test_how_it_ended_is_kept(served: Served) -> None:
    goal = made(served)
    ended = Ended(time=goal.created, verb="plan", exit_code=4, code="LIMIT", until="2026-11-28T12:00:00+00:00")
    served.goals.records.change(goal.id, lambda each: each.model_copy(update={"ended": ended}))
    assert served.goals.get(goal.id).ended == ended
