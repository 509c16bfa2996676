"""What somebody can do who may push goals or write jobs, and is no worker: nothing outside of the goal that it is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.fleet.remote import Remote
from tests.project import Project, plan

from swarmgate.errors import FleetError, LedgerError, UsageError, WorkspaceError
from swarmgate.fleet.goals import lease
from swarmgate.fleet.goals.checkout import checked_out
from swarmgate.fleet.goals.goal import Goal, Standing, Summary
from swarmgate.fleet.goals.mirror import brought_up
from swarmgate.fleet.goals.publication import GoalPublication
from swarmgate.fleet.goals.summaries import summaries
from swarmgate.fleet.work.errand import require_allowed
from swarmgate.fleet.work.worker import told
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git.driver import Driver

pytestmark = pytest.mark.suite("unittest")

DOCS = Path(__file__).parents[3] / "docs" / "fleet.md"
HOOK = re.search(r"^```sh\n(#!/bin/sh\n.*?)^```$", DOCS.read_text(), re.DOTALL | re.MULTILINE)
"""The hook that the page gives for remotes of one's own."""

_BLOB = ("hash-object", "-w", "--stdin")


def forge(
    remote: Remote, goal: Goal, path: str, content: str, *, mode: str = "100644", message: str = "forged"
) -> None:
    """Puts a file into a goal as who may push does it: by a commit of their own."""
    blob = _git(remote, *_BLOB, stdin=content)
    place = str(remote.path / "forging")
    env = {"GIT_INDEX_FILE": place}
    _git(remote, "read-tree", goal.ref, env=env)
    _git(remote, "update-index", "--add", "--cacheinfo", f"100644,{_git(remote, *_BLOB)},log", env=env)
    _git(remote, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}", env=env)
    tree = _git(remote, "write-tree", env=env)
    commit = _git(remote, "commit-tree", "-p", goal.ref, tree, stdin=message)
    _git(remote, "update-ref", goal.ref, commit)


def _git(remote: Remote, *args: str, stdin: str = "", env: dict[str, str] | None = None) -> str:
    identity = {
        "GIT_AUTHOR_NAME": "m",
        "GIT_AUTHOR_EMAIL": "m@x",
        "GIT_COMMITTER_NAME": "m",
        "GIT_COMMITTER_EMAIL": "m@x",
    }
    done = subprocess.run(
        ["git", *args], cwd=remote.path, input=stdin, check=True, capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin", **identity, **(env or {})},
    )  # fmt: skip
    return done.stdout.strip()


@pytest.mark.parametrize(
    "name", ["../../x", "g-0123456789ab/../x", "-g", "--upload-pack=x", "g-0123456789ab\n", "g-0123456789AB", "", "*"]
)
def test_no_job_and_no_reference_chooses_a_folder_or_an_option(name: str) -> None:
    assert Goal.known("calc", name) is None
    assert Goal.known("calc", "g-0123456789ab") == Goal("calc", "g-0123456789ab")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ledger.jsonl", "runtime", "config.toml", "gates/x.toml"])
