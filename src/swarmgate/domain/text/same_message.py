"""Decides when two messages are the same: across tasks with other names and numbers, and across attempts."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"`[^`]*`|(?<!\w)'[^']*'(?!\w)|(?<!\w)\"[^\"]*\"(?!\w)")
_PROSE = re.compile(r"[a-z]+ [a-z]+ [a-z]+", re.IGNORECASE)
"""Three words in quotes are no name: they are what is said."""
_WORD = re.compile(r"[^\W_]+")
# A path has an extension, or begins like one, or has two slashes: `and/or` has none of it.
_PATH = re.compile(
    r"(?<![\w/])(?:(?:\.{1,2}|~)?(?:/[\w.@+-]+)+/?|(?:[\w.@+-]+/)+[\w@+-]+\.\w+|(?:[\w.@+-]+/){2,}[\w.@+-]*)(?::\d+|::[\w\[\]-]+)*"
)
_HEX = re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b", re.IGNORECASE)
_DOTTED = re.compile(r"\b(?!e\.g\b|i\.e\b)[a-z_]\w*(?:\.\w+)+(?:\(\))?(?::\d+)*|\b\w*[a-z]\w*\(\)", re.IGNORECASE)
_UNDERSCORED = re.compile(r"\b\w*[a-z0-9]_\w+\b|\b_+[a-z]\w*\b", re.IGNORECASE)
# Not the number of a rule: F401, CWE-78 and A03 mean something else each.
_NUMBER = re.compile(r"(?<!\w)(?<!\w-)[-+]?\d[\d.,:]*(?<![.,:])(?:\s?(?:ms|s|min|kb|mb|%)(?!\w))?")
_ARTICLE = re.compile(r"\b(?:an?|the)\s+", re.IGNORECASE)
_RUN = re.compile(r"\bX(?:(?:,\s*(?:and |or )?|\s+(?:and |or |& )?)X\b)+")

_DURATION = re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|secs|seconds?|µs|us)\b")
_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/folders|var/tmp)/\S+")
_LINE_NUMBER = re.compile(r"(?<=[\w)]):\d+(?::\d+)?\b|\bline \d+\b")
# What test runners print of a failure: pytest, unittest, jest, node, go, cargo, rspec, phpunit, junit.
_TELLING = re.compile(
    r"^E\s|error\b|exception\b|\bassert|\bexpect(?:ed|s)?\b|\bactual\b|\breceived\b|\bpanicked\b|\bgot\b|^\s*FAILED\b"
    r"|^--- FAIL|\b(?:left|right):",
    re.IGNORECASE,
)


def normalised(message: str) -> str:
    """A message without what differs from task to task, where enough of it is left to compare; else as it is.

    Two messages of which a single word is left besides names may mean anything: `a() leaks`, `b.c leaks`.
    """
    without = masked(message)
    telling = [word for word in _WORD.findall(without) if word not in ("X", "N")]
    return without if len(telling) > 1 else steady(message).rstrip(" .;:!").lower()


def masked(message: str) -> str:
    """A message without quoted names, paths, dotted and underscored names, numbers.

    What tells rules apart stays: words, their order, and numbers that belong to a name (`F401`, `CWE-78`).
    """
    names = _QUOTED.sub(lambda match: match[0] if _PROSE.search(match[0]) else "X", message)
    for pattern in (_PATH, _HEX, _DOTTED, _UNDERSCORED):
        names = pattern.sub("X", names)
    names = _RUN.sub("X", _ARTICLE.sub("", names))
    words = " ".join(_NUMBER.sub("N", names).split()).rstrip(" .;:!")
    return _WORD.sub(lambda match: match[0] if match[0] in ("X", "N") else match[0].lower(), words)


def steady(message: str) -> str:
    """A message without what differs from run to run: durations, addresses, temporary paths, line numbers.

    Values and names stay: `assert 3 == 4` after `assert 2 == 4` is another message, and may be progress.
    """
    masked = _TEMPORARY.sub("TMP", message)
    for pattern in (_DURATION, _HEX, _LINE_NUMBER):
        masked = pattern.sub("", masked)
    return " ".join(masked.split())


def failing_lines(output: str) -> frozenset[str]:
    """The lines of a test run's output that say what failed, steady; all its lines where none says so."""
    lines = [line for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)]
    return frozenset(steady(line) for line in telling or lines)
