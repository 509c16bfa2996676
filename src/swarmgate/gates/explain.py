"""Explains a rule: looks up its text in our rule packs, in `gates/rules/explain.toml` or at the tool it comes from."""

from __future__ import annotations

import difflib
import functools
import json
import re
import shlex
import tomllib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from swarmgate import assets
from swarmgate.domain.base import Frozen
from swarmgate.errors import SwarmError, UsageError
from swarmgate.workspace.process.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from swarmgate.gates.definition import GateDefinition

_RUFF_RULE = re.compile(r"^[A-Z]{1,4}\d{1,4}$")
_BANDIT_RULE = re.compile(r"^B\d{3}$")
_SHORT = 8
"""Up to so many characters, a name may be meant as a number of ruff's."""

_ASKING_S = 20.0
_ACCEPT = "No remark in the code silences it. Accept it: swarm gates baseline --reason TEXT, and commit the file."
_NOQA = "`# noqa: RULE` on the line, or ruff's configuration. New suppressions are counted by quality_budget."


class Explained(Frozen):
    """The explanation of a rule. Texts are empty where nothing is known."""

    rule: str
    gates: tuple[str, ...] = ()
    title: str = ""
    severity: str = ""
    cwe: str = ""
    owasp: str = ""
    why: str = ""
    mend: str = ""
    suppress: str = ""
    example: str = ""


async def explain(rule: str, gates: Sequence[GateDefinition]) -> Explained:
    """Look up the explanation of a rule, or of a gate.

    Args:
        rule: the id as reports print it.
        gates: those that hold in the repository, the project's own among them.

    Raises:
        UsageError: nobody knows such a rule; the hint names the nearest.
    """
    found = _gate(rule, gates) or _own(rule) or _secret(rule) or _weakness(rule) or await _of_tools(rule)
    if found is None:
        near = await _nearest(rule, gates)
        hint = (
            f"Did you mean {', '.join(near)}?" if near else "swarm gates list names the gates; reports name the rules."
        )
        raise UsageError(f"no gate has a rule {rule!r}", hint=hint)
    return found


def _gate(name: str, gates: Sequence[GateDefinition]) -> Explained | None:
    gate = next((gate for gate in gates if gate.id == name), None)
    if gate is None:
        return None
    rules = ", ".join(_texts().get(name, {}).get("rules", {}))
    why = f"Its own rules: {rules}." if rules else _command(gate)
    accept = "Accept it: swarm gates baseline --reason TEXT." if gate.command else ""
    suppress = _texts().get(name, {}).get("suppress", accept)
    severity = f"blocks from {gate.severity} on"
    return Explained(rule=name, gates=(name,), title=gate.title, severity=severity, why=why, suppress=suppress)


def _command(gate: GateDefinition) -> str:
    """How a gate that is a command judges, from its definition; empty for a scanner of ours."""
    if not gate.command:
        return ""
    files = ", ".join((*gate.files.languages, *gate.files.include)) or "every changed file"
    read = f"its output is read as `{gate.parser}`" + (f" ({gate.pattern})" if gate.pattern else "")
    return f"{gate.source} runs `{shlex.join(gate.command)}`; {read}.\nFiles: {files}."


def _own(rule: str) -> Explained | None:
    """A rule of explain.toml: by its name, or else by the first pattern that fits."""
    for fits in (str.__eq__, fnmatchcase):
        for gate, texts in _texts().items():
            for name, text in texts.get("rules", {}).items():
                if fits(rule, name):
                    return _explained(rule, gate, text, texts.get("suppress", ""))
    return None


def _explained(rule: str, gate: str, text: Mapping[str, str], suppress: str) -> Explained:
    return Explained(
        rule=rule, gates=(gate,), title=text["means"], severity=text["severity"], cwe=text.get("cwe", ""),
        why=text["why"], mend=text["mend"], suppress=suppress, example=text.get("example", ""),
    )  # fmt: skip


