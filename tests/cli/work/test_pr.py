"""`swarm pr`: pushes to real bare remotes; the forge's program is a script that keeps what it is told."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.project import Project, code, critic, part, plain, plan, review, task, until

from swarmgate.domain.evidence.attestation import NOTES_REF

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]

BRANCH = "swarm/parts"
KEY = "local-key-0123456789"
HOSTILE = "Fixes own/er#7, @everyone | </details> <img src=x>\n# Heading"


def _finished(project: Project) -> None:
    """Two phases: a rejected attempt, a skipped task, both checkpoints approved."""
    no = review("REJECTED", f"{HOSTILE} not yet", "bad", task="1.1", attempt="1")
    tasks = [task("1.1", title=f"Part {HOSTILE}"), task("1.2"), task("2.1")]
    files = {"src/calc/part_{{task}}.py": part("{{task}}")}
    project.planned(plan(*tasks), critic(), no, code(files))
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("skip", "2.1", "--reason", f"{HOSTILE}, {'password'}='hunter2-hunter2'")
    project.swarm("run", exits=3)
    project.swarm("approve")


@pytest.fixture
def worked(project: Project, once: Callable[[str, Callable[[], None]], None]) -> Project:
    once("finished-for-pr", lambda: _finished(project))
    return project


@pytest.fixture
def begun(project: Project, once: Callable[[str, Callable[[], None]], None]) -> Project:
    def make() -> None:
        project.planned(plan("1.1"))
        project.swarm("run", exits=3)

    once("begun-for-pr", make)
    return project


def remote(project: Project, place: Path, name: str = "origin", url: str = "") -> Path:
    """A bare remote with the project's `main`; with a `url` of the web that git is told to find there."""
    project.git("init", "--quiet", "--bare", "--initial-branch=main", str(place))
    project.git("push", "--quiet", str(place), "main")
    project.git("remote", "add", name, url or str(place))
    if url:
        project.git("config", f"url.{place}.insteadOf", url)
    return place


def there(place: Path, branch: str = BRANCH) -> str:
    """The newest commit of a branch of a remote; empty without it."""
    args = ["git", "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"]
    return subprocess.run(args, cwd=place, check=False, capture_output=True, text=True).stdout.strip()


def forge(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, *, listed: str = "[]", fails: str = "") -> Path:
    """A program of a forge on PATH; what it was told stands in the file that is returned."""
    told = folder / "told.jsonl"
    end = f'sys.exit("{fails}")' if fails else 'print("https://forge.test/pull/7")'
    script = folder / "bin" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"""#!/usr/bin/env python3
import json, sys
with open({str(told)!r}, "a") as file:
    print(json.dumps([sys.argv[1:], sys.stdin.read()]), file=file)
if sys.argv[2] == "list":
    print({listed!r})
elif sys.argv[2] == "create":
    {end}
""")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=":")
    return told


def calls(told: Path) -> list[tuple[list[str], str]]:
    return [(words, text) for words, text in map(json.loads, told.read_text().splitlines())]


def test_the_statements_about_its_commits_go_with_the_branch_and_those_of_others_stay(
    begun: Project, tmp_path: Path
) -> None:
    place, other = remote(begun, tmp_path / "bare.git"), tmp_path / "other"
    begun.git("clone", "--quiet", str(place), str(other))
    for args in (("notes", f"--ref={NOTES_REF}", "add", "-m", "theirs"), ("push", "--quiet", "origin", NOTES_REF)):
        subprocess.run(["git", *args], cwd=other, check=True, capture_output=True)
    done = begun.swarm("pr", "--draft")
    assert "Pushed: the statements about its commits, origin" in done.stderr
    again = begun.json("pr", "--draft")
    assert (again["attested"], again["unattested"]) == (False, "")
    subprocess.run(["git", "fetch", "--quiet", "origin", BRANCH, f"{NOTES_REF}:{NOTES_REF}"], cwd=other, check=True)
    assert Project(other).json("attest", "verify", f"{there(place)}~1..{there(place)}", "--every")["passed"]
    shown = ["git", "notes", f"--ref={NOTES_REF}", "show", "main"]
    assert subprocess.run(shown, cwd=other, check=True, capture_output=True, text=True).stdout == "theirs\n"


