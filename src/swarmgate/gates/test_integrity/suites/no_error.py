"""Recognises assertions that only say that no error occurred."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.test_integrity.suites.strength import ASSERTS
from swarmgate.gates.test_integrity.suites.tokens import calls

if TYPE_CHECKING:
    from swarmgate.gates.test_integrity.suites.model import Assertion, Case

_ERROR = re.compile(r"^(?:\w*(?:err|Err|error|Error)|ex|e)\d*$")
_NOTHING = frozenset({(), ("nil",), ("null",), ("undefined",), ("None",)})
_HANDS_ON = re.compile(r"\b(?:(?:done|next|callback|cb|reject) \( (\w+)|throw (\w+))")


def told_otherwise(lost: Assertion, old: Case, new: Case) -> bool:
    """Whether a test that lost a no-error assertion still fails on that error.

    It awaits what handed the error to a callback before, hands the error on to its runner, or (Go) calls what gives
    none any more. An error that is thrown away (`x, _ := f()`) is none of these.
    """
    name = lost.subject[-1] if lost.subject else ""
    if not _ERROR.match(name) or len(lost.subject) > 2 or lost.expected not in _NOTHING:  # noqa: PLR2004 - call, name
        return False
    if old.path.endswith(".go"):
        return _given_no_more(name, old, new)
    handed = [sum(name in each.groups() for each in _HANDS_ON.finditer(" ".join(side.text))) for side in (old, new)]
    if handed[1] > handed[0]:
        return True
    fewer = new.text.count(name) < old.text.count(name)
    return fewer and new.text.count("await") > old.text.count("await")


def _given_no_more(name: str, old: Case, new: Case) -> bool:
    """Whether all that the test called is called still, and the name of the error is bound less often."""
    called = [{each for each, _ in calls(side.text) if not ASSERTS.search(each)} for side in (old, new)]
    thrown = [side.text.count("_") for side in (old, new)]
    bound = [len(re.findall(rf"\b{re.escape(name)} :?= ", " ".join(side.text))) for side in (old, new)]
    return called[0] - _FAILING <= called[1] and thrown[1] <= thrown[0] and bound[1] < bound[0]


_FAILING = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "NoError", "Nil", "FailNow", "Fail"})
