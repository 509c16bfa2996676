"""Our rules, run by semgrep's own engine over copies of the files: offline, in one call, about 0.2 s for a file.

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
from swarmgate.gates.sast import rules as pack
from swarmgate.gates.sast.hit import Hit, Scanned
from swarmgate.gates.tool import Broken, excerpt, invoke
from swarmgate.workspace import trusted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from swarmgate.gates.job import Job
    from swarmgate.gates.sast.copies import Copies
    from swarmgate.gates.source.file import SourceFile

_FLAGS = (
    "scan", "--experimental", "--metrics=off", "--disable-version-check", "--json", "--novcs", "--oss-only",
    "--no-rewrite-rule-ids", "--max-target-bytes=0", "--timeout=5", "--quiet", "--disable-nosem",
)  # fmt: skip
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
    """Where compiled rules and the engine's link stand."""
    from platformdirs import user_cache_path  # noqa: PLC0415 - late: only a scan needs it

    return user_cache_path("swarmgate") / "sast"


def loaded(sources: Iterable[SourceFile]) -> tuple[pack.Rule, ...]:
    """The rules for the languages of these files."""
    return pack.load_cached(frozenset(source.language for source in sources), cache_folder())


async def scan(job: Job, files: Copies, followed: Container[str] = ()) -> Scanned:
    """Run every rule for the languages of these files over them.

    Args:
        job: its repository and time limit.
        files: the copies.
        followed: the paths whose flows our own interpreter follows: the rules for those are left out there.
    """
    return (await scan_all(job, [(files, followed)]))[0]


async def scan_all(job: Job, sets: Sequence[tuple[Copies, Container[str]]]) -> list[Scanned]:
    """The same for several sets of files in one folder, as `Copies.beside` makes them, in one call: what of each."""
    every = {name: source for files, _ in sets for name, source in files.names.items()}
    ours = await asyncio.to_thread(loaded, every.values())
    places = [_places(ours, files, followed) for files, followed in sets]
    wanted = [{rule.id: rule for rule in ours if found[rule.id]} for found in places]
    rules = [rule for rule in ours if any(rule.id in each for each in wanted)]
    if not rules:
        return [Scanned() for _ in sets]
    first = sets[0][0]
    folders = {rule.id: [place for found in places for place in found[rule.id]] for rule in rules}
    config = await asyncio.to_thread(pack.pack, (_confined(rule, folders[rule.id]) for rule in rules), first.folder)
    jobs = ["--jobs=1"] if len(every) <= _FEW else []
    argv = [str(program()), *_FLAGS, *jobs, f"--config={config}", f"--project-root={first.root}", str(first.root)]
    done = await invoke(job, [argv], exit_codes=_FOUND_NOTHING_OR_SOMETHING, env=_environment(first.folder), own=True)
    if isinstance(done, Broken):
        return [Scanned(error=done.reason) for _ in sets]
    whole = replace(first, names=every)
    return [
        _read(done[0].stdout, done[0].stderr, mine, files, whole) if mine else Scanned()
        for (files, _), mine in zip(sets, wanted, strict=True)
    ]


def _places(rules: tuple[pack.Rule, ...], files: Copies, followed: Container[str]) -> dict[str, list[str]]:
    """Rule id -> the folders of the copies that the rule concerns."""
    texts = {
        name.partition("/")[0]: (source.language, source.content.decode(errors="replace"), source.path in followed)
        for name, source in files.names.items()
    }
    return {
        rule.id: [
            place
            for place, (language, text, done) in texts.items()
            if not (done and rule.flow) and rule.concerns(language, text)
        ]
        for rule in rules
    }


def _confined(rule: pack.Rule, places: list[str]) -> pack.Rule:
    """The rule for these copies only: following values through a file that takes none in costs most of a run."""
    if rule.needs is None and rule.flow is None:
        return rule
    return replace(rule, raw={**rule.raw, "paths": {"include": [f"/{place}/**" for place in places]}})


def _environment(folder: Path) -> dict[str, str]:
    return {
        "SEMGREP_SETTINGS_FILE": str(folder / "settings.yml"),
        "SEMGREP_SEND_METRICS": "off",
        "SEMGREP_LOG_FILE": str(folder / "log"),
        "HOME": str(folder),
        "NO_COLOR": "1",
    }


def _read(output: str, errors: str, rules: Mapping[str, pack.Rule], files: Copies, whole: Copies) -> Scanned:
    """What the engine says of some of the files that it was asked for, which are `whole`."""
    try:
        said = json.loads(output)
        scanned = Scanned(rules=frozenset(rules))
        scanned.hits = [_hit(each, rules, files) for each in said["results"] if _is_of(files, whole, each["path"])]
        for each in said["errors"]:
            if not each.get("path") or each["path"] not in whole or each["path"] in files:
                _note(each, scanned, files)
        seen = {files.source(path).path for path in said["paths"]["scanned"] if _is_of(files, whole, path)}
    except (ValueError, KeyError, TypeError) as error:
        return Scanned(error=f"semgrep's output is not understood ({error}): {excerpt(errors or output)}")
    spoken = frozenset().union(*(rule.languages for rule in rules.values()))
    for source in files.names.values():
        if source.language in spoken and source.path not in seen and source.path not in scanned.unread:
            scanned.unread[source.path] = "it was left out"
    return scanned


def _is_of(files: Copies, whole: Copies, path: str) -> bool:
    """Whether a path is one of `files`.

    Raises:
        KeyError: it is none of `whole` either.
    """
    return whole.source(path) is not None and path in files


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
        note = f"semgrep read {path} only in part ({kind})"
        if note not in scanned.notes:
            scanned.notes.append(note)
    else:
        scanned.unread[path] = f"{kind}: {message}"
