"""Whether two sentences speak against each other: pure comparisons of their claims. In doubt they do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from swarmgate.automation.drift.choices import JOB_OF, Stand, cues
from swarmgate.automation.drift.claims import Denial, Sentence
from swarmgate.automation.drift.limits import clash, other_version
from swarmgate.automation.drift.opposites import CONTRASTS, INTRODUCERS, OPPOSITES
from swarmgate.automation.drift.words import content, is_light, stem, weight, word_set

_SHARED_POLES = 0.5
"""How much of the smaller subject two sentences with opposites share."""
_SHARED_SCOPED = 0.5
"""The same of both subjects together, for a choice that holds for one subject."""
_FEW = 3
"""A denial of so few words is meant word for word."""
_ELSEWHERE = word_set("cache cached caching temporary offline local spike prototype sample demo prior")
_UNIVERSAL = frozenset({"all", "every", "everywhere", "only", "always", "everything", "any"})
_POLE_STEMS = {
    pair.name: frozenset(
        stem(word) for side in (pair.one, pair.other) for each in side.split() for word in each.split("_")
    )
    for pair in OPPOSITES
}
_INTRODUCING = frozenset(map(stem, INTRODUCERS))


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why two sentences do not fit: the subject that they share, the reason, and how sure it is (0 to 1)."""

    subject: str
    why: str
    confidence: float


def conflicts(old: Sentence, new: Sentence, *, around: frozenset[str], context: frozenset[str]) -> Iterator[Conflict]:
    """Everything in which a later sentence speaks against one of a decision.

    Args:
        old: a sentence of the decision.
        new: the later sentence.
        around: the content of the whole decision.
        context: the content of what the later sentence stands under, such as its task's title.
    """
    yield from _choices(old, new)
    yield from _refused(old, new)
    yield from _poles(old, new, around, context)
    yield from _limits(old, new, context)
    yield from _versions(old, new)
    yield from _denials(old, new, around)


def _taken(sentence: Sentence, job: str) -> frozenset[str]:
    return frozenset(m.option for m in sentence.mentions if m.job == job and m.stand is Stand.TAKEN)


def _choices(old: Sentence, new: Sentence) -> Iterator[Conflict]:
    for job in sorted({m.job for m in old.mentions if m.job and m.stand is Stand.TAKEN}):
        one, other = _taken(old, job), _taken(new, job)
        if not other or one & other or not _same_place(job, old, new):
            continue
        yield Conflict(
            job, f"two choices for one job ({job}): {_shown(one)} was decided, {_shown(other)} is named", 0.9
        )


def _same_place(job: str, old: Sentence, new: Sentence) -> bool:
    """Whether two choices for one job are meant for the same part of the project."""
    if JOB_OF[job].scoped:
        if old.aside or new.aside:
            return False
        together = weight(old.subject | new.subject)
        return weight(old.subject & new.subject) >= max(1.0, _SHARED_SCOPED * together)
    if not _ELSEWHERE.isdisjoint(new.words - old.words - cues(job)):
        return False
    if not _UNIVERSAL.isdisjoint(old.words):
        return True
    known = content(cues(job))
    ours, theirs = old.scope - known, new.scope - known
    return not ours or not theirs or bool(ours & (theirs | new.subject))


def _refused(old: Sentence, new: Sentence) -> Iterator[Conflict]:
    """What was ruled out is taken, or what was taken is ruled out."""
    if not any(m.stand is Stand.REFUSED for each in (old, new) for m in each.mentions):
        return
    for first, second, told in ((old, new, "was ruled out"), (new, old, "was decided, and is ruled out here")):
        refused = {m.option for m in first.mentions if m.stand is Stand.REFUSED and first.denials}
        taken = {m.option for m in second.mentions if m.stand is Stand.TAKEN}
        ours = first.scope | content(first.words & frozenset({"here", "there"}))
        if refused & taken and not first.aside and (not ours or ours & (second.scope | second.subject)):
            if "here" in first.words:
                continue
            yield Conflict(_shown(refused & taken), f"{_shown(refused & taken)} {told}", 0.85)


def _poles(old: Sentence, new: Sentence, around: frozenset[str], context: frozenset[str]) -> Iterator[Conflict]:
    for one in old.poles:
        for other in new.poles:
            if one.pair != other.pair or one.side == other.side or new.aside:
                continue
            own = _POLE_STEMS[one.pair]
            if one.head - own and other.head - own and not one.head & other.head:
                continue
            ours, theirs = around - own, new.subject - own
            shared = ours & (theirs | context)
            least = min(weight(ours), weight(theirs))
            if weight(shared) >= max(1.0, _SHARED_POLES * least) and not _contrast(old.words, new.words):
                yield Conflict(_shown(shared), f"opposites on one subject ({one.pair})", 0.8)


def _contrast(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two different things are done to the subject, such as storing and showing."""
    acts = [{n for n, group in enumerate(CONTRASTS) if group & words} for words in (one, other)]
    return bool(acts[0] and acts[1] and not acts[0] & acts[1])


def _limits(old: Sentence, new: Sentence, context: frozenset[str]) -> Iterator[Conflict]:
    for one in old.limits:
        for other in new.limits:
            if clash(one, other, new.limits, context):
                yield Conflict(_shown(one.before | one.narrows), f"two limits on one subject ({one.dimension})", 0.85)
                return


def _versions(old: Sentence, new: Sentence) -> Iterator[Conflict]:
    for name, version in old.versions:
        for other, its in new.versions:
            if name == other and other_version(version, its):
                yield Conflict(name, f"two versions of {name}: {'.'.join(version)} and {'.'.join(its)}", 0.75)


def _denials(old: Sentence, new: Sentence, around: frozenset[str]) -> Iterator[Conflict]:
    for denial in old.denials:
        if _done(denial, new, loose=False):
            yield Conflict(_shown(denial.words), "what was ruled out is done", 0.8)
            return
    for denial in new.denials:
        rest = {each for each in around - denial.words if not is_light(each)}
        if len(rest) <= 1 and not denial.words - around and _done(denial, old, loose=True):
            yield Conflict(_shown(denial.words), "what was decided is ruled out", 0.75)
            return


def _done(denial: Denial, other: Sentence, *, loose: bool) -> bool:
    """Whether a sentence does or brings in what another denies."""
    if weight(denial.words) < 0.8:  # noqa: PLR2004 - two light words at the least
        return False
    for part in other.brought:
        lacking = denial.words - part.words
        if lacking and (len(denial.words) <= _FEW or any(not is_light(each) for each in lacking)):
            continue
        if denial.verb and (denial.verb in part.verbs or (loose and denial.verb in part.words)):
            return True
        if not denial.verb and (denial.words & part.objects or loose):
            return True
    return False


def _shown(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))
