"""Reports lint, type check and test settings that a change loosens although its task does not ask for it.

The linters and type checkers of a project read their settings from the tree that they judge, and `.gitattributes` hold
from the next revision on: who may change both code and settings could silence what the code would be told. What a
setting does is told by its key, in TOML, JSON and INI; of settings that are code, each edit counts.
"""

from __future__ import annotations

import configparser
import json
import re
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.project.files import Trait, traits_of
from swarmgate.workspace.files.globs import matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from swarmgate.domain.review.change import ChangedFile, ChangeSet
    from swarmgate.workspace.git.repository import Repository

    Flat = Mapping[str, frozenset[str]]

RULE = "loosened-settings"

_TOOLS = {
    "ruff": ("ruff.toml", ".ruff.toml"),
    "flake8": (".flake8",),
    "pylint": (".pylintrc", "pylintrc"),
    "mypy": ("mypy.ini", ".mypy.ini"),
    "pyright": ("pyrightconfig.json",),
    "ty": ("ty.toml",),
    "eslint": (".eslintrc*", "eslint.config.*", ".eslintignore"),
    "biome": ("biome.{json,jsonc}", ".biome.{json,jsonc}"),
    "tsconfig": ("tsconfig*.json", "jsconfig*.json"),
    "golangci": (".golangci.{yml,yaml,toml}",),
    "clippy": ("clippy.toml", ".clippy.toml"),
    "shellcheck": (".shellcheckrc",),
}
"""The files of one tool alone, by the name that a task would call it by."""

_SHARED = {
    "pyproject.toml": ("ruff", "mypy", "pyright", "ty", "pylint", "flake8"),
    "setup.cfg": ("flake8", "mypy", "pylint"),
    "tox.ini": ("flake8", "mypy", "pylint"),
    "package.json": ("eslint",),
    "cargo.toml": ("lints", "workspace.lints"),
}
"""Files, in lower case, in which several tools have their sections."""

_ATTRIBUTES = ".gitattributes"
_EXEMPTING = re.compile(r"(?:^|\s)linguist-(?:generated|vendored|documentation)(?:=(?!false\b)\S+)?(?=\s|$)")
_SILENCES = re.compile(r"ignor|exclu|skip(?!lib)|disabl|omit|suppress|per[-_]file", re.IGNORECASE)
_HARMLESS = re.compile(r"ignore[-_]missing[-_]imports|gitignore|ignore_?unknown", re.IGNORECASE)
_SELECTS = re.compile(r"(?:^|[.-])(?:select|includes?|enable\w*|plugins|extends)$", re.IGNORECASE)
_ENFORCES = re.compile(
    r"strict|disallow|warn|check|enabled|recommended|no_?(?:implicit|unused|fallthrough|unchecked|property)",
    re.IGNORECASE,
)
_RULES = re.compile(r"(?:^|\.)(?:rules|lints)\.")
"""A rule by itself, which holds where nothing is said of it."""

_OFF = frozenset({"false", "off", "0", "none", "no", "allow", ""})
_SETTING_UP = re.compile(
    r"\b(?:configur|setting|set(?:s|ting)? up|setup|rule|ignor|exclu|disabl|relax|loosen|adopt|migrat|introduc|upgrad"
    r"|switch)"
)
_APART = frozenset({Trait.TEST, Trait.DOC, Trait.VENDORED, Trait.GENERATED})
_NOTHING = frozenset[str]()
_NAMED = 4


def found(repository: Repository, change: ChangeSet, announced: str) -> Iterator[Finding]:
    """A finding for each settings file that the change loosens without being asked to.

    Args:
        repository: holds both sides.
        change: what is judged.
        announced: the words of the task: a sentence about setting up the tool, or the file's name, allows it.
    """
    task = announced.lower()
    sides = [side for file in change.files for side in _sides(file) if _judges(side[0] or side[1], task)]
    if not sides:
        return
    before = repository.read_many(change.base, [old for old, _ in sides if old])
    after = repository.read_many(change.tree, [new for _, new in sides if new])
    for old, new in sides:
        path = new or old
        loose = loosened(path, before.get(old, b""), after.get(new, b""), task)
        if loose:
            more = f" and {len(loose) - _NAMED} more" if len(loose) > _NAMED else ""
            text = f"the change judges less, and its task does not ask for that: {', '.join(loose[:_NAMED])}{more}"
            yield Finding(rule=RULE, path=path, severity=Severity.HIGH, message=text, suggestion=_MEND)


