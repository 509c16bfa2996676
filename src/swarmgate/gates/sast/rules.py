"""Loads our rule pack from `gates/rules/sast/<language>/`, checks it and compiles it for the engine.

Rules are written in YAML (or JSON), in semgrep's own format with five additions, which are expanded here:

- `{use: NAME}` stands for a part of the folder's `_shared.yaml`: in a list for its entries, elsewhere for its value.
- `refused-if: CONDITION` in a list stands for what follows `if CONDITION:` where that branch leaves the function (a
  return, a raise or a last call such as `abort(404)`). Lines before the last one must stand before the `if`.
- `flow:` is the same rule for our own interpreter of Python (see `flows`), which is asked first: it knows more of a
  Python file than the engine's taint mode, and the engine judges the rule in the files that it cannot read.
- `needs: REGEX` is what a file must match for the rule to find anything in it, where no name of a pattern tells.
- A condition on a metavariable holds for those entries of a `pattern-either` beside it that bind the metavariable. (To
  the engine a condition on an unbound one is false.)

The engine drops what it does not understand in YAML (anchors) without a word, so it gets JSON only.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate import assets
from swarmgate.domain.review.finding import Severity
from swarmgate.errors import ConfigError
from swarmgate.gates.sast import prefilter
from swarmgate.gates.sast.flows import rule as flows
from swarmgate.workspace.files import atomic

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from swarmgate.gates.sast.flows.rule import Flow
    from swarmgate.gates.sast.prefilter import Need

SHARED = "_shared.yaml"

_SEVERITIES = {
    "CRITICAL": Severity.CRITICAL, "HIGH": Severity.HIGH, "ERROR": Severity.HIGH, "MEDIUM": Severity.MEDIUM,
    "WARNING": Severity.MEDIUM, "LOW": Severity.LOW, "INFO": Severity.LOW,
}  # fmt: skip
_EXITS = ("return ...", "raise ...", "$ABORT(...)")
_ENGINE_NAMES = {"js": "javascript", "ts": "typescript", "py": "python", "docker": "dockerfile", "sh": "bash"}
_CONDITIONS = {"metavariable-regex", "metavariable-comparison", "metavariable-pattern"}
_EVERY_FILE = {"generic", "regex", "none"}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its message and metadata, and `raw`, the engine's own form.

    `needs` is a regular expression that a file must match for the rule to find anything, `words` are what it must hold
    (see `prefilter`), `flow` is for Python's interpreter, `raw_flow` the same as it is written.
    """

    id: str
    languages: frozenset[str]
    severity: Severity
    message: str
    cwe: str
    owasp: str
    raw: dict[str, Any]
    needs: str = ""
    flow: Flow | None = None
    raw_flow: dict[str, Any] | None = None
    words: Need = ()

    def concerns(self, language: str, text: str, words: Container[str]) -> bool:
        """Whether the rule may match a file, by its language, text and words."""
        applies = language in self.languages or bool(self.languages & _EVERY_FILE)
        concerned = applies and prefilter.holds(self.words, words)
        return concerned and (not self.needs or re.search(self.needs, text) is not None)


FOLDERS = {
    "bash": {"bash"}, "c": {"c", "cpp"}, "csharp": {"csharp"}, "dockerfile": {"dockerfile"}, "github": {"yaml"},
    "go": {"go"}, "java": {"java"}, "javascript": {"javascript", "typescript"}, "php": {"php"}, "python": {"python"},
    "ruby": {"ruby"}, "rust": {"rust"},
}  # fmt: skip
"""The folders of rules and the languages that they speak of."""

LANGUAGES = frozenset[str]().union(*FOLDERS.values())
"""Every language that some rule speaks of."""


@functools.cache
def load() -> tuple[Rule, ...]:
    """Load every built-in rule.

    Raises:
        ConfigError: a file cannot be read, or a rule lacks a key; the message names file, rule and key.
    """
    return load_from(assets.gates() / "rules" / "sast")


@functools.cache
def load_cached(languages: frozenset[str], cache: Path) -> tuple[Rule, ...]:
    """Load the rules for some languages from `cache`, keyed by the hash of their files and of this module.

    Raises:
        ConfigError: see `load`.
    """
    found: tuple[Rule, ...] = ()
    for name, spoken in FOLDERS.items():
        if spoken & languages:
            found += _folder_cached(assets.gates() / "rules" / "sast" / name, cache)
    return found


def _folder_cached(folder: Path, cache: Path) -> tuple[Rule, ...]:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    place = cache / f"{folder.name}-{digest.hexdigest()[:24]}.json"
    try:
        cached = json.loads(place.read_bytes())
        return tuple(replace(_rule(raw, place), needs=needs) for raw, needs in cached)
    except (OSError, ValueError, TypeError):
        rules = _load_folder(folder)
    plain = [({**rule.raw, **({"flow": rule.raw_flow} if rule.raw_flow else {})}, rule.needs) for rule in rules]
    with suppress(OSError):  # a folder that cannot be written costs time only
        cache.mkdir(parents=True, exist_ok=True)
        atomic.replace(place, json.dumps(plain).encode(), durable=False)
    return rules


def load_from(root: Path) -> tuple[Rule, ...]:
    """Load the rules below a folder with one folder a language."""
    rules = tuple(rule for path in sorted(root.iterdir()) if path.is_dir() for rule in _load_folder(path))
    for rule, count in Counter(rule.id for rule in rules).items():
        if count > 1:
            raise ConfigError(f"{root}: the rule {rule} is there twice")
    return rules


