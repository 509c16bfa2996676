"""Detects the languages of a repository, the command that runs its tests, and which paths are tests."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from swarmgate.domain.base import Frozen
from swarmgate.workspace.files import globs
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

_LANGUAGES = {
    "python": (".py", ".pyi"),
    "javascript": (".js", ".jsx", ".mjs", ".cjs"),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "rust": (".rs",),
    "go": (".go",),
    "java": (".java",),
    "kotlin": (".kt", ".kts"),
    "ruby": (".rb",),
    "php": (".php",),
    "csharp": (".cs",),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".hpp"),
    "swift": (".swift",),
    "shell": (".sh", ".bash"),
}
_BY_SUFFIX = {suffix: language for language, suffixes in _LANGUAGES.items() for suffix in suffixes}

_COMMON_TESTS = ("test/**", "tests/**", "**/tests/**", "**/test/**")
_SCRIPT_TESTS = ("**/*.{test,spec}.{js,jsx,mjs,cjs,ts,tsx,mts,cts}", "**/__tests__/**")
_TESTS = {
    "python": ("**/test_*.py", "**/*_test.py", "**/conftest.py"),
    "javascript": _SCRIPT_TESTS,
    "typescript": _SCRIPT_TESTS,
    "rust": ("**/tests.rs", "**/*_test.rs"),
    "go": ("**/*_test.go", "**/testdata/**"),
    "java": ("**/src/test/**",),
    "kotlin": ("**/src/test/**",),
    "ruby": ("spec/**", "**/*_spec.rb", "**/*_test.rb"),
    "php": ("**/*Test.php",),
    "csharp": ("**/*Tests/**", "**/*{Test,Tests}.cs"),
}
_LOCKS = {
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "Cargo.toml": "cargo",
    "go.mod": "go",
    "pom.xml": "maven",
    "build.gradle": "gradle",
    "build.gradle.kts": "gradle",
    "Gemfile": "bundler",
    "composer.json": "composer",
}
_MANIFESTS = frozenset({"pyproject.toml", "setup.py", "package.json", "go.mod", "Cargo.toml"})
"""What makes a folder a package of a repository with several."""
_PYTEST_CONFIG = {
    "pytest.ini": r"\[pytest\]",
    "pyproject.toml": r"(?m)^\[tool\.pytest",
    "setup.cfg": r"(?m)^\[tool:pytest\]",
    "tox.ini": r"(?m)^\[pytest\]",
}
_CONFIG_BYTES = 1_000_000


class Detection(Frozen):
    """The detected properties: `languages` by number of files; `test_command`, `test_runner` empty when unknown."""

    languages: tuple[str, ...] = ()
    package_managers: tuple[str, ...] = ()
    test_command: str = ""
    test_runner: str = ""
    test_globs: tuple[str, ...] = _COMMON_TESTS


def detect(root: Path, files: Sequence[str]) -> Detection:
    """Look at the names of `files` (repository-relative) and at the few configuration files that say how to test."""
    suffixes = (PurePosixPath(path).suffix.lower() for path in files)
    counts = Counter(_BY_SUFFIX[suffix] for suffix in suffixes if suffix in _BY_SUFFIX)
    languages = tuple(sorted(counts, key=lambda language: (-counts[language], language)))
    there = _Files(root, files)
    runner, command = _test_command(there, languages)
    return Detection(
        languages=languages,
        package_managers=tuple(dict.fromkeys(name for lock, name in _LOCKS.items() if lock in there.top)),
        test_command=command,
        test_runner=runner,
        test_globs=_test_globs(languages),
    )


def packages(root: Path, files: Sequence[str]) -> dict[str, str]:
    """The folders with a manifest of their own below the top, and the command that tests each; no empty commands."""
    folders = {path.rpartition("/")[0] for path in files if "/" in path and path.rpartition("/")[2] in _MANIFESTS}
    found = {}
    for folder in sorted(folders):
        own = [path.removeprefix(f"{folder}/") for path in files if path.startswith(f"{folder}/")]
        if command := detect(root / folder, own).test_command:
            found[folder] = command
    return found


def _test_globs(languages: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*_COMMON_TESTS, *(glob for name in languages for glob in _TESTS.get(name, ()))]))


def is_test_path(path: str, patterns: Iterable[str]) -> bool:
    """Whether a repository-relative path is a test by these globs."""
    return any(globs.matches(path, pattern) for pattern in patterns)


class _Files:
    """The names of the repository's files, and the text of its configuration files."""

    def __init__(self, root: Path, files: Sequence[str]) -> None:
        self.root = root
        self.names = files
        self.top = frozenset(path for path in files if "/" not in path)

    def text(self, name: str) -> str:
        """A top-level file's text; empty when it is not there or cannot be read."""
        try:
            with (self.root / name).open("rb") as file:
                return file.read(_CONFIG_BYTES).decode(errors="replace") if name in self.top else ""
        except OSError:
            return ""

    def manifest(self) -> dict[str, Any]:
        """package.json; empty when it is not there or is not an object."""
        try:
            content = json.loads(self.text("package.json") or "{}")
        except (ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}