def test_a_link_in_a_goal_leads_nowhere(remote: Remote, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("as it was")
    goal = remote.submit()
    forge(remote, goal, f"swarm/{name}", str(outside), mode="120000")
    with pytest.raises(FleetError, match=f"holds swarm/{name}"), checked_out(remote.site, goal):
        pass
    assert outside.read_text() == "as it was"
    assert not list((remote.home / "work").iterdir())


@pytest.mark.slow
def test_what_is_of_a_machine_comes_with_no_goal(remote: Remote) -> None:
    goal = remote.submit()
    forge(remote, goal, "swarm/runtime/lock", "{}")
    with pytest.raises(FleetError, match="no worker puts there"), checked_out(remote.site, goal):
        pass


@pytest.mark.slow
def test_who_shows_a_goal_takes_neither_settings_nor_a_broken_ledger_from_it(remote: Remote, tmp_path: Path) -> None:
    goal, root = remote.submit(), tmp_path / "shown"
    before = remote.git("rev-parse", goal.ref)
    forge(remote, goal, "log", "{}\n")
    _git(remote, "clone", "--quiet", ".", str(root))
    with pytest.raises(LedgerError):
        brought_up(remote.site, goal, root)
    assert not (root / ".swarm" / "ledger.jsonl").exists()
    remote.git("update-ref", goal.ref, before)
    forge(remote, goal, "swarm/config.toml", 'providers.local.base_url = "http://127.0.0.1:9/v1"')
    forge(remote, goal, "swarm/gates/x.toml", "")
    assert brought_up(remote.site, goal, root).seq == 0, "nothing is forged but files"
    shown = root / ".swarm"
    assert not (shown / "config.toml").exists()
    assert not (shown / "gates" / "x.toml").exists()
    assert len((shown / "ledger.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
def test_a_pull_request_finds_the_remote_of_its_goal(remote: Remote) -> None:
    with checked_out(remote.site, remote.submit()) as found:
        assert Driver(found.root).run("remote", "get-url", "origin").decode().strip() == str(remote.path)


@pytest.mark.slow
def test_a_name_that_looks_like_an_option_is_a_name(remote: Remote, project: Project) -> None:
    project.git("config", "--", "user.name", "--list")
    goal = remote.submit()
    with checked_out(remote.site, goal) as found:
        assert Driver(found.root).run("config", "user.name").decode().strip() == "--list"


@pytest.mark.slow
def test_the_ledger_of_another_goal_is_not_worked_on(remote: Remote, project: Project) -> None:
    project.play(plan("1.1"))
    first, second = remote.submit(), remote.submit()
    remote.advance(first)
    remote.approve(first)
    remote.advance(first, steps=1)
    remote.git("update-ref", second.ref, remote.git("rev-parse", first.ref))
    before = remote.git("for-each-ref")
    with pytest.raises(FleetError, match="that of another goal"):
        remote.advance(second)
    assert remote.git("for-each-ref") == before


@pytest.mark.slow
def test_a_damaged_ledger_is_not_worked_on(remote: Remote) -> None:
    goal = remote.submit()
    forge(
        remote,
        goal,
        "log",
        '{"seq":3,"time":"2026-11-29T00:00:00.000Z","actor":"user","event":{"type":"plan_approved"},"prev":"","hash":""}\n',
    )
    with pytest.raises(LedgerError):
        remote.advance(goal)


@pytest.mark.slow
def test_a_forged_summary_hides_no_other_goal(remote: Remote) -> None:
    good, bad = remote.submit(), remote.submit()
    remote.git("update-ref", "refs/swarm/goals/no-goal/y", remote.git("rev-parse", good.ref))
    for trailer in ("Standing: nonsense", "Priority: 99999999999", "Until: tomorrow", "Until: 2026-11-29T00:00:00"):
        forge(remote, bad, "note", trailer, message=f"forged\n\nSwarm-{trailer}\n")
        found = summaries(remote.site)
        assert found.keys() == {good, bad}
        assert (found[good].standing, found[bad].standing) == (Standing.DUE, Standing.FAILED)


def test_a_summary_reads_what_it_writes() -> None:
    summary = Summary(standing=Standing.LIMIT, until="2026-11-29T00:00:00Z", priority=7, title="Add parts")
    assert Summary.read(f"subject\n\n{summary.trailers()}") == summary


@pytest.mark.slow
def test_a_remote_that_takes_nothing_back_serves_a_fleet_and_refuses_to_be_turned_back(remote: Remote) -> None:
    hook = remote.path / "hooks" / "update"
    assert HOOK
    hook.write_text(HOOK[1])
    hook.chmod(0o755)
    goal = remote.submit()
    before = remote.git("rev-parse", goal.ref)
    with checked_out(remote.site, goal) as found:
        with Ledger.write(found.folder, publication=GoalPublication(found)) as ledger:
            lease.take(ledger, "w1")
        after = remote.git("rev-parse", goal.ref)
        for target in (before, ""):
            with pytest.raises(WorkspaceError):
                Driver(found.root).run("push", "--force", str(remote.path), f"{target}:{goal.ref}")
    assert remote.git("rev-parse", goal.ref) == after != before


@pytest.mark.parametrize(
    "argv",
    [
        ("run",),
        (),
        ("eval", "gates", "owasp=/srv/other"),
        ("debate", "--repo", "elsewhere"),
        ("debate", "--repo=elsewhere"),
        ("orchestrate", "../other/plan.toml"),
        ("orchestrate", "--context=~/.ssh/id_ed25519"),
        ("eval", "gates", "stubs", "--fleet"),
    ],
)
def test_no_errand_leads_out_of_its_checkout(argv: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="for others"):
        require_allowed(argv)


def test_an_errand_may_speak_of_paths() -> None:
    require_allowed(("debate", "--question", "Should ../x and /etc be read by and/or src/a.py?"))


def test_no_goal_is_told_what_the_worker_needs_for_itself() -> None:
    environ = {
        "PGPASSWORD": "x",
        "SSH_AUTH_SOCK": "x",
        "SWARM_FLEET__DATABASE": "x",
        "OPENAI_API_KEY": "k",
        "PATH": "/",
    }
    assert told(environ) == {"OPENAI_API_KEY": "k", "PATH": "/"}
