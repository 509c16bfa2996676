"""Finds changes of test runner settings, commands and hooks that let fewer tests run."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.gates import loosened_settings
from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.test_integrity import hooks
from swarmgate.gates.test_integrity.change import DATA
from swarmgate.gates.test_integrity.suites.model import Rule, Weakening

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from swarmgate.gates.test_integrity.change import Change, File

_SETTINGS = re.compile(
    r"(?:^|/)(?:pyproject\.toml|pytest\.(?:ini|toml)|\.pytest\.(?:ini|toml)|setup\.cfg|tox\.ini|package\.json|cargo\.toml"
    r"|\.mocharc(?:\.jsonc?)?|jest\.config\.json)$",
    re.IGNORECASE,
)
_LEAVES_OUT = re.compile(
    r"(?:pytest|ini_options).*(?:norecursedirs|collect_ignore)|jest.*(?:ignorepatterns|coverage(?!.*))|testpathignorepatterns"
    r"|modulepathignorepatterns|(?:^|\.)(?:ignore|exclude)$",
    re.IGNORECASE,
)
_CHOOSES = re.compile(
    r"(?:pytest|ini_options).*(?:testpaths|python_(?:files|classes|functions))|testmatch|testregex|(?:^|\.)spec$",
    re.IGNORECASE,
)
_OPTIONS = re.compile(r"(?:^|[.:])addopts$", re.IGNORECASE)
_FEWER = re.compile(
    r"^(?:--ignore(?:-glob)?(?:=|$)|--deselect|-k|-m$|-m=|--collect-only$|--co$|-p=?no:(?:python|unittest)|--testPathIgnorePatterns"
    r"|--exclude|--skip|--grep|--invert|--passWithNoTests|--lf$|--noconftest|--suppress-no-test-exit-code)"
)
_OFF = re.compile(r"(?:^|\.)(?:autotests|test|doctest|tests)$", re.IGNORECASE)
_RUNS = re.compile(
    r"\b(?:pytest|py\.test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|karma|jasmine|tap|cypress|playwright test"
    r"|(?:npm|yarn|pnpm|bun|deno)\s+(?:run\s+)?t(?:est)?\b|node\s+--test|go\s+test|cargo\s+(?:test|nextest)"
    r"|(?:mvnw?|gradlew?)\b.*\b(?:test|verify|check|build|package)|make\s+(?:check|test))\b"
)
_MASKED = re.compile(
    r"\|\|\s*(?:true\b|:(?=\s|$|[\"'])|exit 0|echo\b|/bin/true)|;\s*(?:true|exit 0)\b"
    r"|(?<![\w-])(?:-DskipTests|-Dmaven\.test\.skip|-Dmaven\.test\.failure\.ignore|--passWithNoTests)"
    r"|PYTHONOPTIMIZE=[12\"']|python3? -O"
)
_NARROWED = re.compile(
    r"(?<![\w-])(?:--ignore(?:-glob)?[= ]|--deselect[= ]|-k[= ]?[\"']?not |--skip[= ]|-skip[= ]|--exclude[= ]"
    r"|--testPathIgnorePatterns|--invert|-x test\b|--exclude-task test\b|--collect-only)"
)
_IGNORED = re.compile(r"(?:.*/)?(?:[Mm]akefile|tox\.ini|setup\.cfg):(?:\t|\s+|commands\s*=\s*)-\s*(?=\w)")
"""A command whose failure make and tox overlook."""

_COMMANDS = re.compile(
    r"(?:^|/)(?:makefile|justfile|package\.json|tox\.ini|setup\.cfg|noxfile\.py|jenkinsfile|\.travis\.yml|\.gitlab-ci\.yml|azure-pipelines\.yml"
    r"|appveyor\.yml|\.circleci/config\.yml|\.github/workflows/[^/]+\.ya?ml|[\w.-]*test[\w.-]*\.(?:sh|bash))$|(?:^|/)(?:scripts|bin|ci|\.ci)/[^/]*$",
    re.IGNORECASE,
)
_CI_OFF = re.compile(
    r"^\s*-?\s*(?:if:\s*(?:false|\$\{\{\s*false\s*\}\}|['\"]false['\"])|continue-on-error:\s*true|allow_failure:\s*true|when:\s*(?:manual|never))\s*$"
)
_CODE_SETTINGS = re.compile(
    r"(?:^|/)(?:jest|vitest|vite|karma|playwright|cypress|ava)\.config\.\w+$|(?:^|/)\.mocharc\.\w+$"
)
_CODE_OUT = re.compile(
    r"\b(?:testPathIgnorePatterns|testIgnore|passWithNoTests|allowOnly|testNamePattern|exclude|ignore|grep|invert|dangerouslyIgnoreUnhandledErrors)\b\s*[:=]"
)
_BUILD = re.compile(r"(?:^|/)(?:pom\.xml|build\.gradle(?:\.kts)?|\.cargo/config(?:\.toml)?)$")
_BUILD_OFF = re.compile(
    r"<(?:skipTests|maven\.test\.skip|skip|skipITs|testFailureIgnore|maven\.test\.failure\.ignore)>\s*true|<exclude>[^<]*Tests?\b|<excludedGroups>"
    r"|ignoreFailures\s*=?\s*(?:set\()?true|\bexclude\b.*[Tt]est|\bexcludeTags\b|tasks?\.(?:named\()?[\"']?test.*enabled\s*=\s*false|test\.enabled\s*=\s*false|^\s*runner\s*="
)
_SNAPSHOT = re.compile(r"\.(?:snap|ambr|golden|approved(?:\.\w+)?)$|(?:^|/)__snapshots__/|\.golden\.\w+$")


def found(change: Change) -> Iterator[Weakening]:
    """Changes that let a test runner run fewer tests, or hide failures."""
    for file in change.files:
        if file.old == file.new or Trait.VENDORED in traits_of(file.name):
            continue
        if _SETTINGS.search(file.path):
            yield from _settings(file, change.project.head.files)
        if _COMMANDS.search(file.name):
            yield from _commands(file, change)
        for place, pattern in ((_CODE_SETTINGS, _CODE_OUT), (_BUILD, _BUILD_OFF)):
            if place.search(file.path):
                yield from _lines(file, pattern, change.project.head.files)
        if _SNAPSHOT.search(file.name) and file.old and _removed(file):
            message = "an expected result on file was changed" if file.new else "an expected result on file is gone"
            yield Weakening(Rule.SNAPSHOT, file.name, 0, "", message)
        if file.new and language_of(file.path) in hooks.LANGUAGES and not DATA.search(file.path):
            yield from hooks.found(file)


def _settings(file: File, paths: Collection[str]) -> Iterator[Weakening]:
    name = file.path.rpartition("/")[2].lower()
    was, now = loosened_settings.read(name, file.old), loosened_settings.read(name, file.new)
    if was is None or now is None:
        return
    for key in sorted(was.keys() | now.keys()):
        if key.startswith("jest.") and not any(each.startswith("jest.") for each in now) and b"jest" not in file.new:
            continue  # the runner itself went; whether another one came is told of the command
        old, new = was.get(key, frozenset()), now.get(key, frozenset())
        less = _fewer(key, _existing(old, paths) if "testpaths" in key else old, new, file)
        less = less or _finds_none(key, old, new, paths)
        if less:
            line = _line_of(file, less)
            yield Weakening(Rule.SETTINGS, file.path, line, "", f"the test runner is told to run less: {key}: {less}")


def _existing(folders: frozenset[str], paths: Collection[str]) -> frozenset[str]:
    """Those of the folders that the project still has."""
    return frozenset(each for each in folders if any(path.startswith(each.strip("./")) for path in paths))


def _fewer(key: str, old: frozenset[str], new: frozenset[str], file: File) -> str:
    """What of a setting takes tests away; empty for nothing."""
    if _OPTIONS.search(key):
        fresh = _words(new) - _words(old)
        return next((each for each in sorted(fresh) if _FEWER.match(each)), "")
    runner = (
        "pytest" in key or "jest" in key.lower() or "mocha" in file.path or "pytest" in file.path or "jest" in file.path
    )
    if runner and _LEAVES_OUT.search(key):
        return next((each for each in sorted(new - old) if re.search(r"test|spec|\.py|\.[jt]s", each)), "")
    if _CHOOSES.search(key) and old:
        return ", ".join(sorted(old - new)) + " no more" if old - new and not _wider(old - new, new - old) else ""
    if _OFF.search(key) and "cargo" in file.path.lower() and new == {"false"} != old:
        return "false"
    return ""


def _finds_none(key: str, old: frozenset[str], new: frozenset[str], paths: Collection[str]) -> str:
    """The values of a new setting of pytest that none of the tests that are there fits."""
    name = key.rpartition(".")[2].rpartition(":")[2]
    if old or not new or name not in {"testpaths", "python_files"}:
        return ""
    values = sorted(_words(new))
    tests = [each for each in paths if re.search(r"(?:^|/)test_\w+\.py$|_test\.py$", each)]
    if name == "testpaths":
        runs = any(f"{each}/".startswith(f"{value.strip('./')}/") or value == "." for each in tests for value in values)
    else:
        runs = any(fnmatch.fnmatch(each.rpartition("/")[2], value) for each in tests for value in values)
    return f"{', '.join(values)}, where none of the tests is" if tests and not runs else ""


def _wider(removed: frozenset[str], added: frozenset[str]) -> bool:
    """Whether what came takes in what is gone: `tests` for `tests/unit`."""
    return all(any(each.startswith(other.rstrip("*/")) for other in added if other.rstrip("*/")) for each in removed)


def _words(values: frozenset[str]) -> set[str]:
    return {word for value in values for word in re.split(r"\s+", value)}


def _commands(file: File, change: Change) -> Iterator[Weakening]:
    lines = file.new.decode("utf-8", "replace").split("\n")
    fresh = _fresh(file)
    for number, line in enumerate(lines, 1):
        if line not in fresh or line.lstrip().startswith(("#", "//")):
            continue
        command = next((each[0] for each in (_MASKED.search(line), _NARROWED.search(line)) if each), "")
        if _IGNORED.match(f"{file.path}:{line}"):
            command = line
        if command and _RUNS.search(line) and file.old.count(command.encode()) < file.new.count(command.encode()):
            message = f"the command that runs the tests says less than before: `{command.strip()}`"
            yield Weakening(Rule.COMMAND, file.path, number, "", message)
        elif _CI_OFF.match(line) and _RUNS.search(_job(lines, number - 1)):
            message = f"a job that runs the tests is switched off, or may fail: `{line.strip(' -')}`"
            yield Weakening(Rule.COMMAND, file.path, number, "", message)
    if not _RUNS.search(_commands_of(file.old)) or _MAY_RUN.search(_commands_of(file.new)):
        return
    others = (each for each in change.files if each is not file and _COMMANDS.search(each.path))
    if not any(_RUNS.search(_commands_of(each.new)) and each.old != each.new for each in others):
        yield Weakening(Rule.COMMAND, file.name, 0, "", "the command that ran the tests is gone from this file")


_MAY_RUN = re.compile(
    rf"{_RUNS.pattern}|\b(?:npm|yarn|pnpm|bun|npx|node|make|just|nx|turbo|lerna|grunt|gulp|uses)\b(?! -e)"
    r"|\./|\.sh\b|test|check"
)


def _commands_of(content: bytes) -> str:
    """What a file runs: all of it, of `package.json` the script of that name."""
    plain = _plain(content)
    if '"scripts"' not in plain:
        return re.sub(r"(?m)^[\w.-]+:.*$", "", plain)
    script = re.search(r'"test"\s*:\s*"((?:\\.|[^"\\])*)"', plain)
    return script[1] if script else ""


def _plain(content: bytes) -> str:
    return "\n".join(
        line for line in content.decode("utf-8", "replace").split("\n") if not line.lstrip().startswith("#")
    )


def _job(lines: list[str], index: int) -> str:
    """The job of a line: what stands around it below the same key of the third level at most."""
    margin = 2
    first = index
    while first > 0 and not re.match(rf" {{0,{margin}}}[\w\"'-]", lines[first]):
        first -= 1
    last = index + 1
    while last < len(lines) and not re.match(rf" {{0,{margin}}}[\w\"'-]", lines[last]):
        last += 1
    return "\n".join(lines[first:last])


def _lines(file: File, pattern: re.Pattern[str], paths: Collection[str]) -> Iterator[Weakening]:
    fresh = _fresh(file)
    for number, line in enumerate(file.new.decode("utf-8", "replace").split("\n"), 1):
        if (
            line in fresh
            and (match := pattern.search(line))
            and (file.old or any(each in paths for each in re.findall(r"[\w./-]+\.\w+", line)))
            and not line.lstrip().startswith(("//", "#", "*"))
        ):
            if match[0].startswith("<skip>") and not _RUNS_TESTS.search(_plugin(file, number)):
                continue
            message = f"the test runner is told to run less: `{match[0].strip()}`"
            yield Weakening(Rule.SETTINGS, file.path, number, "", message)


_RUNS_TESTS = re.compile(r"surefire|failsafe|^$")


def _plugin(file: File, number: int) -> str:
    """The plugin of Maven whose settings hold a line; empty for none."""
    above = b"\n".join(file.new.split(b"\n")[: number - 1]).decode("utf-8", "replace")
    opened = above.rpartition("<plugin>")[2] if above.rfind("<plugin>") > above.rfind("</plugin>") else ""
    found = re.search(r"<artifactId>\s*([\w.-]+)", opened)
    return found[1] if found else ""


def _fresh(file: File) -> Counter[str]:
    return Counter(file.new.decode("utf-8", "replace").split("\n")) - Counter(
        file.old.decode("utf-8", "replace").split("\n")
    )


def _removed(file: File) -> bool:
    old, new = Counter(file.old.split(b"\n")), Counter(file.new.split(b"\n"))
    return bool(+Counter({line: count for line, count in (old - new).items() if line.strip()}))


def _line_of(file: File, text: str) -> int:
    place = file.new.find(text.encode())
    return file.new.count(b"\n", 0, place) + 1 if place >= 0 else 0
