"""Detects which builds and type checks a project has, and how each is called.

Every tool's cache lies in a folder that whoever runs it names (`CACHE`); what a tool must write beside the sources is
named in `leaves`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from configparser import ConfigParser
from configparser import Error as IniError
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.gates.builds import output
from swarmgate.gates.tools import table
from swarmgate.workspace.files import regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from swarmgate.gates.builds.output import Reader

CACHE = "{cache}"
"""In a call or an environment variable: the folder that the tool keeps its cache in."""

TYPES = "types"
"""What a type checker checks."""

_TYPED = {
    "Python": ((".py", ".pyi"), {"mypy", "pyright", "ty"}),
    "TypeScript": ((".ts", ".tsx", ".mts", ".cts"), {"tsc"}),
}
"""Languages for which there are type checkers: how their files end, and the builds that check them."""


@dataclass(frozen=True, slots=True)
class Build:
    """One build: its program, command lines to run one after the other in `folder`, and how to read them.

    `why`: the file that asks for it. `leaves`: what it writes below `folder` although nobody asked for it. `absent`:
    a pattern in the output that says that what the tool needs is not on this machine; its group `what` names that.
    `confined` are variables for where the home is out of sight, in which the tool otherwise keeps its cache. `checks`:
    what it is about, by the names of the gate's definition.
    """

    name: str
    program: str
    why: str
    folder: str
    calls: tuple[tuple[str, ...], ...]
    read: Reader
    env: Mapping[str, str] = field(default_factory=dict)
    leaves: tuple[str, ...] = ()
    absent: str = ""
    partial: str = ""
    confined: Mapping[str, str] = field(default_factory=dict)
    checks: str = "build"


def detect(root: Path, changed: Iterable[str]) -> list[Build]:
    """The builds that the changed files call for, sorted by name and folder.

    Args:
        root: the work tree.
        changed: paths of the change, deleted ones included.
    """
    paths = sorted(set(changed))
    found: dict[tuple[str, str], Build] = {}
    for kind in _KINDS:
        for path in paths:
            place = PurePosixPath(path)
            if kind.suffixes and place.suffix.lower() not in kind.suffixes and place.name.lower() not in kind.names:
                continue
            marker = _marker(root, place.parent, kind)
            if marker is not None:
                for build in kind.make(root, marker, paths):
                    found.setdefault((build.name, build.folder + build.why), build)
    return [found[key] for key in sorted(found)]


def untyped(changed: Iterable[str], builds: Iterable[Build]) -> list[str]:
    """The changed languages that could be type-checked but have no type checker configured.

    Args:
        changed: paths of the change; tests are often left out on purpose.
        builds: what the change calls for.
    """
    paths = [path for path in changed if not _is_test(path)]
    names = {build.name for build in builds}
    return [
        language
        for language, (suffixes, checkers) in _TYPED.items()
        if not checkers & names and any(path.endswith(suffixes) for path in paths)
    ]


def cache_folder(root: Path, *, confined: bool) -> Path:
    """The folder of a work tree's build caches, below the user's cache folder.

    What confined builds leave there, no other build may use: it may hold programs that agents wrote.
    """
    from platformdirs import user_cache_path  # noqa: PLC0415 - late: few changes come here

    kind = "confined" if confined else "build"
    return user_cache_path("swarmgate") / kind / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A sort of build: the files that call for it, what marks its folder, and what it makes of a marked folder."""

    suffixes: frozenset[str]
    names: frozenset[str]
    markers: tuple[str, ...]
    make: Callable[[Path, Path, list[str]], Iterator[Build]]
    topmost: bool = False


def _marker(root: Path, folder: PurePosixPath, kind: _Kind) -> Path | None:
    """The nearest marker at or above a folder; for a `topmost` kind, the highest."""
    best = None
    for each in (folder, *folder.parents):
        place = root / each
        here = next((path for pattern in kind.markers for path in sorted(_matching(place, pattern))), None)
        if here is not None:
            best = here
            if not kind.topmost:
                return best
    return best


def _matching(folder: Path, pattern: str) -> list[Path]:
    if "*" not in pattern:
        return [folder / pattern] if (folder / pattern).is_file() else []
    return list(folder.glob(pattern)) if folder.is_dir() else []


def _relative(root: Path, marker: Path) -> tuple[str, str]:
    """(folder, why) of a marker."""
    why = marker.relative_to(root)
    return "" if why.parent == Path() else why.parent.as_posix(), why.as_posix()


