"""Runs commands in a sandbox, each with its own home and temporary folder that are deleted afterwards."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.process import piped, process, temporary
from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox.confinement import Confinement, environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from swarmgate.workspace.process.piped import Piped
    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.confinement import Sandbox

_PRIVATE = ("home", "tmp", "shm")

_OF_LOADER = ("LD_", "DYLD_", "GCONV_PATH")
"""How the names of variables begin by which libraries are found (ld.so(8), iconv(1), dyld(1))."""

_IN_HOME = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "PYTHONUSERBASE": ".local", "NVM_DIR": ".nvm",
            "PYENV_ROOT": ".pyenv", "GOPATH": "go"}  # fmt: skip
"""Where toolchains read below the home: passed to commands whose home is another folder."""


@dataclass(frozen=True, slots=True)
class _Start:
    """A command as it is started: its words, its variables, and whether it inherits ours besides."""

    argv: list[str]
    env: dict[str, str]
    inherit: bool


@dataclass(frozen=True, slots=True)
class CommandRunner:
    """Runs commands of agents, tests, and tools of gates: made once a run, so that none costs a look at the machine.

    Attributes:
        sandbox: what confines.
        confinement: to what, and where they run.
        inherit: names of further variables that commands inherit.
        output_chars: characters kept of each of stdout and stderr.
    """

    sandbox: Sandbox
    confinement: Confinement
    inherit: tuple[str, ...] = field(default=())
    output_chars: int = 200_000

    @property
    def root(self) -> Path:
        """The tree that commands may write, and run in unless `at` says otherwise."""
        return self.confinement.root

    @property
    def vanishes(self) -> bool:
        """Whether the tree is a copy that is gone afterwards: whoever runs something there may add files."""
        return False

    def at(self, folder: Path) -> CommandRunner:
        """Runs commands in this folder of the tree.

        Raises:
            WorkspaceError: it lies elsewhere, perhaps by a link.
        """
        place = folder.resolve()
        if not place.is_relative_to(self.root):
            raise WorkspaceError(f"no command runs in {folder}: that is outside of {self.root}")
        return replace(self, confinement=replace(self.confinement, folder=place))

    def around(self, tree: Path) -> CommandRunner:
        """Runs commands in another tree, such as a temporary one; what it stands for can only be read there."""
        bounds, place = self.confinement, tree.resolve()
        readable = (*bounds.readable, bounds.root)
        guarded = (*bounds.guarded, *(each for each in [place / ".git"] if each.exists()))
        bounds = replace(bounds, root=place, readable=readable, guarded=guarded, folder=None)
        return replace(self, confinement=bounds)

    def reading(self, own: str) -> CommandRunner:
        """Runs commands that may not write the tree, but for one folder in it and what else is open to them.

        Args:
            own: that folder, which is there, relative to the tree.

        Raises:
            WorkspaceError: a link stands in its place or on the way to it, which would open what it leads to.
        """
        bounds, place = self.confinement, self.root / own
        if place.resolve() != place:
            raise WorkspaceError(
                f"{place} leads elsewhere by a link: to {place.resolve()}", hint=f"replace the link: rm {place}"
            )
        inside = (each for each in bounds.writable if each.is_relative_to(self.root) and each != self.root)
        spared = [each for each in inside if not any(each.is_relative_to(path) for path in bounds.guarded)]
        return replace(self, confinement=replace(bounds, guarded=(self.root, *bounds.guarded), spared=(place, *spared)))

    def refused(self, done: Completed) -> str:
        """Why the sandbox did not start the command that ended like this; empty where it did."""
        return self.sandbox.refused(done)

    async def run(
        self,
        command: Sequence[str] | str,
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        writable: Sequence[Path] = (),
        stdin: bytes | None = None,
        output_limit: int | None = None,
        on_line: Callable[[bytes], None] | None = None,
        while_at_work: bool = False,
    ) -> Completed:
        """Run a command, confined; all that it started ends with it.

        Args:
            command: an argument list, or a string for `/bin/sh -c`.
            timeout_s: seconds until it is ended.
            env: variables on top of the harmless ones that are inherited.
            writable: folders that this command may write too.
            stdin: its standard input, empty when None.
            output_limit: instead of `output_chars`.
            on_line: hears each line of stdout as it comes; what it raises ends the command, and is raised here.
            while_at_work: see `process.run`.

        Raises:
            MissingRequirement: the sandbox's program is not there.
            WorkspaceError: the operating system refused to start it.
        """
        with self._confined(command, env, writable) as start:
            return await process.run(
                start.argv,
                cwd=self.confinement.cwd,
                timeout_s=timeout_s,
                env=start.env,
                inherit=start.inherit,
                stdin=stdin,
                output_limit=self.output_chars if output_limit is None else output_limit,
                on_line=on_line,
                while_at_work=while_at_work,
            )

    @asynccontextmanager
    async def talk(self, command: str, *, env: Mapping[str, str] | None = None) -> AsyncIterator[Piped]:
        """A command line, confined, that is spoken to while it runs; all that it started ends with the block.

        Args:
            command: for `/bin/sh -c`.
            env: variables on top of the harmless ones that are inherited.

        Raises:
            MissingRequirement: the sandbox's program is not there.
            WorkspaceError: the operating system refused to start it.
        """
        with self._confined(command, env, ()) as start:
            async with piped.start(
                start.argv,
                cwd=self.confinement.cwd,
                env=start.env,
                inherit=start.inherit,
                output_limit=self.output_chars,
            ) as program:
                yield program

    @contextmanager
    def _confined(
        self, command: Sequence[str] | str, env: Mapping[str, str] | None, writable: Sequence[Path]
    ) -> Iterator[_Start]:
        """How a command is started, confined, with a home and a temporary folder that are gone afterwards."""
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        bounds, around = self.confinement, trusted.given()
        if self.sandbox.name == "none":
            yield _Start(argv, {**around, **(env or {})}, inherit=True)
            return
        if writable:
            bounds = replace(bounds, writable=(*bounds.writable, *(place.resolve() for place in writable)))
        variables = environment(around, {name: around[name] for name in self.inherit if name in around})
        with temporary.folder("call") as own:
            for name in _PRIVATE:
                (own / name).mkdir()
            outer, inner = _apart({**variables, **self._places(own), **(env or {})})
            yield _Start(self.sandbox.argv([*inner, *argv], bounds, own), outer, inherit=False)

    def _places(self, own: Path) -> dict[str, str]:
        """Home and temporary folder of a command, and where its toolchains are nevertheless found."""
        home = self.confinement.home
        if self.sandbox.private_home:
            return {"HOME": str(home), "TMPDIR": "/tmp"}  # noqa: S108 - private there
        found = {name: str(home / place) for name, place in _IN_HOME.items() if (home / place).is_dir()}
        return {**found, "HOME": str(own / "home"), "TMPDIR": str(own / "tmp")}


def _apart(variables: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The variables of the sandbox' own program, and what sets the others for the command alone.

    Those name libraries, perhaps in the tree: the program that confines must load none of them.
    """
    inner = [f"{name}={value}" for name, value in variables.items() if name.startswith(_OF_LOADER)]
    outer = {name: value for name, value in variables.items() if not name.startswith(_OF_LOADER)}
    return outer, ["/usr/bin/env", *inner] if inner else []
