"""The agents' file tools: no way out of the tree, bounded answers, bytes kept."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from swarmgate.errors import FileProblem, UnsafePath
from swarmgate.workspace.file_tools.files import FileTree


@pytest.fixture
def tree(repo: Path) -> FileTree:
    return FileTree(repo)


def content(tree: FileTree, name: str) -> bytes:
    return (tree.root / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "", " ", "/etc/passwd", "//etc/passwd", "../outside", "src/../../outside", "..", ".", "src", "src/", "src/..",
        "~/.ssh/id_rsa", "C:\\Windows\\x", "C:/x", "..\\outside", "src\\..\\..\\x", "a\0b", "\ud800",
        ".git/config", ".GIT/config", "src/.git/hooks/pre-commit", "sub/.Git", ".git./config", ".git /config",
        "git~1/config", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "./.git/HEAD", "src/../.git/HEAD",
        ".swarm/ledger.jsonl", ".SWARM/plan.json", ".swarm", "./.swarm/x", "src/../.swarm/plan.md",
        "README.md/x", "src/app.py/", "link-out", "link-folder/passwd", "link-git/config", "link-swarm/x", "loop",
        "x" * 5000, "dangling-out", "pipe",
    ],
)  # fmt: skip
def test_paths_that_are_refused_by_every_tool(tree: FileTree, path: str) -> None:
    (tree.root / ".swarm").mkdir()
    for name, target in {
        "link-out": "/etc/passwd", "link-folder": "/etc", "link-git": ".git", "link-swarm": ".swarm", "loop": "loop",
        "dangling-out": "../not-there",
    }.items():  # fmt: skip
        (tree.root / name).symlink_to(target)
    os.mkfifo(tree.root / "pipe")
    for use in (
        lambda: tree.read(path),
        lambda: tree.write(path, "x"),
        lambda: tree.edit(path, "a", "b"),
        lambda: tree.delete(path),
    ):
        with pytest.raises(UnsafePath, match="is refused") as caught:
            use()
        assert repr(path[:200]) in caught.value.message


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py",
        "./src/app.py",
        "src/../README.md",
        "new/deep/x.py",
        ".gitignore",
        ".github/x.yml",
        "a:b",
        "x..y",
        "-n",
        "ü",
    ],
)
def test_paths_that_are_allowed(tree: FileTree, path: str) -> None:
    tree.write(path, "text\n")
    assert tree.read(path) == "text\n"
    assert tree.resolve(path) == Path(os.path.normpath(tree.root / path))


def test_a_link_inside_the_tree_is_followed_for_writing_and_removed_itself(tree: FileTree) -> None:
    (tree.root / "alias.py").symlink_to("src/app.py")
    tree.write("alias.py", "changed\n")
    assert content(tree, "src/app.py") == b"changed\n"
    assert (tree.root / "alias.py").is_symlink()
    tree.delete("alias.py")
    assert (tree.root / "src/app.py").exists()


@pytest.mark.parametrize("tool", ["write", "edit", "delete"])
def test_a_hard_link_to_a_file_outside_is_broken_not_followed(tree: FileTree, tmp_path: Path, tool: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    os.link(outside, tree.root / "src/link")
    match tool:
        case "write":
            tree.write("src/link", "theirs")
        case "edit":
            tree.edit("src/link", "mine", "theirs")
        case _:
            tree.delete("src/link")
    assert outside.read_text() == "mine"
    assert outside.stat().st_nlink == 1


def test_reading_a_window_says_how_to_go_on(tree: FileTree) -> None:
    tree.write("long.txt", "".join(f"line {number}\n" for number in range(1, 2311)))
    assert tree.read("long.txt", 2309) == "line 2309\nline 2310\n"
    assert tree.read("long.txt", 3, 4) == "line 3\nline 4\n"
    cut = tree.read("long.txt", limit=20).splitlines()
    assert cut == ["line 1", "line 2", "[lines 1-2 of 2310; call read_file with start_line=3]"]
    assert tree.read("src/app.py") == "def one():\n    return 1\n"


def test_following_the_advice_reads_the_whole_file(tree: FileTree) -> None:
    lines = [f"{'y' * (number % 70)}{number}" for number in range(1, 300)]
    tree.write("long.txt", "\n".join(lines))
    seen: list[str] = []
    start = 1
    while start <= len(lines):
        *body, note = tree.read("long.txt", start, limit=500).splitlines()
        seen += body if note.startswith("[") else [*body, note]
        start = len(seen) + 1
    assert seen == lines


def test_one_line_that_is_too_long_is_cut(tree: FileTree) -> None:
    tree.write("min.js", "x" * 100 + "\nend\n")
    shown = tree.read("min.js", limit=10)
    assert shown == "x" * 10 + "\n[line 1 of 2: its first 10 of 100 characters; call read_file with start_line=2]"


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [(9, None, "lines 1 to 2; there is no line 9"), (0, None, "no line 0"), (2, 1, "before")],
)
def test_a_range_that_is_not_there(tree: FileTree, start: int, end: int | None, message: str) -> None:
    with pytest.raises(FileProblem, match=message):
        tree.read("src/app.py", start, end)


def test_an_empty_file_reads_as_empty(tree: FileTree) -> None:
    tree.write("empty", "")
    assert tree.read("empty") == ""
    assert tree.read("empty", 1, 10) == ""


def test_files_that_are_not_text_or_not_there(tree: FileTree) -> None:
    (tree.root / "latin.txt").write_bytes(b"one\ncaf\xe9\n")
    (tree.root / "picture.bin").write_bytes(b"\x89PNG\0")
    for path, message in [("latin.txt", "0xe9 on line 2"), ("picture.bin", "binary"), ("none.py", "there is no file")]:
        with pytest.raises(FileProblem, match=message):
            tree.read(path)
        with pytest.raises(FileProblem, match=message):
            tree.edit(path, "a", "b")
    with pytest.raises(FileProblem, match="there is no file"):
        tree.delete("none.py")
    with pytest.raises(FileProblem, match="UTF-8"):
        tree.write("new.py", "\ud800")
    assert not (tree.root / "new.py").exists()


def test_writing_keeps_the_mode_and_crlf_and_makes_folders(tree: FileTree) -> None:
    (tree.root / "run.bat").write_bytes(b"a\r\nb\r\n")
    (tree.root / "run.bat").chmod(0o755)
    tree.write("run.bat", "c\nd\n")
    assert content(tree, "run.bat") == b"c\r\nd\r\n"
    assert os.access(tree.root / "run.bat", os.X_OK)
    tree.write("a/b/c.py", "x\n")
    assert content(tree, "a/b/c.py") == b"x\n"


def test_editing_replaces_the_only_occurrence(tree: FileTree) -> None:
    tree.edit("src/app.py", "    return 1\n", "    return 2\n    # done\n")
    assert content(tree, "src/app.py") == b"def one():\n    return 2\n    # done\n"
    tree.edit("src/app.py", "    # done\n", "")
    assert content(tree, "src/app.py") == b"def one():\n    return 2\n"


def test_editing_keeps_crlf_and_a_byte_order_mark(tree: FileTree) -> None:
    (tree.root / "dos.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    assert tree.read("dos.txt") == "one\ntwo\nthree\n"
    tree.edit("dos.txt", "one\ntwo\n", "1\n2\n2.5\n")
    assert content(tree, "dos.txt") == b"\xef\xbb\xbf1\r\n2\r\n2.5\r\nthree\r\n"


def test_editing_a_file_of_mixed_line_ends_changes_only_the_place(tree: FileTree) -> None:
    (tree.root / "mixed.txt").write_bytes(b"a\r\nb\nc\nd\n")
    tree.edit("mixed.txt", "b\nc", "B\nC")
    assert content(tree, "mixed.txt") == b"a\r\nB\nC\nd\n"


def test_an_edit_that_does_not_fit_says_why(tree: FileTree) -> None:
    tree.write("src/app.py", "def one():\n    return 1\n\n\ndef two():\n    return 1\n")
    before = content(tree, "src/app.py")
    for old, new, message in [
        ("return 1", "return 2", r"occurs 2 times \(lines 2, 6\)"),
        ("def  two():\n    return 1", "x", r"does not occur.*closest, from line 5:\ndef two\(\):\n    return 1"),
        ("quite something else", "x", "read the file again"),
        ("", "x", "write_file"),
        ("def one", "def one", "nothing would change"),
    ]:
        with pytest.raises(FileProblem, match=f"(?s){message}"):
            tree.edit("src/app.py", old, new)
    assert content(tree, "src/app.py") == before


def test_deleting_removes_the_folders_that_become_empty(tree: FileTree) -> None:
    tree.write("a/b/c.py", "x\n")
    tree.write("a/d.py", "x\n")
    tree.delete("a/b/c.py")
    assert not (tree.root / "a/b").exists()
    assert (tree.root / "a/d.py").exists()


def test_listing_knows_git_s_rules_and_is_bounded(tree: FileTree) -> None:
    for name in ("new.py", "ignored.log", ".swarm/x", "src/__pycache__/a.pyc", "lib/deep/b.py"):
        (tree.root / name).parent.mkdir(parents=True, exist_ok=True)
        (tree.root / name).write_text("x")
    tree.write(".gitignore", "*.log\n")
    (tree.root / "README.md").unlink()
    assert tree.paths() == (".gitignore", "lib/deep/b.py", "new.py", "src/app.py")
    assert tree.list("*.py") == "lib/deep/b.py\nnew.py\nsrc/app.py\n"
    assert tree.list("lib/**") == "lib/deep/b.py\n"
    assert tree.list(limit=2).splitlines()[-1].startswith("[2 of 4 files")
    assert tree.list("*.rs") == "[no file matches *.rs]"


def test_listing_does_not_follow_a_folder_that_became_a_link_out(tree: FileTree, tmp_path: Path) -> None:
    (tree.root / "src").rename(tmp_path / "outside")
    (tree.root / "src").symlink_to(tmp_path / "outside")
    assert tree.paths() == ("README.md", "src")


async def test_searching(tree: FileTree) -> None:
    tree.write("lib/b.py", "import os\ndef one_more(): pass\n")
    (tree.root / "data.bin").write_bytes(b"\0def one")
    (tree.root / "link").symlink_to("/etc/passwd")
    assert await tree.search(r"def one\w*\(") == (
        "lib/b.py:2: def one_more(): pass\nsrc/app.py:1: def one():\n[1 binary or very large files were not searched]"
    )
    assert await tree.search("def", "src/**") == "src/app.py:1: def one():\n"
    assert await tree.search("root:") == "[no match in 4 files; 1 binary or very large files were not searched]"
    assert (await tree.search("def", "*.py", limit=1)).splitlines() == [
        "lib/b.py:2: def one_more(): pass",
        "[the first 1 matches; narrow the pattern or the glob]",
    ]
    with pytest.raises(FileProblem, match="not a Python regular expression"):
        await tree.search("(")


@pytest.mark.slow
async def test_a_pattern_of_exponential_time_is_ended(tree: FileTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarmgate.workspace.file_tools.files._SEARCH_S", 0.5)
    tree.write("evil.txt", "a" * 60 + "!\n")
    started = time.monotonic()
    with pytest.raises(FileProblem, match="simplify the pattern"):
        await tree.search("(a+)+$")
    assert time.monotonic() - started < 30


def test_what_runs_with_the_users_rights_is_read_and_never_written(repo: Path) -> None:
    (repo / "tools").mkdir()
    (repo / "tools/clean.sh").write_text("cat\n")
    (repo / "link").symlink_to("tools")
    tree = FileTree(repo, guarded=[repo / "tools"])
    assert tree.read("tools/clean.sh") == "cat\n"
    for path in ("tools/clean.sh", "tools/new.sh", "link/clean.sh"):
        with pytest.raises(UnsafePath, match="with the user's rights"):
            tree.write(path, "evil\n")
        with pytest.raises(UnsafePath, match="with the user's rights"):
            tree.delete(path)
    with pytest.raises(UnsafePath, match="with the user's rights"):
        tree.edit("tools/clean.sh", "cat", "evil")
    assert [place.read_text() for place in (repo / "tools").iterdir()] == ["cat\n"]
