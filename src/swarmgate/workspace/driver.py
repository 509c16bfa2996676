"""Git as a tool: one command in, bytes out, whatever the user's git configuration says."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from swarmgate.errors import MissingRequirement, WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OUTSIDE = ":(exclude,top).swarm"
"""Pathspec: everything but swarmgate's own folder."""

BIG = 16_000_000
"""Bytes from which on a file's lines are not compared: git would hold several copies of both sides in memory."""

LEFT_OUT = ":(exclude,top,literal)"
"""Begins a pathspec of `git add`: everything but this path."""

ARTEFACTS = ("__pycache__/", "*.pyc", ".pytest_cache/", ".ruff_cache/", ".mypy_cache/", ".hypothesis/", "/.swarm/")
"""What counts as ignored while it is untracked, in gitignore's syntax: left behind by every run of the tools."""

# Plumbing runs no hooks, and prints paths, diffs and logs in one known form.
_CONFIG = {
    "core.quotePath": "false",
    "core.hooksPath": "/dev/null",
    "core.safecrlf": "false",
    "core.pager": "cat",
    "color.ui": "false",
    "advice.addEmbeddedRepo": "false",
    "log.showSignature": "false",
    "trailer.separators": ":",
}
# A scratch index must neither leave shared parts in the user's git folder nor trust a file system monitor.
_SCRATCH_CONFIG = {"core.splitIndex": "false", "core.fsmonitor": "false"}


class _Input(TypedDict, total=False):
    stdin: int
    input: bytes


def call(
    folder: Path, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None
) -> tuple[int, bytes, str]:
    """Run `git <args>` in `folder`: exit code, stdout, stderr.

    Raises:
        MissingRequirement: there is no git on PATH.
    """
    # Messages are read by `failure`, so they must not follow the user's language.
    settings = {**os.environ, "LANGUAGE": "C", "LC_ALL": "C", **(env or {})}
    source: _Input = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    try:
        done = subprocess.run(["git", *args], cwd=folder, capture_output=True, check=False, env=settings, **source)
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise WorkspaceError(f"git cannot run in {folder}: there is no such folder") from error
        raise MissingRequirement("git was not found", hint="install git 2.30 or newer and put it on PATH") from error
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def failure(action: str, stderr: str) -> WorkspaceError:
    """The error for a git command that failed, with the line of its output that says why."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    line = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "no message")
    reason = line.removeprefix("fatal: ").removeprefix("error: ")
    hint = ""
    if "index.lock" in stderr:
        hint = "another git process is at work here, or one crashed: wait for it, or remove the index.lock file"
    elif "dubious ownership" in stderr:
        hint = "the repository belongs to another user: see `git help config`, safe.directory"
    return WorkspaceError(f"git {action} failed: {reason}", hint=hint)


class Driver:
    """Git commands in one work tree.

    Args:
        root: top level of the work tree.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @functools.cached_property
    def git_dir(self) -> Path:
        """The git folder of this work tree (in a linked work tree: its own, not the shared one)."""
        usual = self.root / ".git"
        if (usual / "HEAD").is_file():
            return usual
        return Path(os.fsdecode(self.run("rev-parse", "--absolute-git-dir").rstrip(b"\n")))

    def run(self, *args: str, stdin: bytes | None = None, index: Path | None = None) -> bytes:
        """Run a plumbing command: no hooks of the user, no locks taken just for speed.

        Args:
            args: the command and its arguments.
            stdin: what it reads.
            index: a scratch index to work on instead of the user's.

        Raises:
            WorkspaceError: git failed; the message carries its reason.
        """
        config = {**_CONFIG, **(_SCRATCH_CONFIG if index else {})}
        if args[0] in {"add", "ls-files", "status", "stash"}:
            config["core.excludesFile"] = str(self._excludes)
        if args[0] == "diff-tree":
            config["core.bigFileThreshold"] = str(BIG)
        # What is not one of our own few pathspecs is a file's name, stars and colons included.
        patterns = OUTSIDE in args or (args[0] == "add" and args[-1].startswith(LEFT_OUT))
        literal = [] if patterns else ["--literal-pathspecs"]
        options = [part for key, value in config.items() for part in ("-c", f"{key}={value}")]
        env = {"GIT_OPTIONAL_LOCKS": "0", **({"GIT_INDEX_FILE": str(index)} if index else {})}
        code, out, err = call(self.root, *literal, *options, *args, stdin=stdin, env=env)
        if code:
            raise failure(args[0], err)
        return out

    def records(self, *args: str) -> list[bytes]:
        """The NUL-terminated records that a command prints."""
        return self.run(*args).split(b"\0")[:-1]

    @contextlib.contextmanager
    def index(self, *, copied: bool = True) -> Iterator[Path]:
        """A scratch index that vanishes afterwards: a copy of the user's (so that unchanged files need no reading)."""
        with tempfile.TemporaryDirectory(prefix="swarmgate-index-") as folder:
            index = Path(folder) / "index"
            if copied:
                # copy2: git compares the index' time with those of the files to find edits within the same second.
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy2(self.git_dir / "index", index)
            yield index

    @functools.cached_property
    def _excludes(self) -> Path:
        """The user's own global ignore file plus `ARTEFACTS`."""
        code, out, _ = call(self.root, "config", "--type=path", "--get", "core.excludesFile")
        base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        own = self.root / os.fsdecode(out.rstrip(b"\n")) if code == 0 else Path(base) / "git" / "ignore"
        rules = own.read_bytes() if own.is_file() else b""
        folder = Path(tempfile.mkdtemp(prefix="swarmgate-git-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        excludes = folder / "excludes"
        excludes.write_bytes(rules + b"\n" + "\n".join(ARTEFACTS).encode() + b"\n")
        return excludes