@functools.cache
def _texts() -> dict[str, dict[str, Any]]:
    return tomllib.loads((assets.gates() / "rules" / "explain.toml").read_text(encoding="utf-8"))


@functools.cache
def _secrets() -> dict[str, dict[str, Any]]:
    raw = tomllib.loads((assets.gates() / "rules" / "secrets.toml").read_text(encoding="utf-8"))
    rules = {rule["id"]: {**rule, "severity": "critical"} for rule in raw.get("rule", ())}
    return rules | {rule["id"]: {**rule, "severity": "high"} for rule in raw.get("assignment", ())}


def _secret(rule: str) -> Explained | None:
    raw = _secrets().get(rule)
    if raw is None:
        return None
    return Explained(
        rule=rule, gates=("secret_scan",), title=raw["title"], severity=raw["severity"],
        cwe=raw.get("cwe", "CWE-798"), owasp="A07:2021",
        why="Whoever can read the repository, now or in its history, can use it.",
        mend="Take it out, read it from the environment or a secret store, and revoke it: the history keeps it.",
        suppress=_texts()["secret_scan"]["suppress"],
    )  # fmt: skip


def _weakness(rule: str) -> Explained | None:
    from swarmgate.gates.sast import rules  # noqa: PLC0415 - late: reads the whole pack

    found = [each for each in rules.load() if each.id == rule or each.id.endswith(f".{rule}")]
    if not found:
        return None
    first = found[0]
    what, _, fix = first.message.partition(". ")
    languages = ", ".join(sorted(first.languages))
    return Explained(
        rule=first.id, gates=("sast_scan",), title=f"{what} ({languages})", severity=first.severity.value,
        cwe=first.cwe, owasp=first.owasp, mend=fix, suppress=_ACCEPT,
    )  # fmt: skip


async def _of_tools(rule: str) -> Explained | None:
    if _BANDIT_RULE.match(rule):
        found = await _bandit(rule)
        if found:
            return found
    return await _ruff(rule) if _RUFF_RULE.match(rule) else None


async def _ruff(rule: str) -> Explained | None:
    from swarmgate.gates.lint import ruff  # noqa: PLC0415 - late: few ask

    output = await _output([ruff.program(), "rule", rule, "--output-format", "json"])
    if not output:
        return None
    raw = json.loads(output)
    text = re.split(r"^## ", raw.get("explanation") or "", flags=re.MULTILINE)
    parts = {part.partition("\n")[0].strip(): part.partition("\n")[2].strip() for part in text if part.strip()}
    security = rule.startswith("S") and rule[1:].isdigit()
    return Explained(
        rule=f"{rule} ({raw['name']}, {raw['linter']})",
        gates=("lint_check", "sast_scan") if security else ("lint_check",),
        title=parts.get("What it does") or raw.get("summary") or "",
        severity=_severity_of(rule, security=security),
        cwe=_cwe_of(f"B{rule[1:]}") if security else "",
        why=parts.get("Why is this bad?", ""),
        mend=parts.get("Use instead", "") or (_advice(rule) if security else "") or raw.get("fix") or "",
        suppress=_NOQA.replace("RULE", rule) + (f" In sast_scan: {_ACCEPT}" if security else ""),
        example=parts.get("Example", ""),
    )


def _severity_of(rule: str, *, security: bool) -> str:
    from swarmgate.gates.sast import bandit_tests  # noqa: PLC0415 - late: only some rules need it

    linted = "medium; high for what is an error when run"
    return f"sast_scan: {bandit_tests.told_severity(f'B{rule[1:]}')}; lint_check: medium" if security else linted


def _advice(rule: str) -> str:
    from swarmgate.gates.tools import advice  # noqa: PLC0415 - late: only some rules need it

    return advice.what_to_do(rule)


def _cwe_of(test: str) -> str:
    from swarmgate.gates.sast import bandit_tests  # noqa: PLC0415 - late: only some rules need it

    return bandit_tests.cwe_of(test)