def test_a_remote_that_takes_no_notes_gets_the_branch_all_the_same(begun: Project, tmp_path: Path) -> None:
    place = remote(begun, tmp_path / "bare.git")
    hook = place / "hooks/update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/notes/*) echo no notes here >&2; exit 1;; esac\n')
    hook.chmod(0o755)
    done = begun.swarm("pr", "--draft")
    assert there(place) == begun.git("rev-parse", BRANCH)
    assert f"The statements about its commits are not there: {place} does not take {NOTES_REF}" in done.stderr
    begun.configure(git={"attest": False})
    assert begun.json("pr", "--draft")["unattested"] == ""


def test_the_branch_is_pushed_to_a_bare_remote_and_the_description_printed(worked: Project, tmp_path: Path) -> None:
    place = remote(worked, tmp_path / "bare.git")
    before = worked.folder.ledger.read_bytes()
    worked.git("tag", "-a", "v1", "-m", "mine", BRANCH)
    worked.git("config", "push.followTags", "true")
    worked.write("mine.txt", "a dirty tree\n")
    done = worked.swarm("pr")
    commit = worked.git("rev-parse", BRANCH)
    assert there(place) == commit
    assert subprocess.run(["git", "tag"], cwd=place, check=True, capture_output=True, text=True).stdout == ""
    assert f"Pushed: {BRANCH} at {commit[:12]}, origin" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "> Add parts"
    state = worked.state
    assert any(
        "The goal is finished" in line and "attempts rejected: 1, 2 of 2 phases approved" in plain(line)
        for line in lines
    )
    row = next(line for line in lines if line.startswith("| 1.2 "))
    assert re.search(
        r"complete \| 1 \| gates: \d+ passed; review APPROVED; test engineer APPROVED; tests: 1 passed", row
    )
    assert f"`{state.task('1.2').commit[:12]}`" in row
    assert "## Skipped" in lines
    assert "## Checkpoints" in lines
    assert "  - Decided: Parts are modules." in lines
    assert f"`{worked.lines()[-1]['hash']}`" in done.stdout
    assert any(line.startswith("| 1.1 | 2 | change.patch | `") for line in lines)
    assert "## Cost" not in lines
    # What agents and reasons say mentions nobody, closes nothing and marks nothing up; keys are masked.
    assert "hunter2" not in done.stdout
    assert "#<!-- -->7" in done.stdout
    assert "@<!-- -->everyone" in done.stdout
    assert "<img" not in done.stdout.replace("\\<", "")
    assert "\n# Heading" not in done.stdout
    assert worked.folder.ledger.read_bytes() == before
    again = worked.json("pr", "--cost", "--title", "My  parts")
    assert (again["pushed"], again["commit"], again["remote"], again["base"]) == (False, commit, "origin", "main")
    assert (again["title"], again["url"], again["page"]) == ("My parts", "", "")
    assert "## Cost" in again["description"]
    assert "Up to date" in worked.swarm("pr").stderr


def test_print_needs_no_remote_and_pushes_nothing(begun: Project) -> None:
    done = begun.swarm("pr", "--print")
    assert "**The goal is not finished**" in done.stdout
    assert done.stderr == ""


