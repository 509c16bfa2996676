"""Rates how strict an assertion is, by its comparison and by the names of test libraries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.gates.test_integrity.suites.model import Assertion, Strength
from swarmgate.gates.test_integrity.suites.tokens import (
    CONSTANTS,
    Tokens,
    bare,
    calls,
    closing,
    is_literal,
    is_number,
    is_text,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ASSERTS = re.compile(
    r"^_?(?:assert|expect|verify|ensure|must|should)(?![a-z])|^(?:assert|expect|verify)[a-z]*$|^(?:check)_|^check[A-Z]"
)
"""The names of functions that assert, in any library and in the project."""

_NAMES = tuple(
    (re.compile(pattern), strength)
    for strength, pattern in (
        (Strength.EXACT, r"snapshot|golden|approv|called(?:once)?with|calledtimes|returnedwith|hascalls|nthcalled"),
        (Strength.PRESENT, r"any.?thing|doesnotthrow|notthrow|doesnotraise|notpanics|noerror"),
        (
            Strength.PRESENT,
            r"not?(?:none|null|nil|undefined|falsy|empty)|defined|exist|truthy|falsy|(?:called|awaited)$",
        ),
        (Strength.PRESENT, r"^(?:assert|expect|is|to|be)*(?:true|false|ok|that|is|truthy|condition)?$(?<!tobe)"),
        (Strength.EXACT, r"null|none|nil$|undefined|empty|nan$"),
        (Strength.BOUND, r"not|assertne$|greater|less|above|below|atleast|atmost|instance|typeof"),
        (Strength.PART, r"contain|include|match|regex|startswith|endswith|subset|property|partial|in$"),
        (Strength.PART, r"raise|throw|panic|reject|warn"),
    )
)
"""What a name asks for, written together and in lower case: the first that fits. Any other asks for the value."""

_COMPARE: Mapping[str, Strength] = {
    "==": Strength.EXACT, "===": Strength.EXACT, "!=": Strength.BOUND, "!==": Strength.BOUND, "<": Strength.BOUND,
    ">": Strength.BOUND, "<=": Strength.BOUND, ">=": Strength.BOUND, "in": Strength.PART, "is": Strength.EXACT,
}  # fmt: skip
_RAISES = re.compile(r"raise|throw|panic|reject|^expecterror")
_ANY_ERROR = frozenset({"Exception", "BaseException", "Error", "Throwable", "RuntimeException"})
_ANYTHING = frozenset({"ANY", "anything", "any(", "Any(", "anyString", "anyInt", "AnythingOfType", "stringMatching"})
_EXPECTED_FIRST = frozenset({"java", "go", "rust"})
_TOLERANCE = frozenset({"abs", "rel", "delta", "rel_tol", "abs_tol", "atol", "rtol"})
_DIGITS = frozenset({"places", "decimal", "significant"})


class Call(NamedTuple):
    """A call of an assertion: its name, its receiver, and its arguments."""

    name: str
    receiver: Tokens
    arguments: tuple[Tokens, ...]
    line: int
    text: Tokens


def of_condition(found: Sequence[str], line: int, values: Mapping[str, Tokens]) -> Iterator[Assertion]:
    """The assertions of an asserted condition: one for each part joined by `and`."""
    inner = bare(found)
    whole = inner[:1] == ("(",) and inner[-1:] == (")",) and len(split(inner, "==", "in", "is")) == 1
    if whole and len(split(inner[1:-1], ",")) > 1:
        yield Assertion(line, inner, (), Strength.PRESENT, inner, "a tuple is always true")
        return
    for part in split(inner, "and", "&&"):
        yield _of_part(bare(part), line, values)


def _of_part(part: Tokens, line: int, values: Mapping[str, Tokens]) -> Assertion:
    either = split(part, "or", "||")
    if len(either) > 1:
        idle = "one of its parts is always true" if any(_always(bare(each)) for each in either) else ""
        return Assertion(line, part, (), Strength.BOUND, part, idle)
    negated = part[:1] in {("not",), ("!",)}
    if negated:
        part = bare(part[1:])
    for sign, strength in _COMPARE.items():
        sides = split(part, sign)
        if len(sides) == 2 and all(sides):  # noqa: PLR2004 - the two sides of a comparison
            return _compared(sides[0], sides[1], sign, strength, line, part, values, negated=negated)
    if part[:1] in {("isinstance",), ("hasattr",), ("issubclass",)}:
        return Assertion(line, part, (), Strength.BOUND, part)
    compared = _by_method(part)
    if compared and not negated:
        return _made(line, *compared, Strength.EXACT, part, values)
    inner = next(iter(calls(part)), ("", ()))
    if part and inner[0] == part[0] and inner[0] in {"len", "bool"} and len(part) == len(inner[1]) + 3:
        part = inner[1]
    always = _always(part) or (len(part) == 1 and values.get(part[0], ())[:1] == ("lambda",))
    return Assertion(line, part, (), Strength.PRESENT, part, "it is always true" if always and not negated else "")


_EQUAL = re.compile(r"(?:deep_?|content_?|is_?)?equals?(?:_to)?|array_equal|eq", re.IGNORECASE)
"""Functions that compare two values, whatever they are a method of."""


def _by_method(part: Tokens) -> tuple[Tokens, Tokens] | None:
    """The two sides of `a.equals(b)` or `bytes.Equal(a, b)`; None for another expression."""
    opening = next((n for n in range(1, len(part)) if part[n] == "(" and closing(part, n) == len(part) - 1), 0)
    if not opening or not _EQUAL.fullmatch(part[opening - 1]):
        return None
    arguments = split(part[opening + 1 : -1], ",")
    if len(arguments) == 2:  # noqa: PLR2004 - the two sides
        return arguments[0], arguments[1]
    receiver = part[: opening - 2]
    return (receiver, arguments[0]) if receiver and len(arguments) == 1 and arguments[0] else None


def _compared(
    left: Tokens,
    right: Tokens,
    sign: str,
    strength: Strength,
    line: int,
    text: Tokens,
    values: Mapping[str, Tokens],
    *,
    negated: bool,
) -> Assertion:
    if left[-1] == "not" or right[0] == "not":  # `not in`, `is not`
        left, right = tuple(e for e in left if e != "not"), tuple(e for e in right if e != "not")
        strength = Strength.PART if sign == "in" else Strength.BOUND
        if right == ("None",):
            strength = Strength.PRESENT
    if strength is Strength.BOUND and sign.startswith("!") and right[0] in {"None", "null", "nil", "undefined"}:
        strength = Strength.PRESENT
    if sign != "in" and _value(left, values) and not _value(right, values):
        left, right = right, left
    return _made(
        line, left, right, _negation(strength, negated), text, values, equal=sign in {"==", "===", "is", "<=", ">="}
    )


def _negation(strength: Strength, negated: bool) -> Strength:  # noqa: FBT001 - one of two
    return min(strength, Strength.BOUND) if negated and strength is Strength.EXACT else strength


def _value(found: Tokens, values: Mapping[str, Tokens]) -> bool:
    return (len(found) == 1 and (is_number(found[0]) or is_text(found[0]) or found[0] in CONSTANTS)) or (
        len(found) == 1 and found[0] in values and _value(values[found[0]], {})
    )


def _made(
    line: int,
    subject: Tokens,
    expected: Tokens,
    strength: Strength,
    text: Tokens,
    values: Mapping[str, Tokens],
    *,
    equal: bool = True,
    constants: bool = True,
) -> Assertion:
    """An assertion whose two sides are known: names of the test are replaced by what they stand for.

    `equal`: it holds where both sides are the same; `constants`: it holds, or does not, whatever the code does, where
    both are constants.
    """
    plain = values.get(expected[0], expected) if len(expected) == 1 else expected
    own = values.get(subject[0], subject) if len(subject) == 1 else subject
    idle = ""
    if equal and subject and (plain == subject or (plain == own and plain[:1] not in {("[",), ("{",), ("(",)})):
        idle = "it compares something with itself"
    elif constants and is_literal(subject) and is_literal(expected):
        idle = "it compares constants"
    if strength is Strength.EXACT and plain in {("True",), ("true",), ("False",), ("false",)}:
        strength = Strength.PRESENT
    if strength >= Strength.PART and _holds_anything(plain):
        strength = Strength.PRESENT if len(split(plain, ",")) == 1 and len(plain) < _SHORT else Strength.PART
    tolerance = _tolerance(plain)
    strength = _loosened(strength, tolerance, plain)
    return Assertion(line, subject, plain, strength, text, idle, tolerance)


def _loosened(strength: Strength, tolerance: float | None, expected: Tokens) -> Strength:
    """The strength of a comparison that lets so large a difference pass."""
    value = next((abs(_number(each) or 0.0) for each in expected if is_number(each)), 0.0)
    return min(strength, Strength.BOUND) if tolerance is not None and tolerance >= _COARSE * value > 0 else strength


def _with_tolerance(made: Assertion, tolerance: float | None) -> Assertion:
    if tolerance is None:
        return made
    strength = _loosened(made.strength, tolerance, made.expected)
    return Assertion(**{**vars(made), "tolerance": tolerance, "strength": strength})


_COARSE = 0.5
"""From this share of the value on, a tolerance is a bound and no comparison."""


def _holds_anything(plain: Tokens) -> bool:
    """Whether a part of what is expected stands for any value; `any` alone is a type of Go."""
    return any(
        each in _ANYTHING or (following == "(" and f"{each}(" in _ANYTHING)
        for each, following in zip(plain, (*plain[1:], ""), strict=False)
    )


_SHORT = 8
"""Tokens of `mock.ANY`, `expect.any(String)` and their like, where it stands for the whole value."""


_CALLBACKS = frozenset({("done",), ("cb",), ("next",), ("callback",)})


def of_call(call: Call, language: str, values: Mapping[str, Tokens]) -> Iterator[Assertion]:
    """The assertions of a call of a test library."""
    plain = call.name.rstrip("!").replace("_", "").lower().removeprefix("debug")
    demanded = next((strength for pattern, strength in _NAMES if pattern.search(plain)), Strength.EXACT)
    arguments = [each for each in call.arguments if each]
    if plain == "is" and len(arguments) > 1:
        demanded = Strength.EXACT  # of AVA and tape, beside `is(x)`
    if call.name == "expect" and call.receiver and arguments:  # of an answer: `request(app).get("/").expect(200)`
        arguments = [each for each in arguments if each not in _CALLBACKS] or arguments
        own = ("expect", *_joined(arguments))
        yield Assertion(call.line, ("expect", *_joined(arguments[:-1])), arguments[-1], Strength.EXACT, own)
        return
    subject, negated = _subject_of(call.receiver)
    if subject is not None:
        expected = _joined(arguments)
        strength = _raised(expected, demanded, plain) if _RAISES.search(plain) else demanded
        if negated:
            strength = (
                Strength.PRESENT if strength in {Strength.EXACT, Strength.PRESENT} and not expected else Strength.BOUND
            )
        close = arguments and "closeto" in plain
        made = _made(call.line, subject, arguments[0] if close else expected, strength, call.text, values)
        yield _with_tolerance(made, _last_tolerance(call.name, arguments[1:])) if close else made
        return
    if _RAISES.search(plain):
        yield Assertion(
            call.line, (call.name,), _joined(arguments), _raised(_joined(arguments), demanded, plain), call.text
        )
        return
    if demanded is Strength.PRESENT and arguments and plain.endswith(("true", "ok", "assert", "that", "condition")):
        second = language == "go" and arguments[0] == ("t",) and len(arguments) > 1
        yield from of_condition(arguments[1] if second else arguments[0], call.line, values)
        return
    yield _of_arguments(call, arguments, demanded, language, values)


def _of_arguments(
    call: Call, arguments: Sequence[Tokens], strength: Strength, language: str, values: Mapping[str, Tokens]
) -> Assertion:
    if language == "go" and arguments and len(arguments[0]) == 1 and arguments[0][0] in {"t", "tb", "b"}:
        arguments = arguments[1:]
    if call.receiver and not arguments:
        return Assertion(call.line, (*call.receiver, call.name), (), strength, call.text)
    if len(arguments) < 2:  # noqa: PLR2004 - a subject, and what is expected
        return Assertion(call.line, (call.name, *_joined(arguments)), (), strength, call.text)
    first, second, rest = arguments[0], arguments[1], arguments[2:]
    if (language in _EXPECTED_FIRST and (_value(first, values) or not _value(second, values))) or (
        _value(first, values) and not _value(second, values)
    ):
        first, second = second, first
    compares = bool(re.search(r"(?i)equal|eq$|eq!$|same|^is$", call.name))
    made = _made(call.line, first, second, strength, call.text, values, equal=compares, constants=compares)
    tolerance = _last_tolerance(call.name, rest)
    return _with_tolerance(made, tolerance)


def _subject_of(receiver: Tokens) -> tuple[Tokens | None, bool]:
    """What `expect(x).not.`, `assertThat(x).`, `x.should.` look at, and whether they are turned round."""
    negated = "not" in receiver[-3:] or "never" in receiver[-3:]
    for name in ("expect", "assertThat", "assert_that", "expectTypeOf"):
        if name in receiver:
            start = receiver.index(name)
            inner = next((inside for each, inside in calls(receiver[start:]) if each == name), ())
            return inner, negated
    if "should" in receiver:
        return receiver[: receiver.index("should")], negated
    return None, False


def _joined(arguments: Sequence[Tokens]) -> Tokens:
    return tuple(token for number, each in enumerate(arguments) for token in ((",",) if number else ()) + each)


def _raised(expected: Tokens, strength: Strength, name: str) -> Strength:
    """Of an expected error: its kind and its words are a certain one, the kind of all errors is hardly any."""
    parts = split(expected, ",")
    kind = parts[0] if parts else ()
    words = [each for each in parts if each and (is_text(each[0]) or each[0].startswith(("/", "r/")))]
    if "match" in expected or re.search(r"regex|match|message", name) or (words and not name.startswith("assert")):
        return Strength.EXACT
    if not kind or kind[-1] in _ANY_ERROR or kind[0] in _ANY_ERROR:
        return Strength.BOUND
    return min(strength, Strength.PART)


def _always(part: Tokens) -> bool:
    """Whether an expression is true whatever the code does."""
    if len(part) != 1:
        return False
    token = part[0]
    return token in {"True", "true"} or (is_number(token) and token.strip("0.") != "") or is_text(token)


def _tolerance(expected: Tokens) -> float | None:
    """The difference that `approx(x, abs=0.1)` lets pass."""
    for number, each in enumerate(expected[:-2]):
        if each in _TOLERANCE and expected[number + 1] == "=":
            return _number(expected[number + 2])
    return None


def _last_tolerance(name: str, rest: Sequence[Tokens]) -> float | None:
    for each in rest:
        if len(each) >= 3 and each[1] == "=" and each[0] in _TOLERANCE:  # noqa: PLR2004 - name, sign, value
            return _number(each[2])
        if len(each) >= 3 and each[1] == "=" and each[0] in _DIGITS:  # noqa: PLR2004 - the same
            return _digits(each[2])
    plain = "".join(rest[0]) if rest else ""
    if is_number(plain.removeprefix("-")):
        return _digits(plain) if re.search(r"(?i)almost|closeto", name) else _number(plain)
    return None


def _digits(text: str) -> float | None:
    value = _number(text)
    return None if value is None else 10.0**-value


def _number(text: str) -> float | None:
    try:
        return float(text.rstrip("fFdD").replace("_", ""))
    except ValueError:
        return None
