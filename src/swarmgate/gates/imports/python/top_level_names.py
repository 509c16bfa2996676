"""Checks whether a top-level module name is provided by the standard library or by an installed dependency.

Without the project's environment only names can be compared, and a distribution may bring any import name. What the
tables do not settle is settled by likeness: `import foo_bar` is excused by `foo-bar`, `python-foo-bar`, `acme-foo-bar`.
"""

from __future__ import annotations

import difflib
import re
import sys
from enum import Enum
from typing import TYPE_CHECKING

from swarmgate.gates.imports.python import known_packages, stdlib
from swarmgate.gates.sbom.model import normal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_AFFIX = re.compile(r"^(?:python\d?-|py|lib|django-|flask-|types-|pytest-)|(?:-python\d?|-py\d?|py|-lib|-client|-sdk)$")
_LETTERS = re.compile(r"[^a-z0-9]")


class Origin(Enum):
    """The origin of a top-level name."""

    STANDARD = "standard library"
    DECLARED = "declared"
    KNOWN = "known"
    """A package that we know, and that the project declares nowhere."""
    OLD = "Python 2"
    REMOVED = "removed"
    UNKNOWN = "unknown"


def standard(name: str, python: tuple[int, int] | None) -> Origin | None:
    """Whether a name is of the standard library of the versions that the project supports; None if it never was.

    Args:
        name: a top-level import.
        python: the lowest version that the project supports, where it says so.
    """
    removed = known_packages.removed().get(name)
    if removed is not None and python is not None and python >= removed:
        return Origin.REMOVED
    if removed is not None or name in sys.stdlib_module_names or stdlib.is_module(name):
        return Origin.STANDARD
    if name in known_packages.python_2() and name not in known_packages.providers():
        return Origin.OLD
    return Origin.STANDARD if name in {"_typeshed", "_colorize", "__main__", "__mp_main__", "__future__"} else None


def declared(name: str, distributions: Collection[str]) -> bool:
    """Whether one of the (normalised) distributions brings this name, or may well do so."""
    if not distributions:
        return False
    if known_packages.providers().get(name, frozenset()) & set(distributions):
        return True
    if any(name in known_packages.brings().get(each, ()) for each in distributions):
        return True
    return any(_alike(name, each) for each in distributions)


def is_known(name: str) -> bool:
    """Whether it is the name of a package of our tables."""
    return name in known_packages.providers() or normal("pypi", name) in known_packages.distributions()


def nearest(name: str, others: Iterable[str]) -> str:
    """The name that was likely meant; empty when none is near."""
    lower = {each.lower(): each for each in sorted({*others, *known_packages.providers()}) if not each.startswith("_")}
    found = difflib.get_close_matches(name.lower(), [each for each in lower if each != name.lower()], n=1, cutoff=0.75)
    return lower[found[0]] if found else ""


def is_slip(name: str, meant: str) -> bool:
    """Whether two names differ by one typing error: a letter added, dropped, wrong or swapped."""
    if min(len(name), len(meant)) < 5:  # noqa: PLR2004 - short names are near to everything
        return False
    a, b = name.lower(), meant.lower()
    if len(a) == len(b):
        wrong = [n for n in range(len(a)) if a[n] != b[n]]
        swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and a[wrong[0]] == b[wrong[1]]  # noqa: PLR2004 - a pair
        return len(wrong) == 1 or (swapped and a[wrong[1]] == b[wrong[0]])
    long, short = (a, b) if len(a) > len(b) else (b, a)
    return len(long) == len(short) + 1 and any(long[:n] + long[n + 1 :] == short for n in range(len(long)))


def _alike(name: str, distribution: str) -> bool:
    """Whether a distribution's name suggests this import name."""
    own, other = normal("pypi", name.strip("_")), distribution
    plain, bare = _LETTERS.sub("", own), _LETTERS.sub("", other)
    if not plain:
        return False
    if plain == bare or plain in {
        _LETTERS.sub("", _AFFIX.sub("", other)),
        _LETTERS.sub("", _AFFIX.sub("", other, count=1)),
    }:
        return True
    parts, all_parts = own.split("-"), other.split("-")
    runs = ("".join(all_parts[n:m]) for n in range(len(all_parts)) for m in range(n + 1, len(all_parts) + 1))
    if set(parts) <= set(all_parts) or plain in runs:
        return True
    # xgboost-cpu, phonenumberslite: what comes after is a flavour. beautifulsoup4, jinja3: a number.
    return bare.rstrip("0123456789") == plain or (len(plain) > 5 and bare.startswith(plain))  # noqa: PLR2004 - a word