def _sides(file: ChangedFile) -> list[tuple[str, str]]:
    """The file before and now, empty where it is not there: one that moved is gone in one place and new in another."""
    if file.old_path and file.old_path != file.path:
        return [(file.old_path, ""), ("", file.path)]
    return [(file.path if file.old_mode else "", file.path if file.exists else "")]


_MEND = "mend what the tool complains of; settings of judges are changed by a task that says so, or by the user"


def _judges(path: str, task: str) -> bool:
    """Whether a file holds settings of which the task does not speak; of a shared one, any."""
    name = path.rsplit("/", 1)[-1].lower()
    if name == _ATTRIBUTES or name in _SHARED:
        return name in _SHARED or not _word(name, task)
    tool = next((tool for tool, globs in _TOOLS.items() if any(matches(name, glob) for glob in globs)), "")
    return bool(tool) and not _meant(tool, task) and not _word(name, task)


def _meant(tool: str, task: str) -> bool:
    """Whether a sentence is about how a tool is set up; that it shall pass says nothing of the kind."""
    return any(_word(tool, sentence) and _SETTING_UP.search(sentence) for sentence in re.split(r"[.;!?]\s|\n", task))


def _word(word: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w.-]){re.escape(word.lower())}(?![\w-])", text))


def loosened(path: str, old: bytes, new: bytes, task: str = "") -> list[str]:
    """The keys of the settings that were loosened; a file that cannot be parsed is named whole.

    Args:
        path: the file.
        old: its content before; empty where there was none.
        new: its content now; empty where it is gone.
        task: the words of the task, in lower case: in a file of several tools, sections of those named count for none.
    """
    name = path.rsplit("/", 1)[-1].lower()
    if name == _ATTRIBUTES:
        return _exempted(old.decode("utf-8", "replace"), new.decode("utf-8", "replace"))
    if name.endswith("ignore"):
        return sorted(_lines(new) - _lines(old))
    was, now = read(name, old), read(name, new)
    if was is None or now is None:
        return [name] if old != new else []
    keys = was.keys() | now.keys()
    if name in _SHARED:
        sections = [each for each in _SHARED[name] if not _meant(each, task)]
        keys = {key for key in keys if any(_of_tool(each, key) for each in sections)}
    return [key for key in sorted(keys) if _looser(key, was.get(key, _NOTHING), now.get(key, _NOTHING))]


def adopted(repository: Repository, change: ChangeSet) -> frozenset[str]:
    """The tools whose settings the change adds or tightens: findings of their new rules are old."""
    named = [(tool, file) for file in change.files if file.exists for tool in _settled(file.path)]
    if not named:
        return frozenset()
    before = repository.read_many(change.base, [file.old_path or file.path for _, file in named if file.old_mode])
    after = repository.read_many(change.tree, [file.path for _, file in named])
    return frozenset(
        tool
        for tool, file in named
        if _adopts(tool, file.path, before.get(file.old_path or file.path, b""), after.get(file.path, b""))
    )


def _settled(path: str) -> tuple[str, ...]:
    """The tools whose settings a file of that name may hold."""
    name = path.rsplit("/", 1)[-1].lower()
    own = (tool for tool, globs in _TOOLS.items() if any(matches(name, glob) for glob in globs))
    return _SHARED.get(name) or tuple(own)


def _adopts(tool: str, path: str, old: bytes, new: bytes) -> bool:
    """Whether a file asks more of a tool's judgement than it did, or for the first time, and nowhere less."""
    name = path.rsplit("/", 1)[-1].lower()
    was, now = read(name, old), read(name, new)
    if was is None or now is None:
        return not old and bool(new) and not name.endswith("ignore")
    keys = {key for key in was.keys() | now.keys() if name not in _SHARED or _of_tool(tool, key)}
    pairs = [(key, was.get(key, _NOTHING), now.get(key, _NOTHING)) for key in sorted(keys)]
    strict = any(pair[0].endswith("strict") and _tighter(*pair) for pair in pairs)
    looser = any(_looser(*pair) for pair in pairs) and not strict  # mypy's `strict` stands for many keys
    return not looser and any(_tighter(*pair) for pair in pairs)


def _of_tool(tool: str, key: str) -> bool:
    """Whether a key of a file of several tools is one of that tool's."""
    return bool(re.match(rf"(?:tool[.:])?{tool}(?![a-z])", key))


