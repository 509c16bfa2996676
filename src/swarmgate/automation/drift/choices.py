"""Finds which choices a sentence names, for which job, and whether it adopts, rejects or only mentions them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

from swarmgate.automation.drift.alternatives import ALWAYS, JOBS, ORDINARY, Job
from swarmgate.automation.drift.limits import NUMBERS
from swarmgate.automation.drift.opposite_words import ASIDE, NEGATORS, REMOVERS, TESTING
from swarmgate.automation.drift.tokens import word_set

_NAMING = word_set("use using uses used with via through adopt install import is are be on go than pick choose prefer")
"""Words after which an ordinary word is a name."""
_INSTEAD = (("instead", "of"), ("rather", "than"), ("place", "of"), ("away", "from"), ("opposed", "to"))
_MOVING = word_set("from migrate migrates migrating migration move moves moving switch convert port")
_WORSE = frozenset({"than", "over", "unlike", "versus", "vs", "legacy", "old"})
_ENDED = word_set("rejected removed dropped deprecated out ruled not replaced gone forbidden banned refused retired")
_WAS = frozenset({"is", "was", "are", "were", "be", "has", "been", "will"})


class Stance(Enum):
    """How a sentence stands to what it names."""

    TAKEN = "taken"
    REFUSED = "refused"
    ASIDE = "aside"
    """Mentioned only: compared, migrated from, used in tests."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A choice named in a sentence; `job` is empty where its job is unknown."""

    job: str
    option: str
    stand: Stance


@dataclass(frozen=True, slots=True)
class _Name:
    words: tuple[str, ...]
    option: str
    jobs: tuple[Job, ...]


JOB_OF = {job.name: job for job in JOBS}
"""The jobs by name."""


@cache
def cues(job: str) -> frozenset[str]:
    """The words that speak of a job."""
    return frozenset(JOB_OF[job].cues.split())


@cache
def _vocabulary() -> dict[str, tuple[_Name, ...]]:
    """Every name by its first word, the longest first."""
    jobs: dict[tuple[tuple[str, ...], str], list[Job]] = {}
    for job in JOBS:
        for option in job.options.split(", "):
            first, *others = option.split()
            for spelling in (first, *others):
                for words in {(spelling,), tuple(spelling.replace("-", "_").split("_"))}:
                    jobs.setdefault((words, first), []).append(job)
    names: dict[str, list[_Name]] = {}
    for (words, option), of in jobs.items():
        names.setdefault(words[0], []).append(_Name(words, option, tuple(of)))
    return {first: tuple(sorted(of, key=lambda name: -len(name.words))) for first, of in names.items()}


@cache
def packages() -> dict[str, tuple[tuple[str, str], ...]]:
    """What a package of that name is: (job, choice) pairs, one for each job that it may do."""
    found: dict[str, list[tuple[str, str]]] = {}
    for job in JOBS:
        for option in () if job.no_package else job.options.split(", "):
            names = option.split()
            for spelling in names:
                found.setdefault(spelling.replace("_", "-").lower(), []).append((job.name, names[0]))
    return {name: tuple(pairs) for name, pairs in found.items()}


def may_name(words: Sequence[str]) -> bool:
    """Whether any of the words begins a name; fast."""
    return not _vocabulary().keys().isdisjoint(words)


def mentions(words: Sequence[str], *, cue: frozenset[str], quoted: frozenset[str]) -> list[tuple[int, int, Mention]]:
    """The choices in one part of a sentence, with the span of words of each.

    Args:
        words: the part's words.
        cue: the words of the whole sentence, where cues of jobs are looked for.
        quoted: words that the sentence sets as code.
    """
    found: list[tuple[int, int, Mention]] = []
    vocabulary, at = _vocabulary(), 0
    while at < len(words):
        name = next((n for n in vocabulary.get(words[at], ()) if tuple(words[at : at + len(n.words)]) == n.words), None)
        if name is None:
            at += 1
            continue
        end = at + len(name.words)
        found += [
            (at, end, Mention(job.name if job else "", name.option, _stand(words, at, end, job)))
            for job in _jobs(name, words, at, cue, quoted)
        ]
        at = end
    return found


def _jobs(name: _Name, words: Sequence[str], at: int, cue: frozenset[str], quoted: frozenset[str]) -> list[Job | None]:
    ordinary = len(name.words) == 1 and name.words[0] in ORDINARY
    while at and (words[at - 1].isdigit() or words[at - 1] in NUMBERS):
        at -= 1  # `indent with four spaces`
    if ordinary and not (name.words[0] in quoted or (at and words[at - 1] in _NAMING)):
        return []
    others = cue - set(name.words)
    jobs: list[Job | None] = [job for job in name.jobs if others & cues(job.name)]
    if jobs or ordinary:
        rest = [job for job in jobs[1:] if job and job.no_package]
        return [*jobs[:1], *rest]
    certain: list[Job | None] = [job for job in name.jobs if not job.cued]
    alone = sum(not job.no_package for job in name.jobs) == 1
    return certain if alone and certain else [None]


def _stand(words: Sequence[str], at: int, end: int, job: Job | None) -> Stance:
    before, after = list(words[max(0, at - 5) : at]), list(words[end : end + 4])
    if _refused(before, after):
        return Stance.REFUSED
    if before[-1:] == ["to"] and not _MOVING.isdisjoint(words):
        return Stance.TAKEN  # `migrate from this to that`
    if (
        before[-1:] == ["from"]
        or (job and not set(job.unless.split()).isdisjoint(words))
        or not ASIDE.isdisjoint(words)
    ):
        return Stance.ASIDE
    if not (job and (job.development or job.name in ALWAYS)) and not TESTING.isdisjoint(words):
        return Stance.ASIDE
    return Stance.TAKEN


def _refused(before: list[str], after: list[str]) -> bool:
    near = before[-3:]
    if any(pair == tuple(near[n : n + 2]) for pair in _INSTEAD for n in range(len(near) - 1)):
        return True
    if not NEGATORS.isdisjoint(before[-4:]) or (before[-1:] and before[-1] in _WORSE):
        return True
    removed = max((n for n, word in enumerate(before) if word in REMOVERS), default=-1)
    if removed >= 0 and len(before) - removed <= 3 and {"with", "by"}.isdisjoint(before[removed:]):  # noqa: PLR2004 - near
        return True
    while after and after[0] in _WAS:
        after = after[1:]
    return bool(after) and after[0] in _ENDED
