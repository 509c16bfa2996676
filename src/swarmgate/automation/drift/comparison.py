"""Finds every later text that contradicts a recorded decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from swarmgate.automation.drift.choices import JOB_OF, Stance, packages
from swarmgate.automation.drift.claims import Sentence, sentences
from swarmgate.automation.drift.conflicts import Conflict, conflicts
from swarmgate.automation.drift.report import Decision, Place, TextKind
from swarmgate.automation.drift.tokens import content, is_light, tokens

_DEPENDENCY = 0.85
"""How much a package in a manifest says, against a sentence that says it."""

CANDIDATES = 100
"""With as many decisions, about, one sentence is compared: those beyond share only what very many share."""


@dataclass(frozen=True, slots=True)
class LaterText:
    """A text that a decision is compared with.

    Attributes:
        kind: what it is.
        text: the text itself; of a dependency its name.
        place: where it stands.
        about: what it belongs to; of all texts about one thing (a task), one signal is enough.
        context: what it stands under, such as the title of its task.
        phase: the phase that it belongs to, 0 for none; only later ones speak against a decision of a phase.
        development: a dependency that is not part of the product.
    """

    kind: TextKind
    text: str
    place: Place
    about: str = ""
    context: str = ""
    phase: int = 0
    development: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A decision, the text that speaks against it, and why."""

    decision: Decision
    later: LaterText
    conflict: Conflict


@dataclass(slots=True)
class Index:
    """Open decisions by what they claim."""

    _by_key: dict[str, list[int]] = field(default_factory=dict)
    _decisions: list[tuple[Decision, tuple[Sentence, ...], frozenset[str]]] = field(default_factory=list)

    def add(self, decision: Decision) -> None:
        """Puts a decision in."""
        read = sentences(decision.text)
        number = len(self._decisions)
        self._decisions.append((decision, read, content(tokens(decision.text))))
        for key in {key for sentence in read for key in _keys(sentence, "denied", "done")}:
            self._by_key.setdefault(key, []).append(number)

    def against(self, later: LaterText) -> Iterator[Match]:
        """The decisions that a text speaks against, each once, with the surest reason."""
        if later.kind is TextKind.DEPENDENCY:
            yield from self._against_package(later)
            return
        for number, found in self.conflicts(later):
            yield Match(self._decisions[number][0], later, found)

    def conflicts(self, later: LaterText) -> Iterable[tuple[int, Conflict]]:
        """The same for a text that is no dependency, with the numbers of the decisions in the order of `add`."""
        return self._best(sentences(later.text), content(tokens(later.context))).items()

    def _alike(self, keys: Iterable[str]) -> list[int]:
        """The decisions that share a claim, the rarest claims first, and no more than `CANDIDATES`."""
        chosen: set[int] = set()
        for numbers in sorted((self._by_key[key] for key in keys if key in self._by_key), key=len):
            chosen |= set(numbers) if len(numbers) <= CANDIDATES else set(numbers[-CANDIDATES:])
            if len(chosen) >= CANDIDATES:
                break
        return sorted(chosen)

    def _best(self, read: tuple[Sentence, ...], context: frozenset[str]) -> dict[int, Conflict]:
        best: dict[int, Conflict] = {}
        spoken = {mention.option for each in read for mention in each.mentions if mention.stand is Stance.TAKEN}
        for new in read:
            for number in self._alike(set(_keys(new, "done", "denied"))):
                _, olds, around = self._decisions[number]
                for old in olds:
                    for found in conflicts(old, new, around=around, context=context):
                        if found.job and _chosen(old, found.job) & spoken:
                            continue  # the text takes the decided one too
                        if number not in best or found.confidence > best[number].confidence:
                            best[number] = found
        return best

    def _against_package(self, later: LaterText) -> Iterator[Match]:
        name = later.text.lower()
        sure = [
            (job, option)
            for job, option in packages().get(name, ())
            if JOB_OF[job].development or not later.development
        ]
        words = frozenset[str]() if later.development else content(tokens(name))
        keys = {f"{what} {each}" for pair in sure for what, each in zip(("job", "option"), pair, strict=True)}
        keys |= {f"denied {word}" for word in words}
        for number in self._alike(keys):
            decision, olds, _ = self._decisions[number]
            conflict = next((found for old in olds if (found := _package_conflict(old, name, sure, words))), None)
            if conflict is not None:
                yield Match(decision, later, conflict)


def _package_conflict(old: Sentence, name: str, does: list[tuple[str, str]], words: frozenset[str]) -> Conflict | None:
    options = {option for _, option in does}
    refused = any(m.stand is Stance.REFUSED and m.option in options for m in old.mentions)
    denied = any(not denial.verb and words and _telling(denial.words) == words for denial in old.denials)
    if (refused or denied) and not old.aside and not _telling(old.scope) - words:
        return Conflict(name, f"{name} was ruled out, and is a dependency", _DEPENDENCY)
    taken = {(m.job, m.option) for m in old.mentions if m.stand is Stance.TAKEN}
    if len(does) != 1 or {option for _, option in taken} & options:
        return None
    [(job, option)] = does
    decided = sorted(its for of, its in taken if of == job)
    if not decided:
        return None
    why = f"two choices for one job ({job}): {', '.join(decided)} was decided, {option} is a dependency"
    return Conflict(job, why, _DEPENDENCY)


def _telling(words: frozenset[str]) -> frozenset[str]:
    """Words that many subjects share (`in new code`) left out."""
    return frozenset(word for word in words if not is_light(word))


def _chosen(sentence: Sentence, job: str) -> set[str]:
    return {mention.option for mention in sentence.mentions if mention.job == job}


def _keys(sentence: Sentence, denied: str, done: str) -> Iterator[str]:
    """What a sentence is found by. Of a later one `denied` and `done` are the other way round: opposites meet."""
    for mention in sentence.mentions:
        yield f"option {mention.option}"
        if mention.job:
            yield f"job {mention.job}"
    yield from (f"pair {pole.pair}" for pole in sentence.poles)
    yield from (f"limit {limit.dimension} {word}" for limit in sentence.limits for word in limit.every)
    yield from (
        f"limit {limit.dimension} {word}" for limit in sentence.limits if not limit.before for word in sentence.subject
    )
    yield from (f"version {name}" for name, _ in sentence.versions)
    for denial in sentence.denials:
        yield from (f"{denied} {word}" for word in denial.words if not is_light(word))
    for brought in sentence.brought:
        yield from (f"{done} {word}" for word in brought.words if not is_light(word))


def compare(decisions: Iterable[Decision], laters: Iterable[LaterText]) -> list[Match]:
    """Everything in `laters` that speaks against one of `decisions`, in the order of the texts."""
    index = Index()
    for decision in decisions:
        index.add(decision)
    return [found for later in laters for found in index.against(later)]
