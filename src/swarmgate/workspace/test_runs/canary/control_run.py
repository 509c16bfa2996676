"""A control run: repeats the test command with one more file whose test must fail, to detect forged results.

For runners that load nothing of ours. The file stands beside one of the project's, where its settings and its set-up
count, and begins with that one's text, so that the code under test is loaded as well. It is written into a tree that
vanishes, after the run that counts.
"""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.review.evidence import Canary
from swarmgate.workspace.files import regular
from swarmgate.workspace.test_runs import counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.command_runner import CommandRunner

_FILES = 20_000
"""Entries of a tree that are scanned for a test to place the file next to."""
_BYTES = 200_000
_LEFT_OUT = frozenset({"node_modules", "target", "vendor", "dist", "build", "fixtures", "testdata", "coverage"})
_SCRIPT = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/[^/]+\.[cm]?[jt]sx?$|[._-](?:test|spec)\.[cm]?[jt]sx?$")
_OUTPUT_CHARS = 200_000
_SHELL = re.compile(r"[;&|<>`\n]|\$\(")


@dataclass(frozen=True)
class _Control:
    """A file with a test that must fail, and the command that runs it. `title` stands in what is said of it."""

    path: Path
    text: str
    command: str
    title: str


async def control(command: str, kind: str, runner: CommandRunner, *, timeout_s: float) -> tuple[Canary, str]:
    """Runs the control test; returns its canary and why the runner was tampered with, empty where it was not.

    Args:
        command: the project's test command.
        kind: its runner.
        runner: what confines it, in a tree that vanishes.
        timeout_s: seconds until the run is ended.

    Raises:
        MissingRequirement: the sandbox's program is not there.
        WorkspaceError: the operating system refused to start it.
    """
    make = KINDS.get(kind)
    try:
        made = make(command, runner.confinement.cwd) if make and not _SHELL.search(command) else None
    except OSError as error:
        return _missing(f"no test of the project could be read: {error.strerror}")
    if made is None:
        return _missing("nothing is known of how to run one more test beside those of the project")
    try:
        made.path.write_text(made.text, encoding="utf-8")
        done = await runner.run(made.command, timeout_s=timeout_s, env={"CI": "true"}, output_limit=_OUTPUT_CHARS)
    except OSError as error:
        return _missing(f"no further test could be written: {error.strerror}")
    finally:
        made.path.unlink(missing_ok=True)
    return _read(done, kind, made.title)


def _read(done: Completed, kind: str, title: str) -> tuple[Canary, str]:
    if done.ok:
        found = counts.read(kind, done.output)
        if found and found.passed:
            wrong = "a test of swarmgate's own that must fail was run beside the project's, and all were called passed"
            return Canary(apart=True, missing=wrong), f"the test runner was tampered with: {wrong}"
    elif title in done.output:
        return Canary(failed=1, apart=True), ""
    return _missing("the test runner did not run a further file of tests")


def _missing(why: str) -> tuple[Canary, str]:
    return Canary(apart=True, missing=why), ""


def _own(place: Path) -> str:
    """The text of a file in a tree where tests ran: a link that they left may lead to what they could not read."""
    return regular.read(place, limit=_BYTES, follow=False).decode("utf-8", "replace")


def _neighbour(root: Path, pattern: re.Pattern[str]) -> Path | None:
    """One of the project's test files, by chance."""
    found = [path for path in _files(root) if pattern.search(path.as_posix())]
    return root / secrets.choice(found) if found else None


def _files(root: Path) -> Iterator[Path]:
    seen = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _LEFT_OUT and not name.startswith(".")]
        seen += len(names)
        if seen > _FILES:
            return
        yield from (Path(folder, name).relative_to(root) for name in names)


def _script(command: str, root: Path, test: str) -> _Control | None:
    """A test in JavaScript or TypeScript."""
    neighbour = _neighbour(root, _SCRIPT)
    if neighbour is None:
        return None
    title = f"keeps order {secrets.token_hex(4)}"
    stem, dot, rest = neighbour.name.partition(".")
    path = neighbour.with_name(f"{stem}-{secrets.token_hex(3)}{dot}{rest}")
    if match := re.fullmatch(r"(.+)([_-](?:test|spec))", stem):
        path = neighbour.with_name(f"{match[1]}-{secrets.token_hex(3)}{match[2]}{dot}{rest}")
    text = _own(neighbour)
    separator = " -- " if re.match(r"\s*npm\b", command) and " -- " not in command else " "
    narrowed = f"{command}{separator}{path.relative_to(root).as_posix()}"
    return _Control(path, f"{text}\n;{test.replace('@title@', title)}\n", narrowed, title)


def _node(command: str, root: Path) -> _Control | None:
    body = "() => { throw new Error('@title@'); }"
    return _script(command, root, f"import('node:test').then((own) => own.test('@title@', {body}));")


def _with_globals(command: str, root: Path) -> _Control | None:
    return _script(command, root, "describe('more', () => { it('@title@', () => { throw new Error('@title@'); }); });")


def _vitest(command: str, root: Path) -> _Control | None:
    own = f"_{secrets.token_hex(4)}"
    test = f"{own}('@title@', () => {{ throw new Error('@title@'); }});"
    return _script(command, root, f"{test}\nimport {{ it as {own} }} from 'vitest';")


def _go(command: str, root: Path) -> _Control | None:
    """A test in one of the packages; all of them are built again, and only it is run."""
    neighbour = _neighbour(root, re.compile(r"_test\.go$")) if re.match(r"\s*go test\b", command) else None
    package = neighbour and re.search(r"^package\s+\w+", _own(neighbour), re.MULTILINE)
    if not neighbour or not package:
        return None
    name = f"TestOrder{secrets.token_hex(4)}"
    text = f'{package[0]}\n\nimport "testing"\n\nfunc {name}(t *testing.T) {{ t.Fatal("{name}") }}\n'
    return _Control(neighbour.with_name(f"{name.lower()}_test.go"), text, f"{command} -run '^{name}$'", name)


def _cargo(command: str, root: Path) -> _Control | None:
    """An integration test of the top crate."""
    manifest = regular.text(root / "Cargo.toml", errors="replace") if (root / "Cargo.toml").is_file() else ""
    if not re.match(r"\s*cargo test\b", command) or "[package]" not in manifest or "autotests" in manifest:
        return None
    if (root / "tests").is_symlink():  # it may lead out of the tree
        return None
    name = f"order_{secrets.token_hex(4)}"
    (root / "tests").mkdir(exist_ok=True)
    head, dashes, rest = command.partition(" -- ")
    line = f"{head} --test {name}{dashes}{rest}"
    return _Control(root / "tests" / f"{name}.rs", f'#[test]\nfn {name}() {{\n    panic!("{name}");\n}}\n', line, name)


KINDS: dict[str, Callable[[str, Path], _Control | None]] = {
    "node": _node,
    "jest": _with_globals,
    "mocha": _with_globals,
    "vitest": _vitest,
    "go": _go,
    "cargo": _cargo,
}
"""Runners of which something is known."""