async def _bandit(rule: str) -> Explained | None:
    from swarmgate.gates.sast import bandit_tests  # noqa: PLC0415 - late: bandit takes 0.15 s
    from swarmgate.gates.tools import advice  # noqa: PLC0415 - late: bandit takes 0.15 s

    text = _bandit_texts().get(rule)
    if text is None:
        return None
    name, document = text
    title, _, rest = document.removeprefix(f"{rule}: ").partition("\n")
    ruff = None if title and rest else await _ruff(f"S{rule[1:]}")  # bandit's package holds the text of some alone
    return Explained(
        rule=f"{rule} ({name}, bandit)", gates=("sast_scan",), cwe=bandit_tests.cwe_of(rule),
        title=title.strip() or (ruff.title if ruff else name.replace("_", " ")),
        severity=bandit_tests.told_severity(rule),
        why=rest.strip() or (ruff.why if ruff else ""), example=ruff.example if ruff else "",
        mend=f"{advice.what_to_do(rule)}\n{advice.address(rule)}".strip(), suppress=_ACCEPT,
    )  # fmt: skip


@functools.cache
def _bandit_texts() -> dict[str, tuple[str, str]]:
    """The tests of bandit by number: name, and what their documentation says."""
    from swarmgate.gates.source import python_tree  # noqa: PLC0415 - late: only some rules need it

    with python_tree.quiet():
        from bandit.core import extension_loader  # type: ignore[import-untyped]  # noqa: PLC0415 - no types; late

        manager = extension_loader.MANAGER
    found = {}
    for number, plugin in manager.plugins_by_id.items():
        found[number] = (plugin.name, _plain(plugin.plugin.__doc__ or ""))
    for entries in manager.blacklist.values():
        for entry in entries:
            message = entry["message"].replace("{name}", ", ".join(entry["qualnames"][:3]))
            found[entry["id"]] = (entry["name"], message)
    return found


def _plain(text: str) -> str:
    """A docstring without its markup: the paragraphs before its example."""
    lines = [line.strip() for line in text.strip().splitlines()]
    prose: list[str] = []
    for line in lines:
        if line.startswith((":Example:", ".. ", "**Config", ":param", "See also")):
            break
        if line and set(line) <= set("=-*~^"):
            continue
        prose.append(line)
    paragraphs = re.split(r"\n\s*\n", "\n".join(prose))
    body = [" ".join(part.split()) for part in paragraphs if part.strip()]
    return "\n".join(part.removeprefix("**").removesuffix("**") for part in body)


async def _output(argv: Sequence[str], cwd: Path | None = None) -> str:
    try:
        done = await run(argv, cwd=cwd or assets.gates(), timeout_s=_ASKING_S, output_limit=4_000_000)
    except SwarmError:
        return ""
    return done.stdout if done.ok else ""


async def _nearest(rule: str, gates: Sequence[GateDefinition]) -> list[str]:
    known = list(dict.fromkeys(_names(gates)))
    if len(rule) <= _SHORT:
        from swarmgate.gates.lint import ruff  # noqa: PLC0415 - late: only some rules need it

        output = await _output([ruff.program(), "rule", "--all", "--output-format", "json"])
        known += [each["code"] for each in json.loads(output or "[]") if each.get("code")]
    by_lower = {name.lower(): name for name in known}
    by_lower |= {name.rpartition(".")[2].lower(): name for name in known if "." in name}
    near = difflib.get_close_matches(rule.lower(), by_lower, n=3, cutoff=0.6)
    return list(dict.fromkeys(by_lower[name] for name in near))


def _names(gates: Sequence[GateDefinition]) -> Iterator[str]:
    from swarmgate.gates.sast import rules  # noqa: PLC0415 - late: only some rules need it

    yield from (gate.id for gate in gates)
    for texts in _texts().values():
        yield from (name for name in texts.get("rules", {}) if "*" not in name)
    yield from _secrets()
    yield from (each.id for each in rules.load())
