"""The table of supported linters: programs, config files, command lines and output parsers."""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swarmgate.config import toml_text
from swarmgate.gates.lint import output
from swarmgate.workspace.files import regular
from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from swarmgate.domain.review.finding import Finding
    from swarmgate.workspace.process.process import Completed

_SCRIPTS = frozenset({"javascript", "typescript"})


@dataclass(frozen=True, slots=True)
class Linter:
    """A linter: it reads files, and finds what is wrong in them.

    `configs` are the names of files that say that a project uses it (none: every project does); it runs where the
    nearest one above a file is. `exit_codes` are those with which it has done its work. `fix` is empty where it fixes
    nothing. `env` hides settings in the user's home: the project alone decides. `adopted`: of one that every project
    uses, settings that say that it is wanted; without them, only its errors block.
    """

    name: str
    languages: frozenset[str]
    configs: tuple[str, ...]
    check: tuple[str, ...]
    read: Callable[[Completed, str], list[Finding]]
    fix: tuple[str, ...] = ()
    exit_codes: tuple[int, ...] = (0, 1)
    env: Mapping[str, str] = field(default_factory=dict)
    adopted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Formatter:
    """A formatter that reads a file on stdin and prints it formatted; `options` are its arguments for a file."""

    name: str
    language: str
    options: Callable[[Path, str], tuple[str, ...]]
    env: Mapping[str, str] = field(default_factory=dict)


LINTERS = (
    Linter(
        "biome", _SCRIPTS | {"json", "jsonc", "css", "vue", "svelte"}, ("biome.json", "biome.jsonc"),
        ("biome", "check", "--reporter=github", "--max-diagnostics=none", "--colors=off", "--no-errors-on-unmatched",
         "--"), output.biome,
        ("biome", "check", "--write", "--max-diagnostics=none", "--colors=off", "--no-errors-on-unmatched", "--"),
    ),
    Linter(
        "eslint", _SCRIPTS | {"vue", "svelte"},
        ("eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".eslintrc.js",
         ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml", ".eslintrc"),
        ("eslint", "--format", "json", "--no-error-on-unmatched-pattern", "--"), output.eslint,
        ("eslint", "--fix", "--format", "json", "--no-error-on-unmatched-pattern", "--"),
    ),
    Linter("shellcheck", frozenset({"bash"}), (), ("shellcheck", "--format=json1", "--"), output.shellcheck,
        env={"HOME": os.devnull, "XDG_CONFIG_HOME": os.devnull}, adopted=(".shellcheckrc", "shellcheckrc"),
    ),
)  # fmt: skip
"""In the order they are named in a result."""


def _no_options(_root: Path, _path: str) -> tuple[str, ...]:
    return ()


def _rustfmt(root: Path, path: str) -> tuple[str, ...]:
    return ("--emit", "stdout", "--edition", _edition(root, (root / os.fsdecode(encode(path))).parent))


def _edition(root: Path, folder: Path) -> str:
    """The edition of the nearest crate: rustfmt formats each in its own style; 2021 where none says it."""
    while folder.is_relative_to(root):
        with contextlib.suppress(OSError, ValueError):
            manifest = toml_text.loads(regular.text(folder / "Cargo.toml"))
            for package in (manifest.get("package", {}), manifest.get("workspace", {}).get("package", {})):
                if isinstance(package.get("edition"), str):
                    return str(package["edition"])
        folder = folder.parent
    return "2021"


FORMATTERS = (
    Formatter("gofmt", "go", _no_options),
    Formatter("rustfmt", "rust", _rustfmt, {"XDG_CONFIG_HOME": os.devnull}),
)
"""Languages with one formatter that nearly everybody uses."""


def folder_of(linter: Linter, root: Path, path: str) -> str | None:
    """The folder, relative to the root, that a linter runs in for this file; None where nobody configured it."""
    return _above(root, path, linter.configs) if linter.configs else ""


def is_adopted(linter: Linter, root: Path, path: str) -> bool:
    """Whether the project has settings for a linter, so that its style findings count."""
    return bool(linter.configs) or _above(root, path, linter.adopted) is not None


def _above(root: Path, path: str, names: tuple[str, ...]) -> str | None:
    """The nearest folder, relative to the root, at or above a file that has a file of one of these names."""
    folder = (root / os.fsdecode(encode(path))).parent
    while folder.is_relative_to(root):
        if any((folder / name).is_file() for name in names):
            return "" if folder == root else folder.relative_to(root).as_posix()
        folder = folder.parent
    return None


def by_folder(linter: Linter, root: Path, paths: Iterable[str]) -> dict[str, list[str]]:
    """The files that a linter looks at, by the folder that it runs in."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        folder = folder_of(linter, root, path)
        if folder is not None:
            groups[folder].append(path)
    return dict(groups)