def _tighter(key: str, old: frozenset[str], new: frozenset[str]) -> bool:
    """Whether a key judges more with its new values than with the old ones."""
    more, less = new - old, old - new
    if _HARMLESS.search(key) or not (more or less):
        return False
    if _SILENCES.search(key):
        return bool(less) and not more
    if _SELECTS.search(key):
        return bool(more) and not less
    if _RULES.search(key) or _ENFORCES.search(key):
        return not _is_off(new) and _is_off(old)
    return False


def _looser(key: str, old: frozenset[str], new: frozenset[str]) -> bool:
    """Whether a key judges less with its new values than with the old ones."""
    more, less = new - old, old - new
    if not (more or less) or _HARMLESS.search(key):
        return False
    if _SILENCES.search(key):
        return any(each.lower() not in _OFF and not _is_apart(key, each) for each in more)
    if _SELECTS.search(key):
        fewer = key.endswith("select") and "extend" not in key and not old and not _selects_errors(new)
        return bool(less) or fewer or any(each.startswith("!") and not _is_apart("", each[1:]) for each in more)
    is_off, was_off = _is_off(new), bool(old) and _is_off(old)
    if _RULES.search(key):
        return bool(new) and is_off and not was_off
    return bool(_ENFORCES.search(key)) and bool(old) and not was_off and (not new or is_off)


def _is_off(values: frozenset[str]) -> bool:
    return not values or bool({each.lower() for each in values} & _OFF)


def _selects_errors(rules: frozenset[str]) -> bool:
    """Whether a selection of ruff's rules holds those that are mistakes and no style."""
    return bool(rules & {"ALL", "F"})


def _is_apart(key: str, value: str) -> bool:
    """Whether what is exempted is no code of the product: tests, what is built or vendored; by one plain path."""
    place = (_SILENCES.split(key)[-1].partition(".")[2] if key else "") or value  # a pattern is a key of its own
    plain = re.fullmatch(r"\^?(?:\*\*/|\./|/)*([\w.*-]+(?:/[\w.*-]+)*)/?\$?", place)
    return (
        plain is not None
        and ".." not in place
        and bool((traits_of(f"{plain[1].rstrip('*')}/x") | traits_of(plain[1])) & _APART)
    )


def _exempted(old: str, new: str) -> list[str]:
    """The lines that newly declare code as vendored, generated or documentation."""
    known = {line.strip() for line in old.split("\n")}
    fresh = (line.strip() for line in new.split("\n"))
    return [line for line in fresh if line not in known and not line.startswith("#") and _EXEMPTING.search(line)]


def _lines(content: bytes) -> set[str]:
    lines = (line.strip() for line in content.decode("utf-8", "replace").split("\n"))
    return {line for line in lines if line and not line.startswith(("#", "!")) and not _is_apart("", line)}


def read(name: str, content: bytes) -> Flat | None:
    """Parse a settings file into sets of values by key; None where the format is not known."""
    text = content.decode("utf-8-sig", "replace")
    try:
        if name.endswith(".toml"):
            return dict(_flat(toml_text.loads(text)))
        if name.endswith((".json", ".jsonc")) or name == ".eslintrc":
            return dict(_flat(json.loads(_plain_json(text) or "{}")))
        if name.endswith((".cfg", ".ini")) or name in {".flake8", ".pylintrc", "pylintrc", ".coveragerc"}:
            return dict(_flat(_ini(text)))
    except (ValueError, RecursionError, configparser.Error):
        return None
    return None


def _plain_json(text: str) -> str:
    """JSON without comments and without commas before a bracket."""
    bare = re.sub(r'("(?:\\.|[^"\\\n])*+")|//[^\n]*|/\*[\s\S]*?\*/', lambda match: match[1] or " ", text)
    return re.sub(r",(?=\s*[}\]])", "", bare).strip()


def _ini(text: str) -> dict[str, dict[str, list[str]]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {
        section: {
            key: [part for part in re.split(r"[,\s]+", value or "") if part] for key, value in parser[section].items()
        }
        for section in parser.sections()
    }


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and all(isinstance(each, dict) for each in value) and value:
        for number, each in enumerate(value):  # mypy's overrides are known by their modules
            yield from _flat(each, f"{prefix}.{each.get('module', number)}")
    elif isinstance(value, list):
        yield prefix, frozenset(json.dumps(each) if isinstance(each, dict | list) else _scalar(each) for each in value)
    else:
        yield prefix, frozenset({_scalar(value)})


def _scalar(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
