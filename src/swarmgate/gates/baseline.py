"""Reads and applies the baseline of accepted findings, `.swarm/gates/baseline.json`.

An entry names its finding by fingerprint, so it holds for that line in that file wherever the line moves, and for no
other. A secret's value never stands in the file. Entries whose day has come count no more, and the report says so.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from swarmgate.domain.base import Frozen, Line
from swarmgate.errors import ConfigError
from swarmgate.gates.secret_scan import redaction
from swarmgate.gates.source import comparison
from swarmgate.workspace.files import atomic, regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.source.file import SourceFile
    from swarmgate.workspace.git.repository import Repository

FILE = ".swarm/gates/baseline.json"

_VERSION = 1


class Accepted(Frozen):
    """One accepted finding.

    `line_hash`: the first 16 digits of the SHA-256 of the line without its white space, so that a reader can tell which
    line was meant; empty for secrets. `expires`: the first day on which it counts no more; None for never.
    """

    fingerprint: str
    gate: str
    rule: str
    path: str
    line_hash: str = ""
    reason: Line
    who: Line = ""
    date: dt.date
    expires: dt.date | None = None

    def expired(self, today: dt.date) -> bool:
        """Whether its expiry date has passed."""
        return self.expires is not None and self.expires <= today


def today() -> dt.date:
    """Today's date in UTC: the same on every machine that judges one commit."""
    return dt.datetime.now(dt.UTC).date()


def on_disk(root: Path) -> tuple[Accepted, ...]:
    """The baseline entries of the work tree; none where there is no file.

    Raises:
        ConfigError: it is not such a file.
    """
    try:
        return parse(regular.read(root / FILE))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ConfigError(f"{FILE} cannot be read: {error.strerror or error}") from error


def in_tree(repository: Repository, tree: str) -> tuple[Accepted, ...]:
    """The baseline entries of a revision.

    Raises:
        ConfigError: it is not such a file.
    """
    content = repository.read(tree, FILE)
    return () if content is None else parse(content)


def parse(content: bytes) -> tuple[Accepted, ...]:
    """Parse the content of a baseline file.

    Raises:
        ConfigError: it is none; the message names the key.
    """
    hint = "Mend it, or make it anew: swarm gates baseline --reason TEXT"
    try:
        raw: Any = json.loads(content)
        if raw["version"] != _VERSION:
            raise ConfigError(f"{FILE}: version {raw['version']} is not known here", hint="Install a newer swarmgate.")
        return tuple(Accepted.model_validate(entry) for entry in raw["accepted"])
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{FILE}: key '{key}': {first['msg']}", hint=hint) from error
    except RecursionError as error:
        raise ConfigError(f"{FILE} is not a baseline: nested too deeply", hint=hint) from error
    except ValueError as error:
        raise ConfigError(f"{FILE} is not a baseline, for it is no JSON: {error}", hint=hint) from error
    except (KeyError, TypeError, AttributeError) as error:
        message = f"{FILE} is not a baseline: it is no object with a `version` and a list `accepted`"
        raise ConfigError(message, hint=hint) from error


def write(root: Path, entries: Iterable[Accepted]) -> None:
    """Write the file, one entry after the other in a fixed order, so that a diff of it reads well.

    Raises:
        ConfigError: `.swarm` is a symbolic link: the file would lie outside of the repository.
    """
    if any((root / part).is_symlink() for part in (".swarm", ".swarm/gates")):
        raise ConfigError(f"{FILE} would lie behind a symbolic link", hint="Replace the link by a real folder.")
    ordered = sorted(entries, key=lambda each: (each.path, each.rule, each.fingerprint))
    rows = [each.model_dump(mode="json", exclude_defaults=True) for each in ordered]
    place = root / FILE
    place.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": _VERSION, "accepted": rows}, indent=2, ensure_ascii=True) + "\n"
    atomic.replace(place, text.encode())


def entry(finding: Finding, gate: str, line: str, *, reason: str, who: str, expires: dt.date | None) -> Accepted:
    """Make a baseline entry of a finding; `line` is the source line that it is reported on."""
    secret = redaction.about_a_secret(gate, finding)
    hashed = "" if secret else hashlib.sha256(" ".join(line.split()).encode(errors="replace")).hexdigest()[:16]
    return Accepted(
        fingerprint=finding.fingerprint, gate=gate, rule=finding.rule, path=finding.path, line_hash=hashed,
        reason=reason, who=who, date=today(), expires=expires,
    )  # fmt: skip


def mark(
    findings: Sequence[Finding], entries: Mapping[str, Accepted], sources: Mapping[str, SourceFile], day: dt.date
) -> tuple[list[Finding], int]:
    """Give each finding a fingerprint and accepted ones their reason; also count the expired entries.

    An entry also holds for a file under its old name.

    Args:
        findings: of one gate.
        entries: what is accepted, by fingerprint.
        sources: the judged files, by path.
        day: today.
    """
    known = with_fingerprints(findings, sources)
    if not entries:
        return known, 0
    marked, expired = [], 0
    earlier = _under_old_names(known, sources)
    for finding in known:
        found = entries.get(finding.fingerprint) or entries.get(earlier.get(finding.fingerprint, ""))
        if found and found.expired(day):
            expired += 1
        elif found:
            finding = finding.model_copy(update={"accepted": found.reason})  # noqa: PLW2901 - the same, accepted
        marked.append(finding)
    return marked, expired


def with_fingerprints(findings: Sequence[Finding], sources: Mapping[str, SourceFile]) -> list[Finding]:
    """Add fingerprints to findings of scanners that do not compute them."""
    bare = {finding.path for finding in findings if not finding.fingerprint}
    if not bare:
        return list(findings)
    done = [finding for finding in findings if finding.fingerprint]
    for path in sorted(bare):
        here = [finding for finding in findings if finding.path == path and not finding.fingerprint]
        done += comparison.fingerprint(sources.get(path) or comparison.nowhere(path), here)
    return done


def _under_old_names(findings: Sequence[Finding], sources: Mapping[str, SourceFile]) -> dict[str, str]:
    """The fingerprints that findings in renamed files had before, by their present ones."""
    old: dict[str, str] = {}
    for path in {finding.path for finding in findings}:
        source = sources.get(path)
        if source is None or source.base_path in {"", path}:
            continue
        here = [finding for finding in findings if finding.path == path]
        before = comparison.fingerprint(source, here, path=source.base_path)
        now = comparison.fingerprint(source, here)
        old |= {new.fingerprint: was.fingerprint for new, was in zip(now, before, strict=True)}
    return old
