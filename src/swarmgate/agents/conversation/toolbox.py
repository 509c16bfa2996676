"""Executes the working tools (read, write, search, run) and the guards that are checked before each of them."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from swarmgate.agents.ask_expert import Consultation
from swarmgate.agents.authority.authority import RULE, Right
from swarmgate.agents.authority.scope import ScopeRules, belongs
from swarmgate.agents.context import AgentContext
from swarmgate.agents.guards import commands as command_guard
from swarmgate.agents.tools import arguments as args
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.errors import FileProblem, UnsafePath, UsageError
from swarmgate.workspace.file_tools import text
from swarmgate.workspace.programs import trusted

Handler = Callable[[Any], Awaitable[str]]
"""Carries out one tool call; takes the tool's arguments, gives the result as the model reads it."""

_READ_ON = 200
"""Characters that the last line of a file that is shown in part may have."""

RunGates = Callable[[], Awaitable[str]]
"""Runs the gates over the files as they are; gives the report as text."""


class Toolbox:
    """The working tools of one turn.

    Args:
        agent: files, environment and limits.
        scope: the files that were declared for the work; a write elsewhere is carried out, and said to be outside (how
            many there are is judged after the turn).
            Empty: nothing was declared.
        may_write: why a path may not be written; empty when it may.
        run_gates: the gates; None where they are not on offer.
    """

    def __init__(
        self,
        agent: AgentContext,
        *,
        scope: Sequence[str] = (),
        may_write: Callable[[str], str] = lambda _path: "",
        run_gates: RunGates | None = None,
    ) -> None:
        self._agent = agent
        self._files = agent.files
        self._scope = frozenset(plain(path) for path in scope)
        self._may_write = may_write
        self._run_gates = run_gates
        self._consultation = Consultation(agent.expert)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each tool, by name."""
        return {
            "read_file": self._read_file,
            "list_files": self._list_files,
            "search": self._search,
            "write_file": self._write_file,
            "edit_file": self._edit_file,
            "delete_file": self._delete_file,
            "run_command": self._run_command,
            "run_gates": self._gates,
            "ask_sme": self._consultation.ask,
        }

    async def _read_file(self, call: args.ReadFile) -> str:
        self._resolved(call.path)
        size = self._agent.limits.result_chars - _READ_ON  # so that its own last line, how to read on, is not cut
        return self._files.read(call.path, call.start_line, call.end_line, limit=size) or f"[{call.path} is empty]"

    async def _list_files(self, call: args.ListFiles) -> str:
        return self._files.list(call.glob)

    async def _search(self, call: args.Search) -> str:
        return await self._files.search(call.pattern, call.glob)

    async def _write_file(self, call: args.WriteFile) -> str:
        note = self._admit(call.path)
        self._refuse_ignored(call.path)
        self._refuse_loss(call.path, lambda _before: call.content)
        self._files.write(call.path, call.content)
        return f"Wrote {call.path}, {len(call.content.splitlines())} lines.{note}{self._passed_over(call.path)}"

    async def _edit_file(self, call: args.EditFile) -> str:
        note = self._admit(call.path)
        self._refuse_ignored(call.path)
        self._refuse_loss(call.path, lambda before: text.replaced(call.path, before, call.old, call.new))
        self._files.edit(call.path, call.old, call.new)
        return f"Edited {call.path}.{note}{self._passed_over(call.path)}"

    async def _delete_file(self, call: args.DeleteFile) -> str:
        note = self._admit(call.path)
        self._files.delete(call.path)
        return f"Deleted {call.path}.{note}"

    async def _run_command(self, call: args.RunCommand) -> str:
        command_guard.admit(self._agent, call.command, self._scope)
        longest = self._agent.limits.command_timeout_s
        seconds = min(call.timeout_s or longest, longest)
        commands = self._agent.commands
        own = {} if commands.sandbox.name == "none" else trusted.project_variables(commands.root)
        done = await commands.run(call.command, timeout_s=seconds, env=own)
        swept = self._agent.sweep()
        if done.timed_out:
            head = f"Ended at its time limit of {seconds:g} s; at most {longest:g} s are allowed."
        else:
            head = f"Exit code {done.exit_code} after {done.seconds:.1f} s."
        streams = (("stdout", done.stdout), ("stderr", done.stderr))
        notice = [f"Taken away, since only files that can be read belong here: {', '.join(swept)}"] if swept else []
        return "\n".join([head, *(f"--- {name}\n{text.rstrip()}" for name, text in streams if text.strip()), *notice])

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
        target = self._resolved(path)
        places = {place.relative_to(self._files.root).as_posix() for place in (target, target.resolve())}
        authority = self._agent.authority
        for place in sorted(places):
            if problem := authority.refusal(place) or self._may_write(place):
                self._refuse(problem)
        self._agent.spare(target.resolve())
        rules = ScopeRules(is_test=authority.is_test, allow=authority.allow)
        if not self._scope or all(place in self._scope or belongs(place, self._scope, rules) for place in places):
            return ""
        where = f" {path} is outside of the declared scope ({', '.join(sorted(self._scope))})"
        return f"{where}: this will be reported, and too many such files end the attempt."

    def _passed_over(self, path: str) -> str:
        """What is to be said of a file with tests that the test runner does not collect; else empty."""
        place = self._files.resolve(path).resolve().relative_to(self._files.root).as_posix()
        why = self._agent.uncollected(place)
        return f" But {why}. Its tests would not run, and prove nothing: move or rename it." if why else ""

    def _refuse_ignored(self, path: str) -> None:
        """Refuses a file that git ignores: it would neither be tested nor committed.

        Raises:
            UsageError: git ignores it.
        """
        place = self._files.resolve(path).resolve().relative_to(self._files.root).as_posix()
        if rule := self._agent.ignored_by(place):
            self._refuse(
                f"git ignores `{path}` ({rule}): it would be neither tested nor committed. Write to another path; "
                "where the file has to be there, change that rule first"
            )

    def _refuse_loss(self, path: str, change: Callable[[str], str]) -> None:
        """Refuses a change that takes something from a test which was there before the task.

        Raises:
            UsageError: it does.
        """
        authority = self._agent.authority
        place = self._files.resolve(path).resolve().relative_to(self._files.root).as_posix()
        file = self._files.root / place
        if authority.right is not Right.TESTS or not file.is_file():
            return
        if (original := authority.original(place)) is None:
            return
        with contextlib.suppress(FileProblem):  # binary, or an impossible edit: the tool itself says so
            before = text.decoded(path, file.read_bytes())
            if problem := authority.objection(place, before, change(before), original=original):
                self._refuse(problem)

    def _resolved(self, path: str) -> Path:
        """The place of a path, as `FileTree.resolve`; what leaves the repository goes on record."""
        try:
            return self._files.resolve(path)
        except UnsafePath as error:
            self._note(error.message)
            raise

    def _refuse(self, problem: str) -> NoReturn:
        self._note(problem)
        raise UsageError(problem)

    def _note(self, problem: str) -> None:
        role = self._agent.authority.role
        self._agent.on_guard(GuardNote(rule=RULE, effect=Effect.REFUSED, detail=problem, role=role))


def plain(path: str) -> str:
    """The path in its shortest spelling: no `./`, no doubled slash."""
    return str(PurePosixPath(path))
