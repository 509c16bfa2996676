"""Reads, lists, searches and writes files of the work tree for agents, with guarded paths and bounded results."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.errors import FileProblem, UnsafePath
from swarmgate.workspace.file_tools import text
from swarmgate.workspace.files import atomic, globs, guard, paths
from swarmgate.workspace.git.driver import OUTSIDE, Driver
from swarmgate.workspace.process import process
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Iterable

_READ_CHARS = 40_000
_FILE_BYTES = 20_000_000
_LISTED = 1000
_MATCHES = 200
_SEARCH_S = 10.0
_SEARCH_CHARS = 1_000_000


class FileTree:
    """The files of a work tree, outside `.git` and `.swarm`.

    Every error is an `UnsafePath` or a `FileProblem` whose message tells a model what to do instead.

    Args:
        root: top level of the work tree.
        guarded: files and folders that are read and never written, resolved.
    """

    def __init__(self, root: Path, *, guarded: Iterable[Path] = ()) -> None:
        self.root = root.resolve()
        self._guarded = tuple(guarded)
        self._git = Driver(self.root)

    def resolve(self, path: str) -> Path:
        """The absolute form of a repository-relative path to a regular file, which need not exist yet.

        Raises:
            UnsafePath: it leaves the repository, enters `.git` or `.swarm`, or names no regular file.
        """
        return guard.resolve(self.root, path)

    def read(
        self, path: str, start_line: int | None = None, end_line: int | None = None, *, limit: int = _READ_CHARS
    ) -> str:
        """The file's text, or its lines from `start_line` to `end_line` (from 1, inclusive).

        Past `limit` characters it is cut at a line, and a last line in brackets says how to read on.
        """
        content = text.decoded(path, self._bytes(path))
        return text.window(path, content.removeprefix("\ufeff"), start=start_line, end=end_line, limit=limit)

    def write(self, path: str, content: str) -> None:
        """Write a whole file; makes its folders, keeps an existing file's mode and CRLF line ends."""
        target = self.resolve(path).resolve()
        with contextlib.suppress(FileProblem):
            if target.exists():
                content = text.as_in(text.decoded(path, self._bytes(path)), content)
        self._replace(path, target, content)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the only occurrence of `old` in the file by `new`."""
        content = text.decoded(path, self._bytes(path))
        self._replace(path, self.resolve(path).resolve(), text.replaced(path, content, old, new))

    def delete(self, path: str) -> None:
        """Remove a file (of a symbolic link: the link), and the folders that become empty."""
        target = self.resolve(path)
        self._refuse_guarded(path, target)
        try:
            target.unlink()
        except FileNotFoundError as error:
            raise _absent(path) from error
        except OSError as error:
            raise FileProblem(f"`{path}` cannot be deleted: {error.strerror}") from error
        with contextlib.suppress(OSError):
            while (target := target.parent) != self.root:
                target.rmdir()

    def paths(self, glob: str | None = None) -> tuple[str, ...]:
        """Every file that is tracked, or untracked and not ignored, and there; `glob` as in `workspace.files.globs`."""
        options = ("--cached", "--others", "--exclude-standard")
        records = set(self._git.records("ls-files", "-z", *options, "--", ".", OUTSIDE))
        named = sorted(path for path in map(paths.decode, records) if not glob or globs.matches(path, glob))
        inside: dict[Path, bool] = {}
        return tuple(path for path in named if self._is_there(path, inside))

    def list(self, glob: str | None = None, *, limit: int = _LISTED) -> str:
        """`paths`, one a line; past `limit` a last line in brackets gives the whole count."""
        found = self.paths(glob)
        body = "".join(f"{path}\n" for path in found[:limit])
        if len(found) > limit:
            return f"{body}[{limit} of {len(found)} files; narrow the list with a glob such as src/**/*.py]"
        return body or f"[no file{f' matches {glob}' if glob else ''}]"

    async def search(self, pattern: str, glob: str | None = None, *, limit: int = _MATCHES) -> str:
        """Lines that match a Python regular expression, as `path:line: text`; bounded in matches and in time."""
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise FileProblem(f"pattern {pattern!r} is not a Python regular expression: {error}") from error
        files = [path for path in self.paths(glob) if not (self.root / path).is_symlink()]
        request = {"root": str(self.root), "pattern": pattern, "files": files, "matches": limit}
        done = await process.run(
            [trusted.interpreter(), "-I", "-S", str(Path(__file__).with_name("grep.py"))],
            cwd=self.root,
            timeout_s=_SEARCH_S,
            stdin=json.dumps(request).encode(),
            output_limit=_SEARCH_CHARS,
        )
        if done.timed_out:
            raise FileProblem(f"the search for {pattern!r} took longer than {_SEARCH_S:.0f} s; simplify the pattern")
        if not done.ok:
            reason = done.stderr.strip().rpartition("\n")[2]
            raise FileProblem(f"the search for {pattern!r} failed: {reason}")
        return _report(json.loads(done.stdout), limit, len(files))

    def _is_there(self, path: str, inside: dict[Path, bool]) -> bool:
        """Whether the file exists, and not behind a link that leads out of the tree; `inside` remembers folders."""
        place = self.root / path
        folder = place.parent
        if folder not in inside:
            inside[folder] = folder.resolve().is_relative_to(self.root)
        return inside[folder] and (place.is_symlink() or place.is_file())

    def _bytes(self, path: str) -> bytes:
        target = self.resolve(path)
        try:
            size = target.stat().st_size
            if size > _FILE_BYTES:
                raise FileProblem(f"`{path}` is too large to open ({size} bytes); use search")
            return target.read_bytes()
        except FileNotFoundError as error:
            raise _absent(path) from error
        except OSError as error:
            raise FileProblem(f"`{path}` cannot be read: {error.strerror}") from error

    def _refuse_guarded(self, path: str, target: Path) -> None:
        if any(place.is_relative_to(each) for place in (target, target.resolve()) for each in self._guarded):
            raise UnsafePath(f"path {path[:200]!r} is refused: git or swarmgate uses it with the user's rights")

    def _replace(self, path: str, target: Path, content: str) -> None:
        self._refuse_guarded(path, target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            atomic.replace(target, content.encode(), durable=False)
        except UnicodeEncodeError as error:
            raise FileProblem(f"`{path}`: the content holds a character that UTF-8 has no code for") from error
        except OSError as error:
            raise FileProblem(f"`{path}` cannot be written: {error.strerror}") from error


def _absent(path: str) -> FileProblem:
    return FileProblem(f"there is no file `{path}`; list_files shows what there is")


def _report(found: dict[str, Any], limit: int, files: int) -> str:
    body = "".join(f"{line}\n" for line in found["lines"])
    notes = [f"the first {limit} matches; narrow the pattern or the glob"] if found["more"] else []
    notes += [] if body else [f"no match in {files} files"]
    notes += [f"{found['skipped']} binary or very large files were not searched"] if found["skipped"] else []
    return body + (f"[{'; '.join(notes)}]" if notes else "")
