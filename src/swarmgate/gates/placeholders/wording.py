"""Searches comments, docstrings and messages for phrases of unfinished work and for reasons of an empty body.

Three widths, because the same word weighs differently: `stub_wording` is sure in any comment; `hinted` is only asked
beside a body that does nothing of its own; `not_implemented` is asked of a message that is a body's whole content.
"""

from __future__ import annotations

from swarmgate.gates.placeholders import phrases


def marker(text: str) -> tuple[str, bool] | None:
    """The marker (TODO and its like) of one line of comment, and whether it names an issue; None without one."""
    found = phrases.MARKER.search(text) if any(word in text for word in phrases.MARKERS) else None
    if not found:
        return None
    word = next(group for group in found.groups() if group)
    return word.upper(), bool(phrases.REFERENCE.search(text, found.end(found.lastindex or 0)))


def may_mark(line: str) -> bool:
    """Whether a line holds the word of a marker: a cheap look."""
    return any(word in line for word in phrases.MARKERS)


def names_issue(text: str) -> bool:
    """Whether a text names an issue by its number or address."""
    return bool(phrases.REFERENCE.search(text))


def elided(text: str) -> bool:
    """Whether a line of comment stands for code that was left out."""
    lowered = text.lower()
    return any(word in lowered for word in phrases.ELIDED_WORDS) and bool(phrases.ELIDED.search(_unquoted(text)))


def stands_for_code(text: str) -> bool:
    """Whether a comment between lines of code stands for omitted code: three dots or `unchanged` alone."""
    return bool(phrases.DOTS.match(text) or phrases.SAME_ALONE.match(text))


def stub_wording(text: str) -> int:
    """Where a comment or paragraph says that this is not the real thing; -1 when it does not."""
    lowered = text.lower()
    if not any(word in lowered for word in phrases.STUB_WORDS):
        return -1
    found = phrases.STUB_WORDING.search(_unquoted(text))
    return found.start() if found else -1


def hinted(comment: str, doc: str) -> bool:
    """Whether the comments or the documentation of a function without work of its own call it unfinished."""
    return bool(
        marker(comment)
        or marker(doc)
        or phrases.HINTS.search(comment)
        or phrases.POSTPONED.search(comment)
        or phrases.DOC_HINTS.search(doc)
        or stub_wording(doc) >= 0
    )


def not_implemented(message: str) -> bool:
    """Whether a message says that something has not been done yet, and not that it is for others or impossible."""
    return bool(phrases.NOT_IMPLEMENTED.search(message)) and not (
        phrases.BY_DESIGN.search(message) and not phrases.SO_FAR.search(message)
    )


def by_design(message: str) -> bool:
    """Whether a message says why something is refused for good, or who has to implement it."""
    return bool(phrases.BY_DESIGN.search(message)) and not phrases.SO_FAR.search(message)


def intended(comment: str, doc: str) -> bool:
    """Whether a comment or the documentation gives a reason for an empty body; that it was easier is none."""
    if phrases.POSTPONED.search(comment):
        return False
    return bool(phrases.INTENDED.search(comment) or phrases.INTENDED_DOC.search(doc))


def refused(doc: str) -> bool:
    """Whether the documentation says that a function is for others to write, or refuses for good."""
    return bool(phrases.REFUSED_DOC.search(doc))


def no_op_name(name: str) -> bool:
    """Whether a function's or class's name says that it does nothing."""
    return bool(phrases.NO_OP_NAME.search(name))


def _unquoted(text: str) -> str:
    # Same length: places in it stay places in the text.
    return phrases.QUOTED.sub(lambda found: '"' + "_" * (len(found[0]) - 2) + '"', text)
