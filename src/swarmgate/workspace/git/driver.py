"""Runs git commands and returns their output, independent of the user's git configuration."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import GitKilled, GitLocked, HeadMoved, MissingRequirement, WorkspaceError
from swarmgate.workspace.files import regular
from swarmgate.workspace.git.folder import top_of
from swarmgate.workspace.process import orphans, temporary
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

OUTSIDE = ":(exclude).swarm"
"""Pathspec: everything but swarmgate's own folder, which lies in the project's."""

BIG = 16_000_000
"""Bytes from which on a file's lines are not compared: git would hold several copies of both sides in memory."""

LEFT_OUT = ":(exclude,literal)"
"""Begins a pathspec of `git add`: everything but this path."""

_HASH = "[0-9a-f]" * 16
_CACHE = ("CACHEDIR.TAG", ".gitignore")
_LEFT_BEHIND = {
    "__pycache__": ("*.pyc", "*.pyc.*[0-9]", "*.pyo", "*.nbi", "*.nbc"),
    ".pytest_cache": (*_CACHE, "README.md", *(f"v/cache/{name}" for name in ("lastfailed", "nodeids", "stepwise"))),
    ".ruff_cache": (*_CACHE, "*/[0-9]*[0-9]"),
    ".mypy_cache": (*_CACHE, "**/*.json", "**/*.ff", "**/*.db", "missing_stubs"),
    ".hypothesis": (
        *_CACHE, f"examples/*/{_HASH}", f"constants/{_HASH}", "unicode_data/**/*.json.gz", "observed/*.jsonl",
        "patches/*.patch",
    ),
}  # fmt: skip
"""Folder of a tool -> the files that the tool puts there. Any other file there is somebody's work."""

ARTEFACTS = tuple(f"**/{folder}/{name}" for folder, names in _LEFT_BEHIND.items() for name in names)
"""What counts as ignored while it is untracked, in gitignore's syntax: left behind by every run of the tools."""

_OF_TREES = frozenset({"cat-file", "diff-tree", "ls-tree", "read-tree", "write-tree"})
"""Commands that take trees, and paths in them, which count from the top wherever they run."""
_GLOB = re.compile(r"([\\*?\[ ])")
"""What means something in a line of a .gitignore."""

SETTINGS = {
    "core.quotePath": "false",
    "core.hooksPath": "/dev/null",
    "core.safecrlf": "false",
    "core.pager": "cat",
    "color.ui": "false",
    "advice.addEmbeddedRepo": "false",
    "diff.ignoreSubmodules": "dirty",  # to see more, git would run there what the settings there say
    "log.showSignature": "false",
    "protocol.ext.allow": "never",  # a remote that is a command line; what is missing may be fetched from others
    "trailer.separators": ":",
}
"""Plumbing runs no hooks, and prints paths, diffs and logs in one known form."""
AT_HOME = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
"""Nothing that is missing is fetched: a partial clone has all of its commits, and the way to another machine may be a
program. The second is for git before 2.44; `protocol.allow` would give way to what the settings say of one protocol."""
# A scratch index must neither leave shared parts in the user's git folder nor trust a file system monitor.
# Which files were edited it must see whatever the user chose not to look at: the time of the inode's last change is the
# one that no program can set. And what lies outside of a sparse checkout's cone is added like any other file.
_SCRATCH_CONFIG = {
    "core.splitIndex": "false",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.trustctime": "true",
    "core.checkStat": "default",
    "core.ignoreStat": "false",
    "core.sparseCheckout": "false",
}
# Objects as they are, not what `git replace` or a graft puts in their place. A file below a file is never there.
_TRUE_OBJECTS = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/dev/null/none"}


_LACKS_OBJECT = re.compile(
    r"(unable to (read|parse)|could not read|bad object|missing|not a valid object name)"
    r"( (tree|blob|commit|object|sha1 file of))* \(?[0-9a-f]{40}|object (file )?\S+ .*is (empty|corrupt)",
    re.IGNORECASE,
)


_LOCK = re.compile(
    r"Unable to create '(?P<lock>[^']+\.lock)': File exists|could not lock config file (?P<config>.+): File"
)
"""What git says where a lock stands: of which file."""


_ELSEWHERE = re.compile(r"cannot lock ref '[^']+': is at [0-9a-f]+ but expected [0-9a-f]+")
"""What git says where a reference was moved since the command began."""

