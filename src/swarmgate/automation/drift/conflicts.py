"""Decides whether the claims of two sentences contradict each other; in doubt they do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from swarmgate.automation.drift.choices import JOB_OF, Stance, cues
from swarmgate.automation.drift.claims import Denial, Sentence
from swarmgate.automation.drift.limits import clash, other_version
from swarmgate.automation.drift.opposite_words import CONTRASTS, INTRODUCERS, OPPOSITES, STORING
from swarmgate.automation.drift.tokens import content, is_light, stem, weight, word_set

_SHARED_POLES = 0.5
"""How much of the smaller subject two sentences with opposites share."""
_SHARED_SCOPED = 0.5
"""The same of both subjects together, for a choice that holds for one subject."""
_FEW = 3
"""A denial of so few words is meant word for word."""
_ELSEWHERE = word_set("cache cached caching temporary offline local spike prototype sample demo prior")
_UNIVERSAL = frozenset({"all", "every", "everywhere", "only", "always", "everything", "any"})
_EVERYTHING = frozenset({"everything", "anything"})
_TELLING = 0.8
"""So much says what a sentence is about: one word of its own, or two that many subjects share."""
_ACTS = frozenset(map(stem, word_set("store read write return send talk call print export parse encode deploy")))
"""What is done, where the thing it is done to says what a sentence is about."""
_POLE_STEMS = {
    pair.name: frozenset(
        stem(word) for side in (pair.one, pair.other, pair.of) for each in side.split() for word in each.split("_")
    )
    for pair in OPPOSITES
}
_INTRODUCING = frozenset(map(stem, INTRODUCERS))


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why two sentences do not fit: the subject that they share, the reason, and how sure it is (0 to 1).

    `job` is what two choices were made for; it is empty for any other reason.
    """

    subject: str
    why: str
    confidence: float
    job: str = ""


def conflicts(old: Sentence, new: Sentence, *, around: frozenset[str], context: frozenset[str]) -> Iterator[Conflict]:
    """Everything in which a later sentence speaks against one of a decision.

    Args:
        old: a sentence of the decision.
        new: the later sentence.
        around: the content of the whole decision.
        context: the content of what the later sentence stands under, such as its task's title.
    """
    if old.versions and new.versions:
        yield from _versions(old, new)
    if new.present or _apart(old, new):
        return
    if old.mentions and new.mentions:
        yield from _choices(old, new)
        yield from _refused(old, new)
    if old.poles and new.poles:
        yield from _poles(old, new, around, context)
    if old.limits and new.limits:
        yield from _limits(old, new, context)
    if old.denials or new.denials:
        yield from _denials(old, new, around)


def _apart(old: Sentence, new: Sentence) -> bool:
    """Whether two sentences hold for different things: another language, environment, part, or kind of people."""
    if new.narrows and new.narrows - old.narrows:
        return True
    if not old.parts or not new.parts:
        return False
    return any(part.isdisjoint(new.parts.get(n, part)) for n, part in old.parts.items())


def _taken(sentence: Sentence, job: str) -> frozenset[str]:
    return frozenset(m.option for m in sentence.mentions if m.job == job and m.stand is Stance.TAKEN)


def _choices(old: Sentence, new: Sentence) -> Iterator[Conflict]:
    for job in sorted({m.job for m in old.mentions if m.job and m.stand is Stance.TAKEN}):
        one, other = _taken(old, job), _taken(new, job)
        if not other or one & other or _contrast(old.words, new.words) or not _same_place(job, old, new):
            continue
        why = f"two choices for one job ({job}): {_quoted(one)} was decided, {_quoted(other)} is named"
        yield Conflict(job, why, 0.9, job)


def _same_place(job: str, old: Sentence, new: Sentence) -> bool:
    """Whether two choices for one job are meant for the same part of the project."""
    if JOB_OF[job].scoped:
        if old.aside or new.aside:
            return False
        if _whole(job, old) or _within(job, old, new):
            return True
        if JOB_OF[job].no_package:
            return False
        combined = weight(old.subject | new.subject)
        return weight(old.subject & new.subject) >= max(1.0, _SHARED_SCOPED * combined)
    if not _ELSEWHERE.isdisjoint(new.words - old.words - cues(job)):
        return False
    if not _UNIVERSAL.isdisjoint(old.words):
        return True
    known = content(cues(job))
    ours, theirs = old.scope - known, new.scope - known
    return not ours or not theirs or bool(ours & (theirs | new.subject))


