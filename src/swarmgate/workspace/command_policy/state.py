"""The simulated state of a shell within a command line: folder, variables, functions and arguments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from swarmgate.workspace.command_policy import quoting
from swarmgate.workspace.command_policy.model import UNKNOWN, Feed

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = frozenset({"?", "$", "#", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID"})


@dataclass
class State:
    """The state of one shell; `copy` is what a subshell starts with.

    Attributes:
        cwd: absolute; empty where it is not known.
        home: the user's.
        arguments: `$1` and on.
        variables: texts that are known, with `UNKNOWN` where they are not.
        arrays: their elements.
        functions: what each is, for the reader that met it.
        via: what starts the commands, outermost first.
        calls: the functions and aliases that are being read.
        doubtful: whether the commands at this point may be skipped when it runs.
        files: what the line itself wrote into files; shared by all subshells.
    """

    cwd: str
    home: str
    before: str = ""
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    via: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    doubtful: bool = False
    files: dict[str, Feed] = field(default_factory=dict)

    def copy(self, *via: str, doubtful: bool | None = None) -> State:
        """A subshell, started by `via`."""
        return replace(
            self,
            variables=dict(self.variables),
            arrays=dict(self.arrays),
            functions=dict(self.functions),
            via=(*self.via, *via),
            doubtful=self.doubtful if doubtful is None else doubtful,
        )

    def assign(self, name: str, value: str) -> None:
        """Sets a variable; where that may be skipped, the old value stays possible."""
        old = self.variables.get(name)
        if self.doubtful and old is not None and old != value:
            value = quoting.any_of([old, value])
        self.variables[name] = value
        self.arrays.pop(name, None)

    def assign_all(self, name: str, values: Sequence[str]) -> None:
        """Sets an array."""
        self.arrays[name] = tuple(values)
        self.variables[name] = values[0] if values else ""

    def value(self, name: str) -> str:
        """The text of a parameter; `UNKNOWN` where only running tells."""
        if name in {"@", "*"}:
            return " ".join(self.arguments)
        if name.isdecimal() and name != "0":
            index = int(name) - 1
            return self.arguments[index] if index < len(self.arguments) else ""
        if name in self.variables:
            return self.variables[name]
        own = {"HOME": self.home, "PWD": self.cwd or UNKNOWN, "OLDPWD": self.before or UNKNOWN, "TMPDIR": "/tmp"}  # noqa: S108 - it is so in the sandbox
        own |= {"IFS": " \t\n"}
        return "0" if name in _NUMBERS else own.get(name, UNKNOWN)
