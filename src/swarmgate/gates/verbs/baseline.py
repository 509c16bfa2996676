"""`swarm gates baseline`: accepts findings into the baseline, each with a reason and an expiry date."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.errors import UsageError
from swarmgate.gates import baseline
from swarmgate.gates.pipeline.pipeline import GatesOptions
from swarmgate.gates.secret_scan import redaction
from swarmgate.gates.verbs.request import Request, resolved
from swarmgate.gates.verbs.run import judged
from swarmgate.workspace.git.driver import call
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import Finding, GateReport
    from swarmgate.gates.baseline import Accepted
    from swarmgate.gates.verbs.request import Target

_LONGEST_DAYS = 3650


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of the file: entries added, dropped and there now; secrets that were left out."""

    added: tuple[Accepted, ...]
    dropped: tuple[Accepted, ...]
    total: int
    secrets: int = 0

    def as_json(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        added, dropped = ([each.model_dump(mode="json") for each in group] for group in (self.added, self.dropped))
        return {"file": baseline.FILE, "added": added, "dropped": dropped, "total": self.total, "secrets": self.secrets}

    def lines(self) -> list[str]:
        """For people."""
        text = [f"accepted  {each.path}: {each.gate} {each.rule}" for each in self.added]
        text += [f"dropped   {each.path}: {each.gate} {each.rule}" for each in self.dropped]
        if self.secrets:
            text.append(f"{self.secrets} findings are secrets, and not accepted: take them out (or: --force)")
        counts = f"{len(self.added)} added, {len(self.dropped)} dropped, {self.total} in all"
        return [*text, f"{baseline.FILE}: {counts}"]


def entries(start: Path | None) -> tuple[Accepted, ...]:
    """What the repository's file accepts.

    Raises:
        NotAProject, ConfigError: no repository, or a file that cannot be read.
    """
    return baseline.on_disk(Repository.discover((start or Path.cwd()).resolve(), lenient=True).root)


def lines(listed: tuple[Accepted, ...]) -> list[str]:
    """The entries for people, the expired ones marked."""
    today = baseline.today()
    text = []
    for each in listed:
        end = f"until {each.expires}" if each.expires else "for good"
        end = f"EXPIRED {each.expires}" if each.expired(today) else end
        who = f", {each.who}" if each.who else ""
        text.append(f"{each.path}: {each.gate} {each.rule}: {each.reason} ({each.date}{who}, {end})")
    return text or [f"{baseline.FILE} accepts nothing."]


def store(
    request: Request,
    *,
    reason: str,
    expires: str = "",
    prune: bool = False,
    force: bool = False,
    only: tuple[str, ...] = (),
) -> Stored:
    """Accept every finding that now blocks, and with `prune` drop the entries that no finding needs.

    Args:
        request: what is judged; entries are pruned by a look at every file.
        reason: why; empty to prune alone.
        expires: a date (YYYY-MM-DD), or a number of days; empty for never.
        prune: whether entries are dropped that have expired, or whose finding is gone.
        force: whether secrets are accepted too.
        only: accept findings of these gates alone.

    Raises:
        UsageError: neither a reason nor `prune`, a date that is none, or as `judging.judge`.
    """
    if not reason.strip() and not prune:
        raise UsageError("an accepted finding needs a reason", hint='swarm gates baseline --reason "why"')
    end = _end(expires)
    added: list[Accepted] = []
    secrets = 0
    with resolved(request) as found:
        root = found.home.root
        known = {each.fingerprint: each for each in baseline.on_disk(root)}
        dropped = _outdated(root, known) if prune else ()
        for each in dropped:
            del known[each.fingerprint]
        if reason.strip():
            report = _report(found, tuple(known.values()), only)
            blocking = [(result.gate, each) for result in report.results for each in result.blocking_findings]
            accepted = [each for each in blocking if force or not redaction.about_a_secret(*each)]
            secrets = len(blocking) - len(accepted)
            added = _entries(found, accepted, report.tree, reason=reason, expires=end)
    known |= {each.fingerprint: each for each in added}
    if added or dropped:
        baseline.write(root, known.values())
    return Stored(tuple(added), dropped, len(known), secrets)


def _report(found: Target, entries: tuple[Accepted, ...], only: tuple[str, ...]) -> GateReport:
    from dataclasses import replace  # noqa: PLC0415 - only here

    # Each gate's own: what two gates find has to be accepted for both.
    options = GatesOptions(only=only, merged=False)
    return asyncio.run(judged(replace(found, fix=False), entries, options)).report


def _entries(
    found: Target, accepted: list[tuple[str, Finding]], tree: str, *, reason: str, expires: date | None
) -> list[Accepted]:
    contents = found.repository.read_many(tree, sorted({finding.path for _, finding in accepted}))
    texts = {path: content.decode("utf-8", "replace").split("\n") for path, content in contents.items()}
    who = _who(found.home)
    return [
        baseline.entry(
            finding, gate, _line(texts.get(finding.path, []), finding.line), reason=reason, who=who, expires=expires
        )
        for gate, finding in accepted
    ]


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _outdated(root: Path, known: dict[str, Accepted]) -> tuple[Accepted, ...]:
    """The entries that have expired, or that no finding of the whole tree bears out."""
    today = baseline.today()
    with resolved(Request(start=root, everything=True)) as everything:
        report = _report(everything, (), ())
    broken = {result.gate for result in report.results if not result.files}
    present = {finding.fingerprint for result in report.results for finding in result.findings}
    return tuple(
        each
        for each in known.values()
        # What a gate that is switched off or broken today found may still be there.
        if each.expired(today) or (each.fingerprint not in present and each.gate not in broken)
    )


def _end(expires: str) -> date | None:
    if not expires:
        return None
    try:
        end = baseline.today() + timedelta(int(expires)) if expires.isdecimal() else date.fromisoformat(expires)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"--expires {expires}: neither a date (2026-12-31) nor a number of days") from error
    days = (end - baseline.today()).days
    if not 0 < days <= _LONGEST_DAYS:
        raise UsageError(f"--expires {expires}: that is not in the next {_LONGEST_DAYS // 365} years")
    return end


def _who(home: Repository) -> str:
    """The name that git would put under a commit; empty where none is configured."""
    code, out, _ = call(home.root, "config", "--get", "user.name")
    return out.decode(errors="replace").strip() if code == 0 else ""
