"""Runs our rules with semgrep's engine, offline and in one call, over copies of the changed files.

The engine is `semgrep-core` of the installed semgrep package; under the name `osemgrep` it is the whole command line.
It scans a temporary folder that holds nothing but the files asked for, so no ignore file, git state or configuration
of the user's repository (or home) has a say.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.errors import MissingRequirement
from swarmgate.gates.sast import prefilter
from swarmgate.gates.sast import rules as pack
from swarmgate.gates.sast.hit import Hit, Scanned
from swarmgate.gates.tools.run import Broken, excerpt, invoke
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from swarmgate.gates.job import Job
    from swarmgate.gates.sast.temporary_copies import Copies
    from swarmgate.gates.source.file import SourceFile

_FLAGS = (
    "scan", "--experimental", "--metrics=off", "--disable-version-check", "--json", "--novcs", "--oss-only",
    "--no-rewrite-rule-ids", "--max-target-bytes=0", "--quiet", "--disable-nosem",
)  # fmt: skip
_RULE_S, _AGAIN_S = 5, 40
"""Seconds that a rule may take over a file, by the clock, which is all that the engine knows. In a file in which one
takes longer though it is small, it is asked again with more: the clock runs on while others have the processors."""
_FEW = 40
"""Up to so many files, one worker of the engine takes half the processor time that two take, and no longer."""
_FOUND_NOTHING_OR_SOMETHING = (0, 1)
_RULE_FAULTS = ("rule", "pattern", "config")
_SMALL_BYTES, _LONG_LINE = 20_000, 1_000
_PARTLY = ("PartialParsing", "Partial", "Timeout", "Fixpoint")


def program() -> Path:
    """The engine under the name that makes it a command line: a link in the user's cache folder.

    Raises:
        MissingRequirement: semgrep, or the engine in it, is not installed.
    """
    spec = find_spec("semgrep")
    binary = Path(spec.origin).parent / "bin" / "semgrep-core" if spec and spec.origin else None
    if binary is None or not binary.is_file():
        raise MissingRequirement("semgrep's engine is not installed", hint="pip install semgrep")
    link = cache_folder() / f"engine-{version('semgrep')}" / "osemgrep"
    if trusted.is_agents(str(link.parent)):
        raise MissingRequirement(
            f"semgrep's engine would be started from {link.parent}, which lies in a work tree",
            hint="let XDG_CACHE_HOME lead out of the repository",
        )
    if not (link.is_symlink() and link.readlink() == binary):
        link.parent.mkdir(parents=True, exist_ok=True)
        fresh = link.with_name(f"osemgrep.{os.getpid()}")
        with suppress(FileNotFoundError):
            fresh.unlink()
        fresh.symlink_to(binary)
        fresh.replace(link)
    return link


def cache_folder() -> Path:
    """The folder of compiled rules and of the engine's link."""
    from platformdirs import user_cache_path  # noqa: PLC0415 - late: only a scan needs it

    return user_cache_path("swarmgate") / "sast"


def loaded(sources: Iterable[SourceFile]) -> tuple[pack.Rule, ...]:
    """The rules for the languages of these files."""
    return pack.load_cached(frozenset(source.language for source in sources), cache_folder())


async def scan(
    job: Job,
    files: Copies,
    followed: Container[str] = (),
    only: Mapping[str, Container[str]] | None = None,
    *,
    rule_s: int = _RULE_S,
) -> Scanned:
    """Run the rules for the languages of these files over them.

    Args:
        job: its repository and time limit.
        files: the copies.
        followed: the paths whose flows our own interpreter follows: the rules for those are left out there.
        only: the rules that are asked of each path; by default all.
        rule_s: seconds that a rule may take over a file.
    """
    engine = str(program())  # that it is missing is told even where it has nothing to read
    ours = await asyncio.to_thread(loaded, files.names.values())
    places = await asyncio.to_thread(_places, ours, files, followed, only)
    concerned = {path for paths in places.values() for path in paths}
    if not concerned:
        return Scanned()
    wanted = {rule.id: rule for rule in ours if places[rule.id]}
    files = await asyncio.to_thread(_only, files, concerned)
    confined = (_confined(rule, places[rule.id], files) for rule in wanted.values())
    config = await asyncio.to_thread(pack.pack, confined, files.folder)
    jobs = ["--jobs=1"] if len(files.names) <= _FEW else []
    where = [f"--config={config}", f"--project-root={files.root}", str(files.root)]
    argv = [engine, *_FLAGS, f"--timeout={rule_s}", *jobs, *where]
    done = await invoke(job, [argv], exit_codes=_FOUND_NOTHING_OR_SOMETHING, env=_environment(files.folder), own=True)
    if isinstance(done, Broken):
        return Scanned(error=done.reason)
    scanned = _read(done[0].stdout, done[0].stderr, wanted, files)
    late = {path for path, why in scanned.unread.items() if why.startswith("Timeout")}
    if late and rule_s < _AGAIN_S:
        again = await scan(job, files.of_paths(late), followed, only, rule_s=_AGAIN_S)
        if not again.error:
            scanned.unread = {path: why for path, why in scanned.unread.items() if path not in late}
            scanned.take(again)
    return scanned


