"""Finds decisions that the newest phases do not mention, and requirements that no task covers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from swarmgate.automation.drift.alternatives import ALWAYS
from swarmgate.automation.drift.choices import Stance
from swarmgate.automation.drift.claims import sentences
from swarmgate.automation.drift.comparison import LaterText
from swarmgate.automation.drift.report import Decision, DecisionStatus, Place
from swarmgate.automation.drift.tokens import content, is_light, rows, tokens
from swarmgate.domain.state.state import State

UNTOUCHED_PHASES = 2
_COVERED_BY_ALL, _COVERED_BY_ONE = 0.5, 0.4
"""A requirement is covered where the tasks together have half of what it says, or one of them two fifths."""
_FEWEST_WORDS = 3
_ALIKE = 88
"""How alike two stems are, of 100, to be one: `authentic` and `authenticat`."""
MOST_REQUIREMENTS = 500

_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]*)?(\S.*)$")
_HEADING = re.compile(r"(?:#{1,6}[ \t]+(.*?)|\*\*(.*?)\*\*:?)[ \t]*$")
_ASKS = re.compile(r"\b(must|shall|should|has to|have to|needs? to|is required|are required)\b", re.IGNORECASE)
_OUTSIDE = re.compile(
    r"(out of scope|not in scope|non-?goals?|nice to have|future|later|background|references?|glossary|"
    r"open questions?|notes?|context|motivation|changelog|history|examples?|won't|will not)",
    re.IGNORECASE,
)
_NOT_ASKED = re.compile(
    r"\b(out of scope|not needed|not required|optional|nice to have|later|future|no need)\b", re.IGNORECASE
)


def stale(
    decisions: Sequence[Decision], laters: Sequence[LaterText], state: State
) -> Iterator[tuple[Decision, tuple[int, int]]]:
    """Open decisions that neither plan nor briefs of the two newest phases touch, and which phases those are.

    What is denied, and what concerns the whole project (its test runner, its naming), holds without being named.
    """
    newest = _newest_phases(state)
    if newest is None:
        return
    touched: set[str] = set()
    for later in laters:
        if later.phase in newest:
            touched |= content(tokens(f"{later.text} {later.context}"))
    for decision in decisions:
        if decision.status is not DecisionStatus.OPEN or not _could_be_stale(decision, newest, state):
            continue
        words = {word for word in content(tokens(decision.text)) if not is_light(word)}
        if len(words) >= UNTOUCHED_PHASES and words.isdisjoint(touched):
            yield decision, newest


def _newest_phases(state: State) -> tuple[int, int] | None:
    """The two newest phases in which work was done; None where there are fewer."""
    if state.plan is None:
        return None
    begun = [n for n, phase in state.plan.numbered if any(state.task(task.id).attempts for task in phase.tasks)]
    return (begun[-2], begun[-1]) if len(begun) >= UNTOUCHED_PHASES else None


def _could_be_stale(decision: Decision, newest: tuple[int, int], state: State) -> bool:
    old = bool(decision.goal and decision.goal < state.goals) or decision.phase < newest[0]
    read = sentences(decision.text)
    lasting = any(m.job in ALWAYS and m.stand is Stance.TAKEN for each in read for m in each.mentions)
    return old and not lasting and not any(each.denials for each in read)


def requirements(text: str, place: Place) -> Iterator[tuple[str, Place]]:
    """The sentences of a specification that ask for something, with their lines."""
    outside = fenced = False
    count = 0
    for number, line in enumerate(rows(text), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            continue
        elif heading := _HEADING.match(line.strip()):
            outside = bool(_OUTSIDE.match(heading[1] or heading[2] or ""))
        elif not outside and (asked := _asked(line)):
            count += 1
            if count > MOST_REQUIREMENTS:
                return
            yield asked, place.model_copy(update={"line": number} if place.file else {})


def _asked(line: str) -> str:
    bullet = _BULLET.match(line)
    text = bullet[1] if bullet else line.strip()
    if _NOT_ASKED.search(text) or text.endswith("?"):
        return ""
    return text if bullet or _ASKS.search(text) else ""


def uncovered(
    asked: Iterable[tuple[str, Place]], tasks: Sequence[frozenset[str]]
) -> Iterator[tuple[str, Place, float]]:
    """The requirements that the tasks do not cover, and how much of each they do (0 to 1).

    Args:
        asked: as `requirements` gives them.
        tasks: the content of each task.
    """
    if not tasks:
        return
    every = frozenset(word for each in tasks for word in each)
    rows = [(text, place, content(tokens(text))) for text, place in asked]
    counts = Counter(word for *_, words in rows for word in words)
    by_word: dict[str, list[int]] = {}
    for number, task in enumerate(tasks):
        for word in task:
            by_word.setdefault(word, []).append(number)
    near = _Nearest(every)
    for text, place, words in rows:
        if len(words) < _FEWEST_WORDS:
            continue
        weights = {word: (0.4 if is_light(word) else 1.0) / math.sqrt(counts[word]) for word in words}
        whole = sum(weights.values())
        single: dict[int, float] = {}
        covered = 0.0
        for word, worth in weights.items():
            known = near.of(word)
            covered += worth if known else 0.0
            for number in by_word.get(known, ()):
                single[number] = single.get(number, 0.0) + worth
        best = max(single.values(), default=0.0) / whole
        if covered / whole < _COVERED_BY_ALL and best < _COVERED_BY_ONE:
            yield text, place, covered / whole


class _Nearest:
    """Looks up a word among those of the plan, allowing for another ending."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._by_start: dict[str, list[str]] = {}
        for word in known:
            self._by_start.setdefault(word[:3], []).append(word)
        self.of = lru_cache(maxsize=10_000)(self._of)

    def _of(self, word: str) -> str:
        """The word of the plan that is this one; empty where there is none."""
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - late: 20 ms

        if word in self._known:
            return word
        near = process.extractOne(word, self._by_start.get(word[:3], ()), scorer=fuzz.ratio, score_cutoff=_ALIKE)
        return str(near[0]) if near else next((w for w in self._by_start.get(word[:3], ()) if _begins(word, w)), "")


def _begins(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= 5 and long.startswith(short)  # noqa: PLR2004 - `export` and `exporter`, not `log` and `login`