_OPENED = (".gitattributes", ".gitignore")
_OF_SHELL = 128
"""What a shell adds to the number of the signal that ended its program."""
_TREE = re.compile(rb"([0-9a-f]+) tree [0-9]+")
"""What `git cat-file --batch-check` says of a tree."""
_PATIENCE_S = 2.0
"""After how long a git command is no longer taken to be merely at work."""


def call(
    folder: Path,
    *args: str,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> tuple[int, bytes, str]:
    """Run `git <args>` in `folder`: exit code, stdout, stderr. After `timeout_s` seconds it is ended (None: never).

    Raises:
        MissingRequirement: there is no git on PATH.
        GitKilled: it was killed, or took longer than it may.
        WorkspaceError: git waits for a pipe that somebody gave the name of one of git's own files.
    """
    executable = program(folder)
    try:
        with temporary.holding(stdin) as source:
            process = subprocess.Popen(
                [executable, *args],
                cwd=folder,
                env={**surroundings(folder), **(env or {})},
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
    except FileNotFoundError as error:
        raise WorkspaceError(f"git cannot run in {folder}: there is no such folder") from error
    with process:
        out, err = _output(process, folder, timeout_s)
    if number := _signal(process.returncode):
        command = next((each for each in args if not each.startswith("-") and "=" not in each), "")
        raise GitKilled(f"`git {command}` was ended by signal {number}", hint="Run the command again.")
    return process.returncode, out, err.decode(errors="replace")


def program(folder: Path) -> str:
    """The git to start for work in a folder.

    Raises:
        MissingRequirement: there is none on PATH, or it lies where agents write.
    """
    found = trusted.find("git", folder)
    if found is None:
        raise MissingRequirement(
            "git was not found outside of the work tree", hint="install git 2.30 or newer and put it on PATH"
        )
    return found


def surroundings(folder: Path) -> dict[str, str]:
    """The variables of every git command in a folder; its messages are read, so they follow no user's language."""
    around = {**trusted.environment(folder), **_separate_store(folder)}
    return {**around, "LANGUAGE": "C", "LC_ALL": "C", **_TRUE_OBJECTS, **orphans.of_git()}


@functools.cache
def _separate_store(folder: Path) -> dict[str, str]:
    """Where new objects go in a repository that can only be read, as in our own sandbox; nothing for any other.

    Nothing can refer to them there: references can no more be written than objects, or this does not hold.
    """
    git = next((each / ".git" for each in (folder, *folder.parents) if (each / ".git").is_dir()), None)
    if git is None or any(_takes_files(place) for place in (git, git / "refs", git / "objects")):
        return {}
    return {
        "GIT_OBJECT_DIRECTORY": str(_store(git)),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(git / "objects"),
    }


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made in a folder; tried with one that never has a name, since rights do not tell all."""
    if not os.access(folder, os.W_OK):
        return False
    try:
        os.close(os.open(folder, getattr(os, "O_TMPFILE", 0) | os.O_RDWR, 0o600))
    except OSError as error:
        return error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}  # others: it has no nameless files
    return True


@functools.cache
def _store(git: Path) -> Path:
    """The folder of such objects, gone with this process."""
    return temporary.created(f"objects-of-{git.parent.name[:40]}")


def _signal(code: int) -> int:
    """The signal that ended a process, by its exit code, or by that of a shell that stands before it; 0: none did."""
    number = -code if code < 0 else code - _OF_SHELL
    return number if 1 < number < signal.NSIG else 0  # 129 is git's own, for wrong usage


def _output(process: subprocess.Popen[bytes], folder: Path, timeout_s: float | None) -> tuple[bytes, bytes]:
    """What git prints until it ends. Where that takes long, pipes are looked for: git opens one and waits for ever."""
    try:
        try:
            return process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            pipe = next(_pipes(folder), None)
            if pipe is not None:
                raise WorkspaceError(
                    f"{pipe} is a pipe, not a regular file: git waits for it", hint=f"rm {pipe}"
                ) from None
            return process.communicate(timeout=None if timeout_s is None else max(0, timeout_s - _PATIENCE_S))
    except subprocess.TimeoutExpired:
        process.kill()
        raise GitKilled(f"git was ended: it took longer than {timeout_s:g} s", hint="Run the command again.") from None
    except BaseException:
        process.kill()
        raise


def _pipes(folder: Path) -> Iterator[Path]:
    """The pipes at or below a folder, and in those above it, whose names git opens by itself."""
    for place in (folder, *folder.parents):
        yield from (place / name for name in _OPENED if (place / name).is_fifo())
    for base, folders, _ in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (Path(base, name) for name in _OPENED if Path(base, name).is_fifo())


def locked(stderr: str) -> str:
    """The lock that blocked a git command, by its output; empty where none did."""
    found = _LOCK.search(stderr)
    return (found["lock"] or f"{found['config']}.lock") if found else ""


def failure(action: str, stderr: str) -> WorkspaceError:
    """The error for a git command that failed, with the line of its output that says why."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    line = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "no message")
    reason = line.removeprefix("fatal: ").removeprefix("error: ")
    hint = ""
    if lock := locked(stderr):
        hint = "another git command is at work here, or one crashed: wait for it, or remove the lock file"
        return GitLocked(f"git {action} failed: {reason}", lock=lock, hint=hint)
    if _ELSEWHERE.search(stderr):
        return HeadMoved(f"git {action} failed: somebody else committed, or moved the branch, at the same moment")
    if "dubious ownership" in stderr:
        hint = "the repository belongs to another user: see `git help config`, safe.directory"
    elif _LACKS_OBJECT.search(stderr):
        hint = "this clone lacks an object, or it is damaged: `git fsck` says which; git fetch, or clone it again"
    return WorkspaceError(f"git {action} failed: {reason}", hint=hint)


class Driver:
    """Runs git commands for one project: a work tree, or a folder in it.

    Trees are the project's own: of a commit, what it holds in that folder. An index is the work tree's: its paths begin
    with `prefix`. Commands run in the folder, so that paths in arguments and answers count from there; those on trees
    run at the top.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @functools.cached_property
    def top(self) -> Path:
        """The top level of the work tree that the project lies in."""
        return top_of(self.root) or self.root

    @functools.cached_property
    def prefix(self) -> bytes:
        """What the paths of the project begin with in an index and in commits: `packages/api/`; empty at the top."""
        return b"" if self.root == self.top else os.fsencode(self.root.relative_to(self.top)) + b"/"

    @functools.cached_property
    def git_dir(self) -> Path:
        """The git folder of this work tree (in a linked work tree: its own, not the shared one)."""
        usual = self.top / ".git"
        if (usual / "HEAD").is_file():
            return usual
        return Path(os.fsdecode(self.run("rev-parse", "--absolute-git-dir").rstrip(b"\n")))

    @functools.cached_property
    def common_dir(self) -> Path:
        """The git folder that all linked work trees share, with the references."""
        try:
            return (self.git_dir / regular.text(self.git_dir / "commondir").strip()).resolve()
        except FileNotFoundError:
            return self.git_dir

    def run(
        self, *args: str, stdin: bytes | None = None, index: Path | None = None, work_tree: Path | None = None
    ) -> bytes:
        """Run a plumbing command: no hooks of the user, no locks taken just for speed.

        Args:
            args: the command and its arguments.
            stdin: what it reads.
            index: a scratch index to work on instead of the user's.
            work_tree: another folder in the place of the work tree.

        Raises:
            WorkspaceError: git failed; the message carries its reason.
        """
        config = {**SETTINGS, **(_SCRATCH_CONFIG if index else {})}
        if args[0] in {"add", "ls-files", "status", "stash"}:
            config["core.excludesFile"] = str(self._excludes)
        if args[0] == "diff-tree":
            config["core.bigFileThreshold"] = str(BIG)
            # Of a file that looks unchanged to the index, git would take the content on disk for the blob in a tree.
            index = self._folder / "no-index"
        # What is not one of our own few pathspecs is a file's name, stars and colons included.
        patterns = OUTSIDE in args or (args[0] == "add" and args[-1].startswith(LEFT_OUT))
        literal = [] if patterns else ["--literal-pathspecs"]
        options = [part for key, value in config.items() for part in ("-c", f"{key}={value}")]
        env = {"GIT_OPTIONAL_LOCKS": "0", **({"GIT_INDEX_FILE": str(index)} if index else {})}
        env |= AT_HOME if args[0] == "log" else {}
        if work_tree:
            env |= {"GIT_WORK_TREE": str(work_tree), "GIT_DIR": str(self.git_dir)}
        # `--relative` is asked for where the trees are those of commits.
        folder = self.top if args[0] in _OF_TREES and "--relative" not in args else self.root
        code, out, err = call(folder, *literal, *options, *args, stdin=stdin, env=env)
        if code:
            raise failure(args[0], err)
        return out

    def records(self, *args: str) -> list[bytes]:
        """The NUL-terminated records that a command prints."""
        return self.run(*args).split(b"\0")[:-1]

    def trees(self, commits: Sequence[str]) -> list[str]:
        """The project's trees in commits, by one call of git; the empty one where its folder is not there.

        Raises:
            WorkspaceError: there is no such commit.
        """
        own = b":" + self.prefix.rstrip(b"/") if self.prefix else b"^{tree}"
        names = (each.encode() + part + b"\n" for each in commits for part in (b"^{tree}", own))
        out = self.run("cat-file", "--batch-check", stdin=b"".join(names)) if commits else b""
        found = [_TREE.fullmatch(line) for line in out.splitlines()]
        if None in found[::2]:
            missing = commits[found[::2].index(None)]
            raise WorkspaceError(f"git knows no commit `{missing}`", hint="git fsck; git fetch, or clone it again")
        return [each[1].decode() if each else self.empty_tree for each in found[1::2]]

    @functools.cached_property
    def empty_tree(self) -> str:
        """The id of the tree without files."""
        return self.run("mktree").decode().strip()

    def read_tree(self, tree: str, index: Path) -> None:
        """Fills an empty index with a tree of the project."""
        place = [f"--prefix={os.fsdecode(self.prefix)}"] if self.prefix else []
        self.run("read-tree", *place, tree, index=index)

    def write_tree(self, index: Path) -> str:
        """The project's tree in an index."""
        place = [f"--prefix={os.fsdecode(self.prefix)}"] if self.prefix else []
        if place and not self.run("ls-files", "-z", "--cached", index=index):
            return self.empty_tree  # git writes none
        try:
            return self.run("write-tree", *place, index=index).decode().strip()
        except WorkspaceError:
            if not self._conflicts_dropped(index):
                raise
        return self.run("write-tree", *place, index=index).decode().strip()

    def _conflicts_dropped(self, index: Path) -> bool:
        """Whether other folders than the project's had conflicts in a scratch index, of which git writes no tree."""
        whole = Driver(self.top)
        listed = whole.run("ls-files", "-z", "--unmerged", index=index).split(b"\0")[:-1]
        found = dict.fromkeys(path for _, _, path in (each.partition(b"\t") for each in listed))
        outside = [path for path in found if not path.startswith(self.prefix)]
        gone = b"0 " + b"0" * len(self.empty_tree) + b"\t"
        whole.run(
            "update-index", "-z", "--index-info", stdin=b"".join(gone + each + b"\0" for each in outside), index=index
        )
        return bool(outside)

    def within(self, path: bytes) -> bytes:
        """A path of the work tree, below the project's folder, as the project names it."""
        return path.removeprefix(self.prefix)

    @contextlib.contextmanager
    def index(self, *, copied: bool = True) -> Iterator[Path]:
        """A scratch index that vanishes afterwards: a copy of the user's (so that unchanged files need no reading)."""
        with temporary.folder("index") as folder:
            index = folder / "index"
            if copied:
                # copy2: git compares the index' time with those of the files to find edits within the same second.
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy2(self.git_dir / "index", index)
            yield index

    @functools.cached_property
    def _folder(self) -> Path:
        """A folder of our own, which goes with this object."""
        return temporary.owned("git", self)

    @functools.cached_property
    def _excludes(self) -> Path:
        """`ARTEFACTS`, and the user's own global ignore file."""
        code, out, _ = call(self.root, "config", "--type=path", "--get", "core.excludesFile")
        base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        own = self.root / os.fsdecode(out.rstrip(b"\n")) if code == 0 else Path(base) / "git" / "ignore"
        rules = regular.read(own) if own.is_file() else b""
        excludes = self._folder / "excludes"
        swarm = _GLOB.sub(r"\\\1", f"/{os.fsdecode(self.prefix)}.swarm/")
        excludes.write_bytes(rules + os.fsencode("\n".join(("", *ARTEFACTS, swarm, ""))))
        return excludes