def test_an_unfinished_goal_is_shown_as_a_draft_alone_and_what_is_missing_is_told_with_a_way_out(
    begun: Project, tmp_path: Path
) -> None:
    assert "swarm pr --draft" in begun.swarm("pr", exits=2).stderr
    assert "git remote add origin" in begun.swarm("pr", "--draft", exits=2).stderr
    place = remote(begun, tmp_path / "bare.git")
    assert "--remote: origin" in plain(begun.swarm("pr", "--draft", "--remote", "no", exits=2).stderr)
    begun.git("switch", "--quiet", "--detach")
    assert f"git switch {BRANCH}" in begun.swarm("pr", "--draft", exits=2).stderr
    begun.git("switch", "--quiet", BRANCH)
    assert "branch of the work itself" in begun.swarm("pr", "--draft", "--base", BRANCH, exits=2).stderr
    assert there(place) == ""
    told = begun.json("pr", "--draft", "--base", "release")
    assert told["problem"] == "origin has no branch release to merge into: git push origin release"
    assert there(place) == begun.git("rev-parse", BRANCH)
    begun.git("config", "remote.origin.url", str(tmp_path / "gone.git"))
    assert "git ls-remote origin" in begun.swarm("pr", "--draft", exits=2).stderr


def test_a_branch_that_went_on_elsewhere_is_never_forced(begun: Project, tmp_path: Path) -> None:
    place = remote(begun, tmp_path / "bare.git")
    begun.git("config", "remote.origin.push", f"+refs/heads/{BRANCH}:refs/heads/{BRANCH}")  # git alone would force
    begun.git("config", "remote.origin.mirror", "true")
    clone = tmp_path / "clone"
    begun.git("push", "--quiet", str(place), f"{BRANCH}~1:refs/heads/{BRANCH}")
    begun.git("clone", "--quiet", "--branch", BRANCH, str(place), str(clone))
    author = ("-c", "user.name=o", "-c", "user.email=o@o.test")
    subprocess.run(["git", *author, "commit", "--quiet", "--allow-empty", "-m", "theirs"], cwd=clone, check=True)
    subprocess.run(["git", "push", "--quiet"], cwd=clone, check=True)
    theirs = there(place)
    done = begun.swarm("pr", "--draft", exits=2)
    assert "has commits that yours has not" in plain(done.stderr)
    assert "git fetch origin" in plain(done.stderr)
    assert there(place) == theirs
    begun.git("fetch", "--quiet", str(place), BRANCH)
    begun.git("merge", "--quiet", "--no-edit", "FETCH_HEAD")
    begun.swarm("pr", "--draft")
    assert there(place) == begun.git("rev-parse", BRANCH)
    assert there(place, "main") == begun.git("rev-parse", "main")


def test_hooks_here_and_there_may_refuse_and_say_why(begun: Project, tmp_path: Path) -> None:
    place = remote(begun, tmp_path / "bare.git")
    begun.hook("pre-push", "echo no push on Fridays >&2; exit 1")
    assert "no push on Fridays" in plain(begun.swarm("pr", "--draft", exits=2).stderr)
    begun.hook("pre-push", "cat > pushed.txt")
    hook = place / "hooks/update"
    hook.write_text("#!/bin/sh\necho names begin with feature/ >&2\nexit 1\n")
    hook.chmod(0o755)
    refused = plain(begun.swarm("pr", "--draft", exits=2).stderr)
    assert f"origin refused the branch {BRANCH}: names begin with feature/" in refused
    assert begun.git("rev-parse", BRANCH) in (begun.root / "pushed.txt").read_text()
    assert there(place) == ""