def _mypy(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:
    config = _mypy_config(marker)
    if config is None:
        return
    folder, why = _relative(root, marker)
    argv = ["mypy", "--cache-dir", f"{CACHE}/mypy", "--show-column-numbers", "--show-error-codes", "--no-pretty"]
    argv += ["--hide-error-context", "--no-color-output", "--no-error-summary"]
    python = next((path for name in (".venv", "venv") if (path := marker.parent / name / "bin/python").exists()), None)
    if python is not None and "python_executable" not in config:
        argv += ["--python-executable", str(python)]
    partial = ""
    if not {"files", "packages", "modules"} & set(config):
        # Nobody says what is checked: the changed files are, but for tests, which most projects leave out.
        files = [path for path in _below(changed, folder) if path.endswith((".py", ".pyi")) and not _is_test(path)]
        files = [path for path in files if (marker.parent / path).is_file()]
        # A module and its stub are one to mypy, which refuses both at once: the stub is what it tells others.
        files = [path for path in files if f"{path}i" not in files]
        if not files:
            return
        argv += ["--", *files]
        partial = "mypy looked at the changed files only: its configuration names none"
    yield Build("mypy", "mypy", why, folder, (tuple(argv),), output.mypy, partial=partial, checks=TYPES)


def _mypy_config(marker: Path) -> dict[str, Any] | None:
    if marker.suffix == ".toml":
        found = toml_text.table(_toml(marker), "tool").get("mypy")
        return found if isinstance(found, dict) else None
    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(regular.text(marker))
    except (OSError, UnicodeDecodeError, IniError):
        return {} if "mypy.ini" in marker.name else None  # broken: mypy itself shall say so
    return dict(parser["mypy"]) if parser.has_section("mypy") else None


def _pyright(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:  # noqa: ARG001 - one form
    if marker.name == "pyrightconfig.json" or "pyright" in toml_text.table(_toml(marker), "tool"):
        folder, why = _relative(root, marker)
        argv = ("pyright", "--outputjson")
        yield Build("pyright", "pyright", why, folder, (argv,), output.pyright, checks=TYPES)


def _ty(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:  # noqa: ARG001 - one form
    if marker.name == "ty.toml" or "ty" in toml_text.table(_toml(marker), "tool"):
        folder, why = _relative(root, marker)
        argv = ("ty", "check", "--output-format", "concise", "--color", "never")
        yield Build("ty", "ty", why, folder, (argv,), output.ty, checks=TYPES)


def _tsc(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:  # noqa: ARG001 - one form
    folder, why = _relative(root, marker)
    for project in _projects(marker):
        named = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
        cached = ("--incremental", "--tsBuildInfoFile", f"{CACHE}/tsc/{named}.tsbuildinfo")
        target = (
            project.relative_to(marker.parent).as_posix() if project.is_relative_to(marker.parent) else str(project)
        )
        call = ("tsc", "--noEmit", "--pretty", "false", "-p", target, *cached)
        missing = "" if target == marker.name else f" ({target})"
        yield Build("tsc", "tsc", why + missing, folder, (call,), output.tsc, checks=TYPES)


def _projects(marker: Path) -> list[Path]:
    """The configurations to check: where tsconfig.json only refers to others (`"files": []`), those."""
    try:
        text = re.sub(r"^\s*//[^\n]*|/\*.*?\*/", "", regular.text(marker), flags=re.MULTILINE | re.DOTALL)
        config = json.loads(re.sub(r",(\s*[}\]])", r"\1", text))
        references = [str(each["path"]) for each in config.get("references", ())]
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return [marker]  # tsc reads it better than we do
    if config.get("files") != [] or not references:
        return [marker]
    places = [(marker.parent / each) for each in references]
    return [Path(os.path.normpath(place / "tsconfig.json" if place.is_dir() else place)) for place in places]


def _go(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:  # noqa: ARG001 - one form
    folder, why = _relative(root, marker)
    # Without -o, a module of one command would leave its binary in the tree.
    calls = (("go", "build", "-o", os.devnull, "./..."), ("go", "vet", "./..."))
    yield Build(
        "go", "go", why, folder, calls, output.go,
        absent=r"no such host|connection refused|i/o timeout|network is unreachable|socket: permission denied",
        confined={"GOCACHE": f"{CACHE}/go"},
    )  # fmt: skip


def _cargo(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:  # noqa: ARG001 - one form
    folder, why = _relative(root, marker)
    locked = ("--locked",) if (marker.parent / "Cargo.lock").is_file() else ()
    clippy = _wants_clippy(marker) and table.program(root, folder, "cargo-clippy")
    verb = "clippy" if clippy else "check"
    call = ("cargo", verb, "--workspace", "--message-format", "json", "--quiet", *locked)
    yield Build(
        "cargo", "cargo", why, folder, (call,), output.cargo,
        # No network is needed: what is not here would cost seconds of attempts to download the index.
        {"CARGO_TARGET_DIR": f"{CACHE}/cargo", "CARGO_NET_OFFLINE": "true"},
        leaves=("Cargo.lock",),
        absent=r"rustup could not choose|no matching package named `(?P<what>[^`]+)`|using offline mode|--offline was"
        r"|failed to (?:download|get|fetch|query)|unable to update|not resolve host",
    )  # fmt: skip


def _wants_clippy(marker: Path) -> bool:
    """Whether the project configures clippy, which then also does what `cargo check` would."""
    if any((marker.parent / name).is_file() for name in ("clippy.toml", ".clippy.toml")):
        return True
    manifest = _toml(marker)
    tables = (manifest.get("lints", {}), manifest.get("workspace", {}).get("lints", {}))
    return any("clippy" in lints for lints in tables)


def _maven(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:  # noqa: ARG001 - one form
    folder, why = _relative(root, marker)
    call = ("mvn", "-q", "-o", "-B", "-Dstyle.color=never", "compile")
    modules = sorted(path.parent.relative_to(marker.parent).as_posix() for path in _poms(marker.parent))
    yield Build(
        "maven", "mvn", why, folder, (call,), output.maven,
        leaves=tuple("target" if module == "." else f"{module}/target" for module in modules),
        absent=r"(?:the artifact|Could not find artifact|Plugin) (?P<what>[\w.-]+:[\w.:-]*[\w-])"
        r"|in offline mode|has not been downloaded from it before|Could not (?:resolve|find artifact|transfer)",
    )  # fmt: skip


def _poms(folder: Path) -> Iterator[Path]:
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in {"target", "node_modules", "src"} and name[0] != "."]
        if "pom.xml" in files:
            yield Path(base) / "pom.xml"


def _dotnet(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:  # noqa: ARG001 - one form
    folder, why = _relative(root, marker)
    call = ("dotnet", "build", marker.name, "--nologo", "-v", "quiet", "--artifacts-path", f"{CACHE}/dotnet")
    env = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"}
    yield Build("dotnet", "dotnet", why, folder, (call,), output.dotnet, env, absent=r"error NU1301")


def _make(root: Path, marker: Path, changed: list[str]) -> Iterator[Build]:  # noqa: ARG001 - one form
    folder, why = _relative(root, marker)
    yield Build("make", "make", why, folder, (("make", "-n"),), output.make, {"LC_ALL": "C"})


def _below(changed: list[str], folder: str) -> list[str]:
    prefix = f"{folder}/" if folder else ""
    return [path.removeprefix(prefix) for path in changed if path.startswith(prefix)]


def _is_test(path: str) -> bool:
    from swarmgate.gates.project.files import Trait, traits_of  # noqa: PLC0415 - beside its one use

    return Trait.TEST in traits_of(path)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return toml_text.loads(regular.text(path))
    except (OSError, ValueError):
        return {}  # the syntax gate names it


_PYTHON = frozenset({".py", ".pyi"})
_PYTHON_NAMES = frozenset({"pyproject.toml", "setup.cfg", "mypy.ini", ".mypy.ini", "pyrightconfig.json", "ty.toml"})
_KINDS = (
    *(
        _Kind(_PYTHON, _PYTHON_NAMES, (name,), _mypy)
        for name in ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg")
    ),
    _Kind(_PYTHON, _PYTHON_NAMES, ("pyrightconfig.json",), _pyright),
    _Kind(_PYTHON, _PYTHON_NAMES, ("pyproject.toml",), _pyright),
    _Kind(_PYTHON, _PYTHON_NAMES, ("ty.toml",), _ty),
    _Kind(_PYTHON, _PYTHON_NAMES, ("pyproject.toml",), _ty),
    _Kind(
        frozenset({".ts", ".tsx", ".mts", ".cts"}), frozenset({"tsconfig.json", "package.json"}),
        ("tsconfig.json",), _tsc,
    ),
    _Kind(frozenset({".go"}), frozenset({"go.mod", "go.sum"}), ("go.mod",), _go),
    _Kind(frozenset({".rs"}), frozenset({"cargo.toml", "cargo.lock"}), ("Cargo.toml",), _cargo, topmost=True),
    _Kind(frozenset({".java", ".kt"}), frozenset({"pom.xml"}), ("pom.xml",), _maven, topmost=True),
    _Kind(
        frozenset({".cs", ".csproj", ".sln", ".slnx"}), frozenset({"directory.packages.props", "packages.lock.json"}),
        ("*.sln", "*.slnx", "*.csproj"), _dotnet, topmost=True,
    ),
    _Kind(
        frozenset({".mk", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}), frozenset({"makefile", "gnumakefile"}),
        ("GNUmakefile", "makefile", "Makefile"), _make,
    ),
)  # fmt: skip
