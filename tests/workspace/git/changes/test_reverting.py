"""A commit's change is taken out of what came after it, or its conflicts are named; who took it back is found."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from swarmgate.workspace.git.changes.reverting import holds, taken_back, without
from swarmgate.workspace.git.repository import Repository

LINES = [f"line {number}\n" for number in range(40)]


class Work:
    """A repository whose commits are made file by file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        for key, value in (("user.name", "Ada"), ("user.email", "ada@example.test"), ("commit.gpgsign", "false")):
            self.git("config", key, value)
        self.base = self.commit({"a.txt": "".join(LINES), "b.bin": b"\0\1\2"})
        self.repository = Repository.discover(root)

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, files: dict[str, str | bytes | None], message: str = "change") -> str:
        for name, content in files.items():
            place = self.root / name
            if content is None:
                place.unlink()
            else:
                place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "--all")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def without(self, commit: str) -> tuple[dict[str, bytes], tuple[str, ...]]:
        found = without(self.repository, self.repository.head_tree(), commit)
        names = self.repository.list_tree(found.tree)
        return self.repository.read_many(found.tree, names), found.conflicts

    def reverted(self, *commits: str) -> dict[str, str]:
        return taken_back(self.repository, commits, since=self.base, tip=self.git("rev-parse", "HEAD"))


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def text(*changed: tuple[int, str], end: str = "\n") -> str:
    lines = [line.rstrip("\n") for line in LINES]
    for number, line in changed:
        lines[number] = line
    return "".join(line + end for line in lines)


def test_lines_that_lie_apart_from_later_ones_are_taken_out(work: Work) -> None:
    made = work.commit({"a.txt": text((3, "task")), "new.txt": "new\n"})
    work.commit({"a.txt": text((3, "task"), (20, "mine"))})
    files, conflicts = work.without(made)
    assert conflicts == ()
    assert files["a.txt"].decode() == text((20, "mine"))
    assert "new.txt" not in files


def test_line_ends_stay_what_they_are(work: Work) -> None:
    work.commit({"a.txt": text(end="\r\n")})
    made = work.commit({"a.txt": text((3, "task"), end="\r\n")})
    work.commit({"a.txt": text((3, "task"), (20, "mine"), end="\r\n")})
    assert work.without(made)[0]["a.txt"].decode() == text((20, "mine"), end="\r\n")


def test_a_file_that_the_commit_deleted_comes_back(work: Work) -> None:
    made = work.commit({"a.txt": None})
    work.commit({"c.txt": "c\n"})
    assert work.without(made)[0]["a.txt"].decode() == text()


@pytest.mark.parametrize(
    ("task", "since"),
    [
        ({"a.txt": text((3, "task"))}, {"a.txt": text((3, "mine"))}),
        ({"a.txt": text((3, "task"))}, {"a.txt": None}),
        ({"new.txt": "new\n"}, {"new.txt": "newer\n"}),
        ({"b.bin": b"\0\1\3"}, {"b.bin": b"\0\1\4"}),
        ({"a.txt": None}, {"a.txt": "other\n"}),
    ],
    ids=["same-lines", "deleted", "grown", "binary", "made-anew"],
)
def test_what_was_changed_again_is_named(
    work: Work, task: dict[str, str | bytes | None], since: dict[str, str | bytes | None]
) -> None:
    made = work.commit(task)
    work.commit(since)
    assert work.without(made)[1] == tuple(task)


def test_a_merge_in_between_is_no_obstacle(work: Work) -> None:
    work.git("switch", "-qc", "side")
    work.commit({"side.txt": "side\n"})
    work.git("switch", "-q", "main")
    made = work.commit({"a.txt": text((3, "task"))})
    work.git("merge", "-q", "--no-edit", "side")
    files, conflicts = work.without(made)
    assert (files["a.txt"].decode(), files["side.txt"], conflicts) == (text(), b"side\n", ())
    work.git("revert", "--no-edit", made)
    assert work.reverted(made) == {made: work.git("rev-parse", "HEAD")}


def test_a_revert_is_known_by_its_words_or_its_lines_until_it_is_reverted(work: Work) -> None:
    made = work.commit({"a.txt": text((3, "task"))})
    assert work.reverted(made) == {}
    back = work.commit({"a.txt": text()}, "away with it")
    assert work.reverted(made) == {made: back}
    work.git("revert", "--no-edit", "HEAD")
    assert work.reverted(made) == {}
    work.git("revert", "--no-edit", made)
    assert made in work.reverted(made)


def test_a_tree_holds_a_change_that_can_be_taken_out_and_put_in_again(work: Work) -> None:
    made = work.commit({"a.txt": text((3, "task"), (30, "task")), "new.txt": "new\n"})

    def held() -> bool:
        return holds(work.repository, work.git("rev-parse", "HEAD^{tree}"), made)

    assert held()
    work.commit({"a.txt": text((3, "task"), (20, "mine"), (30, "task"))})
    assert held()
    work.commit({"a.txt": text((3, "task"), (20, "mine"))})
    assert not held()
    work.commit({"a.txt": text((3, "task"), (30, "task")), "new.txt": None})
    assert not held()
    work.commit({"new.txt": "new\n"})
    assert held()
    assert not holds(work.repository, "HEAD^{tree}", "0" * 40)


def test_a_commit_that_only_says_that_it_reverts_is_none(work: Work) -> None:
    made = work.commit({"a.txt": text((3, "task"))})
    work.git("commit", "--allow-empty", "-qm", f"This reverts commit {made}.")
    work.commit({"c.txt": "c\n"}, f"Squash\n\nThis reverts commit {made}.")
    assert work.reverted(made) == {}


def test_what_a_later_task_removes_is_no_revert(work: Work) -> None:
    made = work.commit({"a.txt": text((3, "task"))}, "Add it\n\nSwarm-Task: 1.1")
    work.commit({"a.txt": text()}, "Remove it\n\nSwarm-Task: 1.2")
    assert work.reverted(made) == {}