def _places(
    rules: tuple[pack.Rule, ...], files: Copies, followed: Container[str], only: Mapping[str, Container[str]] | None
) -> dict[str, set[str]]:
    """Rule id -> the paths of the files that the rule concerns."""
    found: dict[str, set[str]] = {rule.id: set() for rule in rules}
    for source in files.names.values():
        text = source.content.decode(errors="replace")
        words, path = prefilter.words_of(text), source.path
        for rule in rules:
            selected = not (rule.flow and path in followed) and (only is None or rule.id in only[path])
            if selected and rule.concerns(source.language, text, words):
                found[rule.id].add(path)
    return found


def _only(files: Copies, paths: Container[str]) -> Copies:
    """The copies of these files: what no rule concerns, the engine need not read."""
    return files if all(each.path in paths for each in files.names.values()) else files.of_paths(paths)


def _confined(rule: pack.Rule, paths: Container[str], files: Copies) -> pack.Rule:
    """The rule for the copies of these files only: following values through a file that takes none in costs most."""
    places = [name.partition("/")[0] for name, source in files.names.items() if source.path in paths]
    return replace(rule, raw={**rule.raw, "paths": {"include": [f"/{place}/**" for place in places]}})


def _environment(folder: Path) -> dict[str, str]:
    return {
        "SEMGREP_SETTINGS_FILE": str(folder / "settings.yml"),
        "SEMGREP_SEND_METRICS": "off",
        "SEMGREP_LOG_FILE": str(folder / "log"),
        "HOME": str(folder),
        "NO_COLOR": "1",
    }


def _read(output: str, errors: str, rules: Mapping[str, pack.Rule], files: Copies) -> Scanned:
    try:
        report = json.loads(output)
        scanned = Scanned(rules=frozenset(rules))
        scanned.hits = [_hit(each, rules, files) for each in report["results"]]
        for each in report["errors"]:
            _note(each, scanned, files)
        seen = {files.source(path).path for path in report["paths"]["scanned"]}
    except (ValueError, KeyError, TypeError) as error:
        return Scanned(error=f"semgrep's output is not understood ({error}): {excerpt(errors or output)}")
    spoken = frozenset().union(*(rule.languages for rule in rules.values()))
    for source in files.names.values():
        if source.language in spoken and source.path not in seen and source.path not in scanned.unread:
            scanned.unread[source.path] = "it was left out"
    return scanned


def _hit(result: dict[str, Any], rules: Mapping[str, pack.Rule], files: Copies) -> Hit:
    rule = rules[_rule_id(result["check_id"], rules)]
    return Hit(
        path=files.source(result["path"]).path,
        line=result["start"]["line"],
        column=result["start"]["col"],
        end_line=result["end"]["line"],
        end_column=result["end"]["col"],
        tool="swarmgate",
        code=rule.id,
        cwe=rule.cwe,
        severity=rule.severity,
        message=rule.message,
    )


def _rule_id(check_id: str, rules: Mapping[str, pack.Rule]) -> str:
    if check_id in rules:
        return check_id
    # The engine may put the folder of a rule file before the rule's id.
    return next(rule for rule in rules if check_id.endswith(f".{rule}"))


def _contrived(source: SourceFile) -> bool:
    """Whether a file in which the engine ran out of time is none that people write: small, or with endless lines."""
    return len(source.content) < _SMALL_BYTES or max(map(len, source.content.split(b"\n"))) > _LONG_LINE


def _note(error: dict[str, Any], scanned: Scanned, files: Copies) -> None:
    kind = error["type"] if isinstance(error["type"], str) else str(error["type"][0])
    message = excerpt(str(error.get("message") or "").replace(f"{files.root}/", ""), 200)
    try:
        path = files.source(error.get("path") or "").path
    except KeyError:
        path = ""
    if not path or any(word in kind.lower() for word in _RULE_FAULTS):
        scanned.error = scanned.error or f"semgrep: {kind}: {message}"
    elif kind.startswith(_PARTLY) and not (kind.startswith("Timeout") and _contrived(files.source(error["path"]))):
        scanned.partly[path] = f"semgrep read {path} only in part ({kind})"
    else:
        scanned.unread[path] = f"{kind}: {message}"
