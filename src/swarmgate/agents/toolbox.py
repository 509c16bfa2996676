"""What the working tools do, and the guards before them: rules stand here, in code, not in a prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from swarmgate.agents import arguments as args
from swarmgate.agents.desk import Desk
from swarmgate.errors import UsageError
from swarmgate.workspace import process

Handler = Callable[[Any], Awaitable[str]]
"""Carries out one tool call; takes the tool's arguments, gives the result as the model reads it."""

RunGates = Callable[[], Awaitable[str]]
"""Runs the gates over the files as they are; gives the report as text."""

_OUTPUT = 12_000
"""Characters kept of each output stream of a command."""


class Toolbox:
    """The working tools of one turn.

    Args:
        desk: files, environment and limits.
        scope: the files that were declared for the work; a write elsewhere is carried out, and said to be outside.
            Empty: nothing was declared.
        may_write: why a path may not be written; empty when it may.
        run_gates: the gates; None where they are not on offer.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        scope: Sequence[str] = (),
        may_write: Callable[[str], str] = lambda _path: "",
        run_gates: RunGates | None = None,
    ) -> None:
        self._desk = desk
        self._files = desk.files
        self._scope = frozenset(plain(path) for path in scope)
        self._may_write = may_write
        self._run_gates = run_gates

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What each tool does, by name."""
        return {
            "read_file": self._read_file,
            "list_files": self._list_files,
            "search": self._search,
            "write_file": self._write_file,
            "edit_file": self._edit_file,
            "delete_file": self._delete_file,
            "run_command": self._run_command,
            "run_gates": self._gates,
        }

    async def _read_file(self, call: args.ReadFile) -> str:
        return self._files.read(call.path, call.start_line, call.end_line) or f"[{call.path} is empty]"

    async def _list_files(self, call: args.ListFiles) -> str:
        return self._files.list(call.glob)

    async def _search(self, call: args.Search) -> str:
        return await self._files.search(call.pattern, call.glob)

    async def _write_file(self, call: args.WriteFile) -> str:
        note = self._admit(call.path)
        self._files.write(call.path, call.content)
        return f"Wrote {call.path}, {len(call.content.splitlines())} lines.{note}"

    async def _edit_file(self, call: args.EditFile) -> str:
        note = self._admit(call.path)
        self._files.edit(call.path, call.old, call.new)
        return f"Edited {call.path}.{note}"

    async def _delete_file(self, call: args.DeleteFile) -> str:
        note = self._admit(call.path)
        self._files.delete(call.path)
        return f"Deleted {call.path}.{note}"

    async def _run_command(self, call: args.RunCommand) -> str:
        longest = self._desk.limits.command_timeout_s
        seconds = min(call.timeout_s or longest, longest)
        done = await process.run(
            call.command, cwd=self._files.root, timeout_s=seconds, env=self._desk.env, output_limit=_OUTPUT
        )
        if done.timed_out:
            head = f"Ended at its time limit of {seconds:g} s; at most {longest:g} s are allowed."
        else:
            head = f"Exit code {done.exit_code} after {done.seconds:.1f} s."
        streams = (("stdout", done.stdout), ("stderr", done.stderr))
        return "\n".join([head, *(f"--- {name}\n{text.rstrip()}" for name, text in streams if text.strip())])

    async def _gates(self, _call: args.RunGates) -> str:
        if self._run_gates is None:
            raise UsageError("the gates are not on offer at this step")
        return await self._run_gates()

    def _admit(self, path: str) -> str:
        """What is to be said of a write to the path; empty when it lies in the scope, or none was declared.

        Judged is the file itself: `tests/../src/a.py` is no test, nor is a link in `tests/` to `src/a.py`.

        Raises:
            UsageError: the role may not write it.
        """
        target = self._files.resolve(path)
        places = {place.relative_to(self._files.root).as_posix() for place in (target, target.resolve())}
        for place in sorted(places):
            if problem := self._may_write(place):
                raise UsageError(problem)
        if not self._scope or places <= self._scope:
            return ""
        return f" {path} is outside of the declared scope ({', '.join(sorted(self._scope))}): this will be reported."


def plain(path: str) -> str:
    """The path in its shortest spelling: no `./`, no doubled slash."""
    return str(PurePosixPath(path))