def _load_folder(folder: Path) -> tuple[Rule, ...]:
    shared = _read(folder / SHARED) if (folder / SHARED).is_file() else {}
    rules = []
    for path in sorted(folder.iterdir()):
        if path.suffix in {".json", ".yaml"} and path.name != SHARED:
            raws = _read(path).get("rules", ())
            rules += [replace(_rule(_expand(raw, shared, path), path), needs=_needs(raw, shared)) for raw in raws]
    return tuple(rules)


def for_languages(rules: Iterable[Rule], languages: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that apply to files of these languages."""
    wanted = set(languages)
    return tuple(rule for rule in rules if rule.languages & wanted or rule.languages & _EVERY_FILE)


def pack(rules: Iterable[Rule], folder: Path) -> Path:
    """Write these rules for the engine to a JSON file in `folder`, named by its content."""
    data = json.dumps({"rules": [rule.raw for rule in rules]}, sort_keys=True).encode()
    place = folder / f"rules-{hashlib.sha256(data).hexdigest()[:24]}.json"
    if not place.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        atomic.replace(place, data, durable=False)
    return place


def _rule(raw: dict[str, Any], path: Path) -> Rule:
    try:
        metadata = raw["metadata"]
        flow = raw.get("flow")
        severity = _SEVERITIES[raw["severity"]]
        rule = Rule(
            id=raw["id"],
            languages=frozenset(_ENGINE_NAMES.get(name, name) for name in raw["languages"]),
            severity=Severity.LOW if metadata["confidence"] == "LOW" else severity,
            message=raw["message"],
            cwe=str(metadata["cwe"]),
            owasp=metadata["owasp"],
            raw={key: value for key, value in raw.items() if key not in {"flow", "needs"}},
            words=prefilter.need_of(raw),
            flow=flows.read(raw["id"], flow) if flow else None,
            raw_flow=flow,
        )
    except (KeyError, TypeError) as error:
        raise ConfigError(f"{path}: rule {raw.get('id', '?')}: key or value {error} is missing or wrong") from error
    if not re.fullmatch(r"CWE-\d+", rule.cwe):
        raise ConfigError(f"{path}: rule {rule.id}: metadata.cwe must look like CWE-89, not {rule.cwe!r}")
    return rule


def _expand(value: Any, shared: Mapping[str, Any], path: Path) -> Any:
    if isinstance(value, dict):
        if set(value) == {"use"}:
            return _expand(_part(value["use"], shared, path), shared, path)
        expanded = {key: _expand(each, shared, path) for key, each in value.items()}
        return {**expanded, "patterns": _distributed(expanded["patterns"])} if "patterns" in expanded else expanded
    if not isinstance(value, list):
        return value
    entries: list[Any] = []
    for each in value:
        whole = isinstance(each, dict) and len(each) == 1
        if whole and "use" in each:
            entries += _expand(_part(each["use"], shared, path), shared, path)
        elif whole and "refused-if" in each:
            entries += [{"pattern-inside": text} for text in _refusals(each["refused-if"])]
        else:
            entries.append(_expand(each, shared, path))
    return entries


def _distributed(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move each condition into the alternatives that bind its metavariable, where others do not bind it."""
    for condition in [each for each in entries if _CONDITIONS & set(each)]:
        variable = next(iter(condition.values()))["metavariable"]
        binding = [each for each in entries if set(each) & {"pattern", "pattern-inside", "patterns"}]
        partial = [
            each for each in entries if len({_binds(option, variable) for option in each.get("pattern-either", ())}) > 1
        ]
        if not partial or any(_binds(each, variable) for each in binding):
            continue
        entries = [each for each in entries if each is not condition]
        entries = [_conditional(each, condition, variable) if each in partial else each for each in entries]
    return entries


def _conditional(either: dict[str, Any], condition: dict[str, Any], variable: str) -> dict[str, Any]:
    every = either["pattern-either"]
    return {"pattern-either": [{"patterns": [one, condition]} if _binds(one, variable) else one for one in every]}


def _binds(entry: Any, variable: str) -> bool:
    return re.search(re.escape(variable) + r"\b", json.dumps(entry)) is not None


def _needs(raw: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    """What a file must match: as the rule says, or where every source of it is a shared part whose words are known."""
    if "needs" in raw:
        return str(raw["needs"])
    words = [shared.get("needs", {}).get(source.get("use")) for source in raw.get("pattern-sources", ())]
    return "|".join(words) if words and all(words) else ""


def _part(name: str, shared: Mapping[str, Any], path: Path) -> Any:
    if name not in shared:
        raise ConfigError(f"{path}: {SHARED} has no part {name!r}")
    return shared[name]


def _refusals(text: str) -> list[str]:
    *before, condition = text.rstrip("\n").split("\n")
    return ["\n".join([*before, f"if {condition}:", "    ...", f"    {leave}", "..."]) for leave in _EXITS]


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        loaded = json.loads(text) if path.suffix == ".json" else _yaml(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: the rules cannot be read: {error}") from error
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path}: the rules cannot be read: not a mapping")
    return loaded


def _yaml(text: str) -> Any:
    import yaml  # noqa: PLC0415 - late: 20 ms that `swarm --help` must not pay

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - both are safe loaders
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
