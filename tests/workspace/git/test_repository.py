"""The repository: found from anywhere, read as it is, never touched by a snapshot."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from swarmgate.domain.review.change import ChangedFile, ChangeKind
from swarmgate.errors import MissingRequirement, NotAProject, WorkspaceError
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

    Git = Callable[..., str]


def by_path(repository: Repository, base: str) -> dict[str, ChangedFile]:
    return {file.path: file for file in repository.changes(base, repository.snapshot()).files}


def test_discovery_from_a_subfolder_finds_the_root(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo / "src")
    assert repository.root == repo
    assert repository.head() == git(repo, "rev-parse", "HEAD")
    assert repository.head_tree() == git(repo, "rev-parse", "HEAD^{tree}")
    assert repository.branch() == "main"


def test_discovery_through_a_symbolic_link_gives_the_real_root(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo)
    assert Repository.discover(tmp_path / "link" / "src").root == repo


def test_no_repository_a_bare_one_and_the_git_folder_are_refused(repo: Path, tmp_path: Path, git: Git) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(tmp_path, "init", "--quiet", "--bare", "bare")
    for folder, message in [
        (empty, "not in a git repository"),
        (tmp_path / "bare", "bare"),
        (repo / ".git", "inside a git folder"),
        (tmp_path / "none", "not a folder"),
    ]:
        with pytest.raises(NotAProject, match=message):
            Repository.discover(folder)


def test_a_repository_without_a_commit_is_refused_with_the_next_step(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "--quiet", "fresh")
    with pytest.raises(WorkspaceError, match="no commit yet") as caught:
        Repository.discover(tmp_path / "fresh")
    assert "git commit" in caught.value.hint


def test_a_repository_that_lost_its_objects_is_refused_and_not_taken_for_a_new_one(repo: Path) -> None:
    shutil.rmtree(repo / ".git/objects")
    (repo / ".git/objects").mkdir()
    with pytest.raises(WorkspaceError, match=r"is missing in .*: the repository is damaged"):
        Repository.discover(repo, lenient=True)


def test_a_variable_that_redirects_git_is_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", "other")
    with pytest.raises(WorkspaceError, match="GIT_INDEX_FILE"):
        Repository.discover(repo)


def test_git_missing_or_too_old_is_refused(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(MissingRequirement, match="git was not found"):
        Repository.discover(repo)
    (tools / "git").write_text("#!/bin/sh\necho git version 2.29.3\n")
    (tools / "git").chmod(0o755)
    with pytest.raises(MissingRequirement, match=r"2\.29 is too old"):
        Repository.discover(repo)


def test_a_linked_work_tree_and_a_submodule_work(repo: Path, tmp_path: Path, git: Git) -> None:
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "side")
    linked = Repository.discover(tmp_path / "linked" / "src")
    (linked.root / "new.py").write_text("x = 1\n")
    assert linked.branch() == "side"
    assert linked.dirty() == ("new.py",)
    change = linked.changes(linked.head_tree(), linked.snapshot())
    made = linked.commit(change, "In the linked tree", [("Swarm-Task", "1.1")])
    assert (made.id, linked.dirty()) == (git(linked.root, "rev-parse", "side"), ())

    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "inner")
    git(repo, "commit", "--quiet", "-m", "Submodule")
    inner = Repository.discover(repo / "inner" / "src")
    assert inner.root == repo / "inner"
    outer = Repository.discover(repo)
    assert outer.snapshot() == outer.head_tree()
    (inner.root / "more.py").write_text("y = 2\n")
    assert outer.dirty() == ()
    inner.commit(inner.changes(inner.head_tree(), inner.snapshot()), "Inside", [("Swarm-Task", "1.1")])
    assert outer.dirty() == ("inner",)
    moved = by_path(outer, outer.head_tree())["inner"]
    assert (moved.kind, moved.new_mode) == (ChangeKind.MODIFIED, "160000")


@pytest.mark.parametrize(
    ("name", "action"), [("MERGE_HEAD", "merge"), ("BISECT_LOG", "bisect"), ("rebase-merge", "rebase")]
)
def test_unfinished_business_is_refused(repo: Path, name: str, action: str) -> None:
    repository = Repository.discover(repo)
    repository.require_quiet()
    (repo / ".git" / name).write_text("")
    with pytest.raises(WorkspaceError, match=f"a {action} is in progress") as caught:
        repository.require_quiet()
    assert f"git {action}" in caught.value.hint


def test_conflicts_left_by_a_stash_are_refused(repo: Path, git: Git) -> None:
    (repo / "README.md").write_text("mine\n")
    git(repo, "stash", "--quiet")
    (repo / "README.md").write_text("theirs\n")
    git(repo, "commit", "--quiet", "-a", "-m", "Theirs")
    with pytest.raises(Exception, match="stash"):
        git(repo, "stash", "pop", "--quiet")
    with pytest.raises(WorkspaceError, match=r"README\.md.*conflicts"):
        Repository.discover(repo).require_quiet()


def test_branches(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    (repo / "src/app.py").write_text("changed\n")
    assert not repository.branch_exists("swarm/auth")
    repository.create_branch("swarm/auth")
    assert repository.branch() == "swarm/auth"
    assert repository.branch_exists("swarm/auth")
    assert repository.dirty() == ("src/app.py",)
    with pytest.raises(WorkspaceError, match="already exists"):
        repository.create_branch("main")
    with pytest.raises(WorkspaceError, match="not a valid branch name"):
        repository.create_branch("a..b")
    git(repo, "switch", "--quiet", "--detach")
    assert repository.branch() is None


def test_dirty_names_what_git_status_would_less_swarm_and_artefacts(repo: Path, git: Git) -> None:
    (repo / ".swarm").mkdir()
    (repo / ".swarm/plan.md").write_text("plan\n")
    git(repo, "add", "-f", ".swarm")
    git(repo, "commit", "--quiet", "-m", "Plan")
    for name in (".swarm/plan.md", ".swarm/new", "src/__pycache__/a.pyc", ".ruff_cache/0.9/12", "ignored.log", "ä b\n"):
        (repo / name).parent.mkdir(exist_ok=True, parents=True)
        (repo / name).write_text("x")
    (repo / ".gitignore").write_text("*.log\n")
    (repo / "README.md").unlink()
    assert sorted(Repository.discover(repo).dirty()) == [".gitignore", "README.md", "ä b\n"]


def test_the_user_s_global_ignore_file_still_counts(repo: Path, isolated: Path) -> None:
    (isolated / "config/git").mkdir(parents=True)
    (isolated / "config/git/ignore").write_text("*.private\n")
    (repo / "a.private").write_text("x")
    (repo / "__pycache__").mkdir()
    (repo / "__pycache__/a.pyc").write_text("x")
    repository = Repository.discover(repo)
    assert repository.dirty() == ()
    assert repository.snapshot() == repository.head_tree()


def test_stash_takes_tracked_and_untracked_files_and_leaves_swarm(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    assert repository.stash("nothing") is False
    (repo / ".swarm").mkdir()
    (repo / ".swarm/ledger.jsonl").write_text("{}\n")
    (repo / "src/app.py").write_text("mine\n")
    (repo / "notes *.txt").write_text("notes\n")
    (repo / "README.md").unlink()
    assert repository.stash("before swarm") is True
    assert repository.dirty() == ()
    assert (repo / ".swarm/ledger.jsonl").read_text() == "{}\n"
    assert "before swarm" in git(repo, "stash", "list")
    git(repo, "stash", "pop", "--quiet")
    assert (repo / "notes *.txt").read_text() == "notes\n"
    assert (repo / "src/app.py").read_text() == "mine\n"


def test_a_snapshot_of_a_clean_tree_is_head_s_tree_and_touches_nothing(repo: Path, git: Git) -> None:
    (repo / "staged.py").write_text("s = 1\n")
    git(repo, "add", "staged.py")
    (repo / "loose.py").write_text("l = 1\n")
    repository = Repository.discover(repo)
    status = git(repo, "status", "-s")
    before = ((repo / ".git/index").read_bytes(), (repo / ".git/index").stat().st_mtime_ns)
    tree = repository.snapshot()
    assert tree != repository.head_tree()
    assert {"staged.py", "loose.py", "README.md", "src/app.py"} == set(repository.list_tree(tree))
    assert ((repo / ".git/index").read_bytes(), (repo / ".git/index").stat().st_mtime_ns) == before
    assert git(repo, "status", "-s") == status
    assert git(repo, "stash", "list") == ""
    assert not (repo / ".git/ORIG_HEAD").exists()


def test_swarm_s_folder_is_in_a_snapshot_as_it_is_in_head(repo: Path, git: Git) -> None:
    (repo / ".swarm").mkdir()
    (repo / ".swarm/plan.md").write_text("one\n")
    (repo / ".swarm/gone.md").write_text("two\n")
    git(repo, "add", "-f", ".swarm")
    git(repo, "commit", "--quiet", "-m", "Plan")
    (repo / ".swarm/plan.md").write_text("changed and staged\n")
    git(repo, "add", "-f", ".swarm")
    (repo / ".swarm/plan.md").write_text("changed again\n")
    (repo / ".swarm/gone.md").unlink()
    (repo / ".swarm/new.md").write_text("new\n")
    repository = Repository.discover(repo)
    assert repository.snapshot() == repository.head_tree()
    (repo / ".swarm/plan.md").write_text("grown\n")
    (repo / "kept.txt").write_text("kept\n")
    for rule in (".swarm\n", "!.swarm\n!.swarm/**\n"):
        (repo / ".gitignore").write_text(rule)
        names = [file.path for file in repository.changes(repository.head_tree(), repository.snapshot()).files]
        assert names == [".gitignore", "kept.txt"]
    assert repository.stash("with .swarm ignored or not")


def test_an_edit_of_the_same_length_in_the_same_second_is_seen(repo: Path) -> None:
    repository = Repository.discover(repo)
    for number in range(5):
        (repo / "src/app.py").write_text(f"def one():\n    return {number + 2}\n")
        assert repository.read(repository.snapshot(), "src/app.py") == (repo / "src/app.py").read_bytes()


def test_what_was_seen_before_is_told_apart_from_what_is_there_now(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    head, place = repository.head_tree(), repo / "src/app.py"
    old, texts = place.read_text(), ("one = 1\n", "two = 2\n")
    trees: dict[str, str] = {}
    for text in (*texts, *texts, old):
        place.write_text(text)
        tree = repository.snapshot()
        assert trees.setdefault(text, tree) == tree
        assert git(repo, "show", f"{tree}:src/app.py") == text.rstrip("\n")
        assert bool(repository.changes(head, tree)) == (text != old)
        assert repository.changes(head, tree) == Repository.discover(repo).changes(head, tree)
    assert len(set(trees.values())) == 3
    assert repository.changes("HEAD", trees["one = 1\n"])
    place.write_text("one = 1\n")
    git(repo, "commit", "--quiet", "--all", "--message=one")
    assert not repository.changes("HEAD", trees["one = 1\n"]), "a name may stand for another tree now"


def test_a_snapshot_with_a_split_index_leaves_no_trace(repo: Path, git: Git) -> None:
    git(repo, "config", "core.splitIndex", "true")
    git(repo, "update-index", "--split-index")
    (repo / "new.py").write_text("n = 1\n")
    names = sorted(path.name for path in (repo / ".git").iterdir())
    repository = Repository.discover(repo)
    assert "new.py" in repository.list_tree(repository.snapshot())
    assert sorted(path.name for path in (repo / ".git").iterdir()) == names


def test_changes_of_every_kind(repo: Path, git: Git) -> None:
    (repo / "old_name.py").write_text("".join(f"line {number}\n" for number in range(20)))
    (repo / "gone.py").write_text("a\nb\n")
    (repo / "tool.sh").write_text("#!/bin/sh\n")
    (repo / "picture.bin").write_bytes(b"\0\1\2" * 100)
    (repo / "link").write_text("README.md")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "More")
    base = git(repo, "rev-parse", "HEAD^{tree}")

    (repo / "old_name.py").rename(repo / "new name.py")
    with (repo / "new name.py").open("a") as file:
        file.write("line 20\nline 21\n")
    (repo / "gone.py").unlink()
    (repo / "tool.sh").chmod(0o755)
    (repo / "picture.bin").write_bytes(b"\0\1\3" * 100)
    (repo / "link").unlink()
    (repo / "link").symlink_to("README.md")
    (repo / "src/app.py").write_text("import os\n\ndef one():\n    return os\n")
    (repo / "no_newline").write_text("@@ -1 +1 @@\n-- a/x\ndiff --git a/x b/x")
    found = by_path(Repository.discover(repo), base)

    moved = found["new name.py"]
    assert moved.old_id != moved.new_id == git(repo, "hash-object", "new name.py").strip()
    assert moved == ChangedFile(
        path="new name.py",
        kind=ChangeKind.RENAMED,
        old_path="old_name.py",
        old_mode="100644",
        new_mode="100644",
        old_id=moved.old_id,
        new_id=moved.new_id,
        added=2,
        removed=0,
        added_lines=(21, 22),
    )
    assert (found["gone.py"].kind, found["gone.py"].removed, found["gone.py"].added_lines) == (
        ChangeKind.DELETED,
        2,
        (),
    )
    assert found["tool.sh"].mode_changed
    assert found["tool.sh"].new_mode == "100755"
    assert found["picture.bin"].binary
    assert (found["link"].kind, found["link"].new_mode) == (ChangeKind.TYPE_CHANGED, "120000")
    assert (found["src/app.py"].added, found["src/app.py"].removed) == (3, 1)
    assert found["src/app.py"].added_lines == (1, 2, 4)
    assert (found["no_newline"].kind, found["no_newline"].added_lines) == (ChangeKind.ADDED, (1, 2, 3))
    assert list(found) == sorted(found)
    assert len(found) == 7


def test_lines_cannot_be_hidden_by_declaring_text_binary(repo: Path) -> None:
    (repo / ".gitattributes").write_text("*.py binary\n")
    (repo / "src/app.py").write_text("def one():\n    return 2\n")
    (repo / "new.py").write_text("a\nb")
    repository = Repository.discover(repo)
    found = by_path(repository, repository.head_tree())
    assert (found["src/app.py"].binary, found["src/app.py"].added_lines) == (False, (2,))
    assert (found["new.py"].binary, found["new.py"].added_lines) == (False, (1, 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw",
    [
        b"with space",
        b"new\nline",
        b"tab\t",
        b"caf\xc3\xa9",
        b"latin-\xe9.txt",
        b'"quoted"',
        b"back\\slash",
        b":(top)x",
        b"*",
    ],
)
def test_any_file_name_goes_through_snapshot_read_commit_and_restore(repo: Path, raw: bytes, tmp_path: Path) -> None:
    place = repo / "dir" / os.fsdecode(raw)
    place.parent.mkdir()
    place.write_bytes(b"content\n")
    repository = Repository.discover(repo)
    base, tree = repository.head_tree(), repository.snapshot()
    (file_,) = repository.changes(base, tree).files
    assert file_.model_dump_json()
    assert repository.read(tree, file_.path) == b"content\n"
    assert repository.restore(base, quarantine=tmp_path / "kept") == (file_.path,)
    assert not place.parent.exists()
    assert repository.restore(tree, quarantine=tmp_path / "kept") == (file_.path,)
    made = repository.commit(repository.changes(base, tree), "Odd name", [("Swarm-Task", "1.1")])
    assert made.tree == tree
    assert repository.dirty() == ()


def test_user_configuration_does_not_change_what_is_read(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    base = repository.head_tree()
    (repo / "src/app.py").rename(repo / "src/äpp.py")
    expected = repository.changes(base, repository.snapshot())
    for setting in (
        "diff.noprefix=true",
        "diff.mnemonicPrefix=true",
        "core.quotePath=true",
        "diff.renames=false",
        "color.ui=always",
        "diff.external=false",
        "log.showSignature=true",
        "core.autocrlf=input",
        "core.safecrlf=true",
        "diff.submodule=log",
    ):
        key, _, value = setting.partition("=")
        git(repo, "config", key, value)
    assert repository.changes(base, repository.snapshot()) == expected
    assert expected.files[0].kind is ChangeKind.RENAMED


def test_a_patch_applies_to_the_base(repo: Path, tmp_path: Path, git: Git) -> None:
    (repo / "picture.bin").write_bytes(bytes(range(256)))
    (repo / "src/app.py").rename(repo / "src/b.py")
    (repo / "README.md").write_text("# Demo\nmore\n")
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    (tmp_path / "p").write_bytes(repository.patch(repository.head_tree(), tree))
    git(tmp_path, "clone", "--quiet", str(repo), "copy")
    git(tmp_path / "copy", "apply", "--index", str(tmp_path / "p"))
    assert git(tmp_path / "copy", "write-tree") == tree


@pytest.mark.slow
def test_a_patch_says_only_that_a_large_file_differs(repo: Path) -> None:
    text = "a line of text\n" * 1_200_000  # 18 MB
    (repo / "big *.txt").write_text(text)
    (repo / "picture.bin").write_bytes(bytes(range(256)))
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    patch = repository.patch(repository.head_tree(), tree)
    assert b"GIT binary patch" in patch
    assert b"Binary files /dev/null and b/big *.txt differ" in patch
    assert len(patch) < 2000
    (large,) = [file for file in repository.changes(repository.head_tree(), tree).files if file.path == "big *.txt"]
    assert repository.sizes({large.new_id, "0" * 40, ""}) == {large.new_id: len(text)}


def test_read_many_takes_files_only_and_any_number(repo: Path) -> None:
    for number in range(250):
        (repo / f"f{number}").write_text(f"{number}\n" * (number % 3))
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    wanted = [f"f{number}" for number in range(250)]
    found = repository.read_many(tree, [*wanted, "src", "none", ""])
    assert found == {name: (repo / name).read_bytes() for name in wanted}
    assert repository.read_many(tree, ["src", "none"]) == {}
    assert repository.read(tree, "src/app.py") == (repo / "src/app.py").read_bytes()
    assert repository.read(tree, "src") is None


def test_git_s_refusal_is_one_sentence(repo: Path) -> None:
    with pytest.raises(WorkspaceError, match="git ls-tree failed: Not a valid object name nonsense"):
        Repository.discover(repo).list_tree("nonsense")


def test_an_object_that_the_clone_lacks_is_a_matter_for_fsck(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    head = repository.head_tree()
    blob = git(repo, "rev-parse", "HEAD:src/app.py")
    (repo / "src/app.py").write_text("def two():\n    return 2\n")
    tree = repository.snapshot()
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(WorkspaceError) as caught:
        repository.changes(head, tree)
    assert "git fsck" in caught.value.hint
    assert "git fetch" in caught.value.hint


def test_a_nested_repository_gets_none_of_its_programs_run(repo: Path, tmp_path: Path, git: Git) -> None:
    inner, ran = repo / "inner", tmp_path / "ran"
    git(repo, "init", "--quiet", "inner")
    (inner / "file").write_text("one\n")
    (inner / ".gitattributes").write_text("file filter=own\n")
    git(inner, "add", "--all")
    git(inner, "commit", "--quiet", "--message=Inner")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message=Outer")
    git(inner, "config", "filter.own.clean", f"touch {ran}; cat")
    git(inner, "config", "core.fsmonitor", f"touch {ran} #")
    known = Repository.discover(repo)
    before = known.snapshot()
    assert before == known.head_tree()
    (inner / "file").write_text("two\n")  # as long as before: git has to look into it to know
    os.utime(inner / "file", (0, 0))
    assert known.snapshot() == before
    assert known.dirty() == ()
    assert not ran.exists()
    git(inner, "-c", "core.fsmonitor=false", "-c", "filter.own.clean=cat", "commit", "--quiet", "-am", "Inner 2")
    ran.unlink(missing_ok=True)
    assert known.changes(before, known.snapshot()).paths == ("inner",)
    shutil.rmtree(inner)
    assert known.changes(before, known.snapshot()).paths == ("inner",)
    inner.write_text("a file now")
    assert known.changes(before, known.snapshot()).paths == ("inner",)
    assert not ran.exists()


def test_a_nested_repository_without_a_commit_is_reported(repo: Path, git: Git) -> None:
    git(repo, "init", "--quiet", "nested")
    with pytest.raises(WorkspaceError, match="nested"):
        Repository.discover(repo).snapshot()
