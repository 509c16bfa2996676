"""Compares each test before and after a change and reports what got weaker."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.gates.test_integrity.collection import is_collected
from swarmgate.gates.test_integrity.matching import alike
from swarmgate.gates.test_integrity.moved_assertions import MOST, Pool
from swarmgate.gates.test_integrity.suites.model import Rule, Strength, Weakening
from swarmgate.gates.test_integrity.suites.no_error import told_otherwise
from swarmgate.gates.test_integrity.suites.strength import ASSERTS
from swarmgate.gates.test_integrity.suites.tokens import calls, is_literal, is_text, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.gates.test_integrity.matching import Matching
    from swarmgate.gates.test_integrity.suites.model import Assertion, Case
    from swarmgate.gates.test_integrity.suites.tokens import Tokens


def compare(matching: Matching) -> Iterator[Weakening]:
    """Every weakening of the old tests, without regard to changes of the product."""
    pool = Pool(matching)
    for old, new in matching.pairs:
        if not old.off and not old.helper:
            yield from _switched(old, new)
        if not old.off and not new.off and (old.text, old.shell) != (new.text, new.shell):
            yield from _compared(old, new, pool)
    for case in matching.fresh:
        if case.off and not case.helper:
            text = f"a new test is switched off from the beginning: {case.off}"
            yield Weakening(Rule.NEW_OFF, case.path, case.line, case.name, text)
    for case in matching.removed:
        if not case.off and not pool.covers(case) and not (case.helper and _unused(case, matching)):
            text = f"{_called(case)} is gone" if not case.helper else f"{case.short}, which tests assert with, is gone"
            if case.guarded and _VERSION.search(case.guarded):
                text = f"{_called(case)}, which ran on some versions only, is gone: {case.guarded}"
                yield Weakening(Rule.GUARDED, case.path, case.line, case.name, text)
                continue
            yield Weakening(Rule.REMOVED, case.path, case.line, case.name, text, words((*case.text, *case.shell)))


_VERSION = re.compile(r"(?i)version|py2|py3|python_?2|go1\.\d|jre|sdk")
"""What a condition says that asks for a version of the language, of which the old ones go."""


def _unused(helper: Case, matching: Matching) -> bool:
    """Whether no test that is still there lost what is gone without being told of: an asserting name is told there."""
    return bool(ASSERTS.search(helper.short)) or not any(
        helper.short in old.text or helper.short in old.shell for old, _ in matching.pairs
    )


def _called(case: Case) -> str:
    return f"the test `{case.short[:80]}`"


def _switched(old: Case, new: Case) -> Iterator[Weakening]:
    about = words((*new.text, *new.shell))
    if new.off:
        yield Weakening(Rule.OFF, new.path, new.line, new.name, f"{_called(new)} is switched off: {new.off}", about)
    elif new.guarded and not old.guarded:
        yield Weakening(
            Rule.GUARDED, new.path, new.line, new.name, f"{_called(new)} runs on a condition now: {new.guarded}", about
        )
    elif new.helper or (is_collected(old.path) and not is_collected(new.path)):
        message = f"{_called(old)} is no test any more: nothing collects `{new.short[:80]}`"
        yield Weakening(Rule.OFF, new.path, new.line, old.name, message, about)


_FAILS = frozenset({"should_panic", "expected"})
"""What stands above a test that has to end in an error."""

_ANY_ERROR = frozenset({"Exception", "RuntimeException", "Throwable", "Error", "AssertionError", "should_panic"})
"""Errors that anything may end in."""


def _compared(old: Case, new: Case, pool: Pool) -> Iterator[Weakening]:
    yield from _rows(old, new)
    yield from _mocked(old, new)
    if any(each in new.shell and each not in old.shell for each in _FAILS) and old.assertions:
        text = f"{_called(new)} has to end in an error now, whichever of its lines it comes from"
        certain = "expected" in new.shell and not _ANY_ERROR & set(new.shell)
        yield Weakening(Rule.EXPECTED if certain else Rule.WEAKER, new.path, new.line, new.name, text, words(new.text))
        if certain:
            return
    elif "should_panic" in old.shell and "expected" in old.shell and not {"should_panic", "expected"} <= set(new.shell):
        text = f"{_called(new)} passes with any panic, or with none"
        yield Weakening(Rule.WEAKER, new.path, new.line, new.name, text, words(new.text))
    lost, added = _different(old.assertions, new.assertions)
    for was, now in _paired(lost, added):
        yield from _weaker(was, now, new, same=_arranged_alike(old, new))
    required = [each for each in lost if each.effect and not pool.take(each) and not _needless(each, old, new)]
    if required and not (new.helper and old.helper and not new.assertions and pool.helpers):
        yield from _fewer(required, added, old, new, pool)


def _needless(lost: Assertion, old: Case, new: Case) -> bool:
    """Whether the test fails without an assertion as it failed with it: of an error by itself, of a longer text."""
    shape, expected = _shape(lost)
    longer = (_shape(each) for each in new.assertions if each.effect and expected)
    return told_otherwise(lost, old, new) or any(shape == other and expected in text for other, text in longer)


def _shape(each: Assertion) -> tuple[Tokens, str]:
    """The assertion without the text that it looks for, and the text: empty for several, and for one that is denied."""
    strings = [token for token in each.text if is_text(token)]
    shape = tuple("" if is_text(one) else one for one in each.text)
    denied = any(one == "!" or re.match(r"(?i)(?:assert)?_?not", one) for one in shape)
    whole = len(strings) == 1 and each.strength is Strength.PART and not denied
    return shape, strings[0].strip("\"'`") if whole else ""


def _different(old: Sequence[Assertion], new: Sequence[Assertion]) -> tuple[list[Assertion], list[Assertion]]:
    """What is on one side only; an assertion that cannot fail any more is another one."""
    both = Counter((each.text, bool(each.idle)) for each in old) & Counter((each.text, bool(each.idle)) for each in new)
    sides = []
    for side in (old, new):
        left, rest = both.copy(), []
        for each in side:
            if left[each.text, bool(each.idle)] > 0:
                left[each.text, bool(each.idle)] -= 1
            else:
                rest.append(each)
        sides.append(rest)
    values = [{each.text: each for each in side} for side in (old, new)]
    for text in values[0].keys() & values[1].keys():
        if values[0][text].expected != values[1][text].expected and both[text, False]:
            sides[0].append(values[0][text])
            sides[1].append(values[1][text])
    return sides[0], sides[1]


def _paired(lost: list[Assertion], added: list[Assertion]) -> Iterator[tuple[Assertion, Assertion]]:
    """Assertions about the same thing, taken out of both lists; the most alike first."""
    ranked = sorted(
        (
            (_alike(was, now), -abs(n - m), n, m)
            for n, was in enumerate(lost)
            for m, now in enumerate(added)
            if abs(n - m) <= _NEAR
        ),
        reverse=True,
    )
    left, right = list(lost), list(added)
    used_left, used_right = set[int](), set[int]()
    for share, _, n, m in ranked:
        if share < _SAME or n in used_left or m in used_right:
            continue
        used_left.add(n)
        used_right.add(m)
        yield left[n], right[m]
    lost[:] = [each for n, each in enumerate(left) if n not in used_left]
    added[:] = [each for m, each in enumerate(right) if m not in used_right]


_NEAR = 100
"""So far an assertion may move among those that changed: all with all would take minutes for thousands."""

_SAME = 0.55
"""From this share of common tokens on, two assertions look at the same thing."""


def _alike(was: Assertion, now: Assertion) -> float:
    if was.text == now.text:
        return 1.0
    size = len(was.subject)
    inside = size and any(now.subject[n : n + size] == was.subject for n in range(len(now.subject) - size + 1))
    subjects = alike(was.subject, now.subject) if was.subject and now.subject else 0.0
    return max(_SAME if inside else 0.0, subjects, alike(was.text, now.text))


def _weaker(was: Assertion, now: Assertion, case: Case, *, same: bool) -> Iterator[Weakening]:
    """How one assertion became weaker; `same`: the rest of its test is what it was."""
    about = words((*was.text, *now.text))
    place = (case.path, now.line, case.name)
    if not was.effect:
        return
    if now.idle:
        yield Weakening(Rule.IDLE, *place, f"{_called(case)} cannot fail here any more: {now.idle}", about)
    elif now.strength < was.strength:
        message = f"{_called(case)} asks for less: `{_text(was.text)}` became `{_text(now.text)}`"
        yield Weakening(Rule.WEAKER, *place, message, about)
    elif was.strength is Strength.EXACT and _coarser(was, now):
        message = f"{_called(case)} looks at less: `{_text(was.subject)}` became `{_text(now.subject)}`"
        yield Weakening(Rule.WEAKER, *place, message, about)
    elif (now.tolerance or 0.0) > (was.tolerance or 0.0) and was.tolerance is not None:
        message = f"{_called(case)} lets a larger difference pass: {was.tolerance:g} became {now.tolerance:g}"
        yield Weakening(Rule.WEAKER, *place, message, about)
    elif (
        was.expected != now.expected
        and is_literal(was.expected)
        and is_literal(now.expected)
        and _same_subject(was, now)
    ):
        message = f"{_called(case)} expects another value: `{_text(was.expected)}` became `{_text(now.expected)}`"
        values = was.expected, now.expected
        yield Weakening(Rule.EXPECTED if same else Rule.REWRITTEN, *place, message, about, values=values)


_LOSSY = frozenset(
    {"round", "int", "len", "bool", "abs", "set", "type", "typeof", "length", "floor", "ceil", "trunc", "size"}
)
"""What makes one value of many."""


_LENGTHS = frozenset({"len", "havelen", "hassize", "lengthof", "havelength"})


def _coarser(was: Assertion, now: Assertion) -> bool:
    """Whether something was put around what is looked at that makes values equal which were not."""
    added = Counter(now.subject) - Counter(was.subject)
    if any(each.lower() in _LENGTHS for each in was.text[:4]):
        return False  # it never looked at more
    return bool(was.subject) and not Counter(was.subject) - Counter(now.subject) and bool(_LOSSY & added.keys())


def _same_subject(was: Assertion, now: Assertion) -> bool:
    return was.subject == now.subject


def _fewer(lost: list[Assertion], added: Sequence[Assertion], old: Case, new: Case, pool: Pool) -> Iterator[Weakening]:
    """Assertions that are gone, unless others took their place: as many, one that holds all of it, a helper."""
    strong = [each for each in added if each.effect]
    if _worth(strong) + 1 >= _worth(lost) or _called_helper(new, old, pool):
        return
    union = Counter(token for each in strong for token in each.text) + Counter(
        token for row in (Counter(new.rows) - Counter(old.rows)) for token in row
    )
    missing = [each for each in lost if not _held(each, union)]
    if not missing or len(missing) <= len(strong):
        return
    current = {each.text for each in new.assertions if each.effect}
    again = all(each.text in current for each in missing)
    if (strong or again) and old.text and alike(_without(old), _without(new)) < _REARRANGED:
        message = f"{_called(new)} was rewritten, and asserts other things: `{_text(missing[0].text)}` is gone"
        yield Weakening(Rule.REWRITTEN, new.path, new.line, new.name, message, words(missing[0].text))
        return
    every = not any(each.effect for each in new.assertions)
    rest = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    message = (
        f"{_called(new)} asserts {'nothing any more' if every else 'less'}: `{_text(missing[0].text)}`{rest} is gone"
    )
    about = frozenset().union(*(words(each.text) for each in missing))
    same_place = words(old.text) - words(new.text)
    yield Weakening(Rule.ASSERTION, new.path, new.line, new.name, message, about, same_place)


_REARRANGED = 0.97
"""Below this share of common tokens beside its assertions, a test was rewritten, and its assertions with it."""


def _without(case: Case) -> Tokens:
    """A test without its assertions."""
    rest = Counter(case.text)
    rest.subtract(token for each in case.assertions for token in each.text)
    return tuple((+rest).elements())


def _arranged_alike(old: Case, new: Case) -> bool:
    """Whether what a test does is the same: another value that it passes in has another result."""
    values = [Counter(each for each in _without(side) if is_literal((each,))) for side in (old, new)]
    return values[0] == values[1] and alike(_without(old), _without(new)) >= _REARRANGED


def _held(each: Assertion, union: Counter[str]) -> bool:
    needed = [token for token in each.expected or each.subject if re.match(r"[\w\"'`]", token)]
    return bool(needed) and sum(union[token] > 0 for token in needed) >= len(needed) * MOST


def _worth(found: Sequence[Assertion]) -> int:
    return sum(each.effect for each in found)


def _called_helper(new: Case, old: Case, pool: Pool) -> bool:
    """Whether the test calls a function that asserts and that it did not call before."""
    return bool({name for name, _ in calls(new.text)} & pool.helpers - set(old.text))


def _rows(old: Case, new: Case) -> Iterator[Weakening]:
    if not old.rows:
        return
    removed, added = Counter(old.rows) - Counter(new.rows), Counter(new.rows) - Counter(old.rows)
    fewer = sum(removed.values()) - sum(added.values())
    about = frozenset().union(*(words(each) for each in removed)) | words(old.text)
    if fewer > 0 and (new.rows or "parametrize" in new.shell or "each" in new.shell):
        text = _text(next(iter(removed)))
        message = (
            f"{_called(new)} has {fewer} cases less: `{text}`" if fewer > 1 else f"{_called(new)} lost a case: `{text}`"
        )
        yield Weakening(Rule.ROWS, new.path, new.line, new.name, message, about)
    for was, now in zip(removed, added, strict=False):
        if (
            len(was) == len(now)
            and is_literal(was)
            and sum(a != b for a, b in zip(was, now, strict=True)) == 1
            and was[-2:] != now[-2:]
        ):
            message = f"{_called(new)} expects another value: `{_text(was)}` became `{_text(now)}`"
            yield Weakening(Rule.EXPECTED, new.path, new.line, new.name, message, about, values=(was, now))


def _mocked(old: Case, new: Case) -> Iterator[Weakening]:
    """What the test calls itself, and newly puts something else in the place of."""
    called = {name for name, _ in calls(old.text)} & {name for name, _ in calls(new.text)}
    before = set(_patched(old))
    for name in _patched(new):
        if name in called and name not in before:
            message = f"{_called(new)} puts something else in the place of `{name}`, which it tests"
            yield Weakening(Rule.MOCKED, new.path, new.line, new.name, message, frozenset({name}))


_PATCHES = frozenset({"patch", "object", "setattr", "spyOn", "stub", "replace", "doReturn", "when"})


def _patched(case: Case) -> Iterator[str]:
    for name, arguments in calls((*case.shell, *case.text)):
        if name in _PATCHES:
            found = [each for each in arguments[:8] if is_text(each)]
            yield from (each.strip("\"'`").rpartition(".")[2] for each in found[:1])


def _text(found: Tokens) -> str:
    text = re.sub(r" ?([(),.\[\]:]) ?", r"\1", " ".join(found)).replace(",", ", ")
    return text if len(text) <= _WIDE else f"{text[:_WIDE]}…"


_WIDE = 60