def _test_command(there: _Files, languages: tuple[str, ...]) -> tuple[str, str]:
    """Runner and command: of the language with most files first; a Makefile's target when nothing else is known."""
    known = sorted(_RUNNERS, key=lambda entry: min(_rank(languages, name) for name in entry[0]))
    for _, recognise in known:
        found = recognise(there)
        if found:
            return found
    return ("make", "make test") if re.search(r"(?m)^test\s*:(?!=)", there.text("Makefile")) else ("", "")


def _rank(languages: tuple[str, ...], name: str) -> int:
    return languages.index(name) if name in languages else len(languages)


def _python(there: _Files) -> tuple[str, str] | None:
    configured = any(re.search(pattern, there.text(name)) for name, pattern in _PYTEST_CONFIG.items())
    globs_ = ("**/test_*.py", "**/*_test.py", "**/conftest.py", "tests/**/*.py")
    if not configured and not any(is_test_path(path, globs_) for path in there.names):
        return None
    for interpreter in (".venv/bin/python", "venv/bin/python"):
        if (there.root / interpreter).exists():
            return "pytest", f"{interpreter} -m pytest -q"
    for lock, tool in (("uv.lock", "uv"), ("poetry.lock", "poetry")):
        if lock in there.top and trusted.located(tool, there.root):
            return "pytest", f"{tool} run pytest -q"
    return "pytest", f"{python_with_pytest(there.root)} -m pytest -q"


def python_with_pytest(root: Path) -> str:
    """`python3`, or where that one has no pytest the interpreter that runs swarmgate, which always has it."""
    found = trusted.find("python3", root)
    return "python3" if found and _has_pytest(found) else shlex.quote(sys.executable)


@cache
def _has_pytest(interpreter: str) -> bool:
    """Asked apart from the project: any module in the current folder would come before Python's own."""
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)"
    argv = [interpreter, "-I", "-c", probe]
    try:
        return not subprocess.run(argv, check=False, capture_output=True, timeout=10, cwd="/").returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def _script(there: _Files) -> tuple[str, str] | None:
    manifest = there.manifest()
    scripts = manifest.get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip() or "no test specified" in script:
        return None
    names = ("bun.lock", "bun.lockb", "pnpm-lock.yaml", "yarn.lock")
    tool = next((_LOCKS[name] for name in names if name in there.top), "npm")
    return script_runner(script) or tool, "bun run test" if tool == "bun" else f"{tool} test"


def script_runner(script: str) -> str:
    """The test framework that a package.json script calls; empty when it is none of the known ones."""
    if re.search(r"\bnode\b.*--test\b", script):
        return "node"
    return next((name for name in ("jest", "vitest", "mocha") if re.search(rf"\b{name}\b", script)), "")


def _rust(there: _Files) -> tuple[str, str] | None:
    return ("cargo", "cargo test") if "Cargo.toml" in there.top else None


def _go(there: _Files) -> tuple[str, str] | None:
    return ("go", "go test ./...") if {"go.mod", "go.work"} & there.top else None


def _jvm(there: _Files) -> tuple[str, str] | None:
    if "pom.xml" in there.top:
        return "maven", ("./mvnw" if "mvnw" in there.top else "mvn") + " -q test"
    if not {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"} & there.top:
        return None
    # cleanTest: gradle does not run tests again whose inputs are unchanged, and then there is nothing to count.
    return "gradle", ("./gradlew" if "gradlew" in there.top else "gradle") + " cleanTest test"


def _ruby(there: _Files) -> tuple[str, str] | None:
    if ".rspec" in there.top or any(path.startswith("spec/") and path.endswith("_spec.rb") for path in there.names):
        return "rspec", "bundle exec rspec" if "Gemfile" in there.top else "rspec"
    return ("minitest", "bundle exec rake test") if {"Gemfile", "Rakefile"} <= there.top else None


def _php(there: _Files) -> tuple[str, str] | None:
    if '"test"' in there.text("composer.json"):
        return "phpunit", "composer test"
    return ("phpunit", "vendor/bin/phpunit") if {"phpunit.xml", "phpunit.xml.dist"} & there.top else None


def _dotnet(there: _Files) -> tuple[str, str] | None:
    projects = any(path.endswith((".sln", ".slnx", ".csproj", ".fsproj")) for path in there.names)
    return ("dotnet", "dotnet test") if projects else None


_RUNNERS: tuple[tuple[tuple[str, ...], Callable[[_Files], tuple[str, str] | None]], ...] = (
    (("python",), _python),
    (("javascript", "typescript"), _script),
    (("rust",), _rust),
    (("go",), _go),
    (("java", "kotlin"), _jvm),
    (("ruby",), _ruby),
    (("php",), _php),
    (("csharp",), _dotnet),
)