def test_a_commit_with_the_key_of_a_provider_is_not_pushed(
    begun: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = remote(begun, tmp_path / "bare.git")
    monkeypatch.setenv("MY_KEY", KEY)
    begun.configure(providers__local={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "MY_KEY"})
    (begun.root / "blob.bin").write_bytes(b"\0\1" + KEY.encode() + b"\0")  # git takes it for a binary file
    begun.git("add", "blob.bin")
    begun.git("commit", "--quiet", "-m", "with a key")
    begun.git("rm", "--quiet", "blob.bin")
    begun.git("commit", "--quiet", "-m", "without it")
    done = begun.swarm("pr", "--draft", exits=2)
    assert begun.git("rev-parse", "--short", "HEAD~1") in done.stderr
    assert KEY not in done.stderr
    assert there(place) == ""


def test_gh_opens_it_where_the_remote_is_on_github(
    worked: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = remote(worked, tmp_path / "bare.git", url="https://token@github.com/own/er.git")
    told = forge(tmp_path, "gh", monkeypatch)
    planted = worked.write("planted/gh", f"#!/bin/sh\ntouch {tmp_path}/fired\n", mode=0o755)
    monkeypatch.setenv("PATH", str(planted.parent), prepend=":")
    done = worked.swarm("pr", "--title", "Parts at last", "--draft")
    assert done.stdout == "https://forge.test/pull/7\n"
    (listing, _), (words, text) = calls(told)
    assert listing[:2] == ["pr", "list"]
    assert words == [
        "pr", "create", "--repo", "github.com/own/er", "--head", BRANCH, "--base", "main",
        "--title", "Parts at last", "--body-file", "-", "--draft",
    ]  # fmt: skip
    assert text == worked.json("pr", "--print")["description"]
    assert there(place) == worked.git("rev-parse", BRANCH)
    assert not (tmp_path / "fired").exists()
    forge(tmp_path, "gh", monkeypatch, listed='[{"url": "https://forge.test/pull/3"}]')
    again = worked.json("pr")
    assert (again["url"], again["known"]) == ("https://forge.test/pull/3", True)
    forge(tmp_path, "gh", monkeypatch, fails="not logged in")
    failed = worked.json("pr")
    assert (failed["url"], failed["problem"]) == ("", "gh: not logged in")
    assert failed["page"] == "https://github.com/own/er/compare/main...swarm%2Fparts?expand=1"


def test_glab_opens_it_where_the_remote_is_on_gitlab_and_without_it_the_address_is_told(
    worked: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote(worked, tmp_path / "bare.git", "upstream", url="git@gitlab.example.com:group/sub/er.git")
    forge(tmp_path, "gh", monkeypatch)  # GitHub's program is not asked about GitLab
    by_hand = worked.swarm("pr")
    page = "https://gitlab.example.com/group/sub/er/-/merge_requests/new?merge_request%5Bsource_branch%5D=swarm%2Fparts"
    assert f"Open it here: {page}" in plain(by_hand.stderr)
    assert not (tmp_path / "told.jsonl").exists()
    told = forge(tmp_path, "glab", monkeypatch)
    assert worked.json("pr")["url"] == "https://forge.test/pull/7"
    words = calls(told)[-1][0]
    assert words[:4] == ["mr", "create", "--repo", "https://gitlab.example.com/group/sub/er"]
    assert words[words.index("--target-branch") + 1] == "main"


def test_ctrl_c_ends_a_push_at_once_and_it_can_be_made_again(begun: Project, tmp_path: Path) -> None:
    place = remote(begun, tmp_path / "bare.git")
    begun.hook("pre-push", f"touch {tmp_path}/pushing; exec sleep 600")
    process = begun.start("pr", "--draft")
    until((tmp_path / "pushing").exists)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    assert there(place) == ""
    (begun.root / ".git/hooks/pre-push").unlink()
    both = [begun.start("pr", "--draft") for _ in range(2)]  # two at once
    assert [each.wait(60) for each in both] == [0, 0]
    assert there(place) == begun.git("rev-parse", BRANCH)


def test_from_a_linked_worktree_and_a_branch_that_is_not_the_one_of_the_work(begun: Project, tmp_path: Path) -> None:
    place = remote(begun, tmp_path / "bare.git")
    begun.git("switch", "--quiet", "main")
    assert begun.json("pr", "--draft")["pushed"]
    assert there(place) == begun.git("rev-parse", BRANCH)
    begun.git("worktree", "add", "--quiet", str(tmp_path / "linked"), BRANCH)
    shutil.copytree(begun.folder.path, tmp_path / "linked/.swarm")
    linked = Project(tmp_path / "linked")
    assert linked.json("pr", "--draft")["commit"] == begun.git("rev-parse", BRANCH)