def _whole(job: str, old: Sentence) -> bool:
    """Whether a choice is said to hold for everything that the job is done for (`store everything in SQLite`)."""
    return not old.words.isdisjoint(_EVERYTHING) and not old.subject - content(cues(job)) - _ACTS


def _within(job: str, old: Sentence, new: Sentence) -> bool:
    """Whether the later sentence speaks of all that the decision speaks of, and maybe says of which part."""
    subject = old.subject - _ACTS
    if not subject or not subject <= new.subject:
        return False
    if JOB_OF[job].no_package:
        return subject == new.subject - _ACTS  # the orders, not the search terms of orders
    return weight(subject) >= _TELLING or bool(subject & _own(job)) or subject == new.subject - _ACTS


@cache
def _own(job: str) -> frozenset[str]:
    """What a job is done to: where a sentence names no more than that, it holds for all of it."""
    return frozenset(map(stem, JOB_OF[job].of.split()))


def _refused(old: Sentence, new: Sentence) -> Iterator[Conflict]:
    """What was ruled out is taken, or what was taken is ruled out."""
    if not old.denials and not new.denials:
        return
    for first, second, message in ((old, new, "was ruled out"), (new, old, "was decided, and is ruled out here")):
        refused = {m.option for m in first.mentions if m.stand is Stance.REFUSED and first.denials}
        taken = {m.option for m in second.mentions if m.stand is Stance.TAKEN}
        ours = first.scope | content(first.words & frozenset({"here", "there"}))
        if refused & taken and not first.aside and (not ours or ours & (second.scope | second.subject)):
            if "here" in first.words:
                continue
            yield Conflict(_quoted(refused & taken), f"{_quoted(refused & taken)} {message}", 0.85)


def _poles(old: Sentence, new: Sentence, around: frozenset[str], context: frozenset[str]) -> Iterator[Conflict]:
    for one in old.poles:
        for other in new.poles:
            if one.pair != other.pair or one.side == other.side or new.aside:
                continue
            if other.head and any(not is_light(word) for word in other.head - around - context):
                continue  # it is said of a part
            if "default" in old.words and "default" not in new.words and not new.words & {"new", "until"}:
                continue  # what is so by default may be otherwise
            own = _POLE_STEMS[one.pair]
            if one.head - own and other.head - own and not one.head & other.head:
                continue
            ours, theirs = around - own, new.subject - own
            shared = ours & (theirs | context)
            shared -= {new.act}  # `sort` this, and `sort` that
            if new.act and new.act not in around | _INTRODUCING and weight(shared) < 2:  # noqa: PLR2004 - another act on a thing
                continue
            least = min(weight(ours), weight(theirs))
            whole = not ours - _ACTS and not old.words.isdisjoint(_UNIVERSAL) and not new.words.isdisjoint(STORING)
            if (whole or weight(shared) >= max(1.0, _SHARED_POLES * least)) and not _contrast(old.words, new.words):
                yield Conflict(_quoted(shared), f"opposites on one subject ({one.pair})", 0.8)


def _contrast(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two different things are done to the subject, such as storing and showing."""
    acts = [{n for n, group in enumerate(CONTRASTS) if group & words} for words in (one, other)]
    return bool(acts[0] and acts[1] and not acts[0] & acts[1])


def _limits(old: Sentence, new: Sentence, context: frozenset[str]) -> Iterator[Conflict]:
    for one in old.limits:
        for other in new.limits:
            if clash(one, other, new.limits, context):
                yield Conflict(_quoted(one.before | one.narrows), f"two limits on one subject ({one.dimension})", 0.85)
                return


def _versions(old: Sentence, new: Sentence) -> Iterator[Conflict]:
    for name, version in old.versions:
        for other, its in new.versions:
            if name == other and other_version(version, its):
                yield Conflict(name, f"two versions of {name}: {'.'.join(version)} and {'.'.join(its)}", 0.75)


def _denials(old: Sentence, new: Sentence, around: frozenset[str]) -> Iterator[Conflict]:
    for denial in old.denials:
        if _done(denial, new, loose=False):
            yield Conflict(_quoted(denial.words), "what was ruled out is done", 0.8)
            return
    for denial in new.denials:
        rest = {each for each in around - denial.words if not is_light(each)}
        if len(rest) <= 1 and not denial.words - around and _done(denial, old, loose=True):
            yield Conflict(_quoted(denial.words), "what was decided is ruled out", 0.75)
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


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))
